"""Full texts of some generated papers, in the formats that publishers and tools write: what documents and sentences are made from.

Files are named and matched in every way: by DOI, by title, by id. One is of a paper that the corpus has not, one is no document.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

import orjson

from scholarlake.sample.records import Scribe
from scholarlake.sample.text import abstract_of

_PAPERS: Final = 24  # at most
_SECTIONS: Final = ("Introduction", "Materials and methods", "Results", "Discussion")
_LABELS: Final = ("BACKGROUND", "METHODS", "RESULTS")
_FIRST_DICE: Final = 64  # numbers of the dice that belong to a work's full text


def write_documents(folder: Path, scribe: Scribe) -> int:
    """Write the texts of up to two dozen ordinary papers of a dump. Returns the number of files. The same plan gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    works = _ordinary(scribe)
    files: dict[str, bytes] = {}
    labelled: dict[str, object] = {}
    for number, work in enumerate(works):
        match number % 4:
            case 0:
                files[f"jats/article-{number:02d}.xml"] = _jats(scribe, work).encode()
            case 1:
                files[f"jats/article-{number:02d}.xml.gz"] = gzip.compress(_jats(scribe, work).encode(), mtime=0)
            case 2:
                files[f"markdown/{number:02d}.md"] = _markdown(scribe, work).encode()
            case _:
                labelled[scribe.plan.ids[work]] = _labelled(scribe, work)
    files["abstracts.json"] = orjson.dumps(labelled, option=orjson.OPT_INDENT_2)
    files["markdown/elsewhere.md"] = b"# A paper that no dump of this sample holds\n\nIts text is read, and listed as not in the corpus.\n"
    files["notes.json"] = b'{"about": "no document"}\n'
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return len(files)


def _ordinary(scribe: Scribe) -> list[int]:
    """Works of one record, a DOI and an English title that no other work has, spread over the dump."""
    plan = scribe.plan
    fit = [
        work
        for work in range(plan.works)
        if not plan.kind[work] and work not in plan.alike and not plan.script[work] and plan.has_doi[work]
    ]
    step = max(1, len(fit) // _PAPERS)
    return fit[::step][:_PAPERS]


def _paragraphs(scribe: Scribe, work: int, section: int) -> list[str]:
    """Two paragraphs of a section, with what makes sentences hard to tell apart."""
    theme = scribe.theme(work)
    first, second = (abstract_of(theme, scribe.dice(work, _FIRST_DICE + 2 * section + place), short=False) for place in (0, 1))
    asides = (
        f"Smith et al. [1,2] and S. D. Jones (2009) reported the same, e.g. for {theme.problem}.",
        f"We followed ref. 3 with approx. 1.5 parts of {theme.method} at pH 7.4.",
        "Fig. 1 and Eq. (1) show this; cf. Table 1.",
        f"Is this peculiar to {theme.object}? We think not.[4]",
    )
    return [f"{first} {asides[section]}", second]


def _jats(scribe: Scribe, work: int) -> str:
    draft, theme = scribe.draft(work, 0), scribe.theme(work)
    names = [person["name"].split(" ") for person in draft.fields["authors"]]
    people = "".join(_PERSON.format(family=escape(name[-1]), given=escape(" ".join(name[:-1]))) for name in names)
    sections = []
    for place, heading in enumerate(_SECTIONS):
        paragraphs = [f"<p>{escape(text)}</p>" for text in _paragraphs(scribe, work, place)]
        paragraphs[0] = paragraphs[0].replace("[1,2]", '[<xref ref-type="bibr" rid="r1">1</xref>,<xref ref-type="bibr" rid="r2">2</xref>]')
        if heading == "Results":
            paragraphs.insert(1, _FLOATS.format(method=escape(theme.method), problem=escape(theme.problem)))
        sections.append(f"<sec><label>{place + 1}</label><title>{heading}</title>{''.join(paragraphs)}</sec>")
    abstract = escape(str(draft.fields["abstract"] or abstract_of(theme, scribe.dice(work, _FIRST_DICE - 1), short=True)))
    return _ARTICLE.format(
        doi=escape(str(draft.doi)),
        title=escape(str(draft.title)),
        people=people,
        year=scribe.year(work),
        abstract=abstract,
        body="\n".join(sections),
    )


_PERSON: Final = """<contrib contrib-type="author"><name><surname>{family}</surname><given-names>{given}</given-names></name></contrib>"""
_FLOATS: Final = """<p>The estimate is <inline-formula><tex-math>$\\hat{{x}} = 10^{{-3}}$</tex-math></inline-formula> at most,
that is 10<sup>-3</sup>, and
<disp-formula><label>(1)</label><tex-math>$$y = a + b x .$$</tex-math></disp-formula> where <italic>b</italic> is the slope.</p>
<fig><label>Figure 1</label><caption><title>Effect of {method}.</title><p>Bars are means. Whiskers are 95% intervals.</p></caption></fig>
<table-wrap><label>Table 1</label><caption><p>Outcomes for {problem}.</p></caption><table><tr><th>group</th><th>n</th></tr>
<tr><td>treated</td><td>1,204</td></tr></table></table-wrap>"""
_ARTICLE: Final = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.2 20190208//EN" "JATS-journalpublishing1.dtd">
<article article-type="research-article"><front><article-meta>
<article-id pub-id-type="doi">{doi}</article-id><title-group><article-title>{title}</article-title></title-group>
<contrib-group>{people}</contrib-group><pub-date><year>{year}</year></pub-date><abstract><p>{abstract}</p></abstract>
</article-meta></front>
<body>
{body}
</body>
<back><ack><p>We thank everybody.</p></ack>
<ref-list><ref id="r1"><mixed-citation>Smith. A work. 2001.</mixed-citation></ref></ref-list></back>
</article>
"""


def _markdown(scribe: Scribe, work: int) -> str:
    """As converters of arXiv's pages write it: no ids, so it is found by its title."""
    draft, theme = scribe.draft(work, 0), scribe.theme(work)
    authors = ", ".join(person["name"] for person in draft.fields["authors"])
    abstract = draft.fields["abstract"] or abstract_of(theme, scribe.dice(work, _FIRST_DICE - 1), short=True)
    parts = [f"# {draft.title}", authors, "## Abstract", abstract]
    for place, heading in enumerate(_SECTIONS):
        parts += [f"## {place + 1} {heading}", *_paragraphs(scribe, work, place)]
    parts += [
        "$$\ny = a + b x \\tag{1}\n$$",
        "- **First**, the slope $b$ is small.\n- Second, it is *stable*.",
        "| group | n |\n|---|---|\n| treated | 12 |",
    ]
    return "\n\n".join([*parts, "## References", "1. Smith. A work. 2001."]) + "\n"


def _labelled(scribe: Scribe, work: int) -> dict[str, object]:
    draft, theme = scribe.draft(work, 0), scribe.theme(work)
    contexts = [abstract_of(theme, scribe.dice(work, _FIRST_DICE + place), short=True) for place in range(len(_LABELS))]
    return {"QUESTION": draft.title, "CONTEXTS": contexts, "LABELS": list(_LABELS), "YEAR": str(scribe.year(work))}
