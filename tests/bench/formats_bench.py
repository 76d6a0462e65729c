"""How fast every format is read: generated papers and texts, spelled as each format spells them, through the path that the assets take.

    python -m tests.bench.formats_bench [--only NAME …] [--megabytes 32] [--rounds 3]

Dumps go through `inspect_part` and `ingest_part`, documents through `folder.look` and `build_sources`, both into a new lake, commits
included. Each is read by one reading process as `reading.workers` starts them, and what counts is that process's CPU time, all its threads
together: MB of uncompressed bytes by CPU seconds, times two cores. Wall time would say how busy the machine is. What a small dump or folder
takes (looking, commits) is subtracted and shown apart as fixed seconds: a hundred times as much takes no more of it. The best of the rounds
counts. Exits with 1 where a format misses its target or loses a unit.
"""

from __future__ import annotations

import argparse
import gzip
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from xml.sax.saxutils import escape

import orjson
import zstandard

from scholarlake import profile
from scholarlake.documents import folder
from scholarlake.documents.ingest import build_sources
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from scholarlake.sample import generate
from scholarlake.sources import pool
from scholarlake.sources.dumps import inspect_part, list_parts
from scholarlake.sources.files import folder_at
from scholarlake.sources.ingest import ingest_part
from tests.bench.library_path import PROFILES
from tests.unit.sources.spellings import SPELLINGS, Paper

CORES = 2
LINES_TARGET, TARGET = 100.0, 25.0  # MB/s by two cores: of OAG's JSON lines, and of every other format
SMALL = 8  # how many times less the small dump or folder holds
COMMIT = Commit("bench", "bench", {})


@dataclass(frozen=True)
class Case:
    """A format. write: the files that hold some papers, by name, each with its uncompressed size."""

    name: str
    target: float
    is_dump: bool
    write: Callable[[Sequence[Paper]], Iterator[tuple[str, bytes, int]]]


@dataclass(frozen=True)
class Measured:
    """One reading. megabytes: uncompressed; seconds: of CPU; units: records and rejects, or documents; lost: whether any was lost."""

    megabytes: float
    seconds: float
    units: int
    lost: bool


@dataclass(frozen=True)
class Speed:
    """What readings of a small and of a large dump tell. rate: MB/s by all cores; fixed: CPU seconds that both take."""

    large: Measured
    rate: float
    fixed: float
    lost: bool

    @classmethod
    def of(cls, small: Sequence[Measured], large: Sequence[Measured]) -> Speed:
        less, more = (min(found, key=lambda one: one.seconds) for found in (small, large))
        by_second = (more.megabytes - less.megabytes) / (more.seconds - less.seconds)
        fixed = max(0.0, more.seconds - more.megabytes / by_second)
        return cls(more, by_second * CORES, fixed, any(one.lost for one in (*small, *large)))


# -- dumps -----------------------------------------------------------------------------------------------------------


def _dump(spelling: str, pack: Callable[[bytes], bytes] = bytes) -> Callable[[Sequence[Paper]], Iterator[tuple[str, bytes, int]]]:
    def write(papers: Sequence[Paper]) -> Iterator[tuple[str, bytes, int]]:
        data = SPELLINGS[spelling].write(papers)
        yield "part.json", pack(data), len(data)

    return write


# -- documents -------------------------------------------------------------------------------------------------------

_ASIDES = (
    "Smith et al. [1,2] and S. D. Jones (2009) reported the same, e.g. for E. coli at pH 7.4 (Fig. 3 and Eq. (1)).",
    "We followed ref. 3 with approx. 1.5 parts of the mixture, cf. Table 1, and found none (P < 0.05; 95% CI 1.2–3.4).",
    "Is this peculiar to them? We think not.[4]",
    "The cells (“naïve” ones, i.e. those of group B) were kept at 37 °C for 72 h. The medium was not changed.",
)
_SECTIONS = ("Introduction", "Materials and methods", "Results", "Discussion")
_PAPERS_A_TEXT = 60  # abstracts that make the body of one article, some 40 kB


@dataclass(frozen=True)
class Article:
    """A full text: of each section its paragraphs."""

    number: int
    title: str
    doi: str
    abstract: str
    sections: dict[str, list[str]]


def _articles(papers: Sequence[Paper]) -> Iterator[Article]:
    """Full texts out of the abstracts of many papers. As in articles of PLOS, a sentence has some 150 characters, and one paragraph in
    three has what makes sentences hard to tell apart."""
    dice = random.Random(5)
    told = iter(papers)
    for number in range(len(papers) // _PAPERS_A_TEXT):
        first, *others = islice(told, _PAPERS_A_TEXT)
        paragraphs = [_prose(one["abstract"]) + (f" {dice.choice(_ASIDES)}" if dice.random() < 1 / 3 else "") for one in others]
        sections = {heading: paragraphs[place :: len(_SECTIONS)] for place, heading in enumerate(_SECTIONS)}
        yield Article(number, first["title"], f"10.1000/{number}", first["abstract"], sections)


def _prose(abstract: str) -> str:
    """An abstract with two sentences in one."""
    sentences = abstract.split(". ")
    return ". ".join("; ".join(sentences[place : place + 2]) for place in range(0, len(sentences), 2))


def _documents(name: str, spell: Callable[[Article], str]) -> Callable[[Sequence[Paper]], Iterator[tuple[str, bytes, int]]]:
    def write(papers: Sequence[Paper]) -> Iterator[tuple[str, bytes, int]]:
        for article in _articles(papers):
            data = spell(article).encode()
            yield name.format(article.number), data, len(data)

    return write


def _jats(article: Article) -> str:
    cited = '[<xref ref-type="bibr" rid="r1">1</xref>,<xref ref-type="bibr" rid="r2">2</xref>]'
    body = "".join(
        f"<sec><title>{heading}</title>"
        + "".join(f"<p>{escape(text).replace('[1,2]', cited).replace('E. coli', '<italic>E. coli</italic>')}</p>" for text in paragraphs)
        + "<p>That is <inline-formula><tex-math>$\\hat{x} = 10^{-3}$</tex-math></inline-formula> and 10<sup>-3</sup>.</p>"
        + "<disp-formula><label>(1)</label><tex-math>$$y = a + b x .$$</tex-math></disp-formula></sec>"
        for heading, paragraphs in article.sections.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>'
        f'<article-id pub-id-type="doi">{article.doi}</article-id>'
        f"<title-group><article-title>{escape(article.title)}</article-title></title-group>"
        f"<abstract><p>{escape(article.abstract)}</p></abstract></article-meta></front><body>{body}</body></article>"
    )


def _tei(article: Article) -> str:
    cited = '[<ref type="bibr" target="#b1">1</ref>,<ref type="bibr" target="#b2">2</ref>]'
    body = "".join(
        f'<div><head n="{number}">{heading}</head>'
        + "".join(f"<p>{escape(text).replace('[1,2]', cited)}</p>\n" for text in paragraphs)
        + "<formula>y = a + b x<label>(1)</label></formula></div>"
        for number, (heading, paragraphs) in enumerate(article.sections.items(), 1)
    )
    return (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>{escape(article.title)}</title></titleStmt>'
        f'<sourceDesc><biblStruct><idno type="DOI">{article.doi}</idno></biblStruct></sourceDesc></fileDesc>'
        f"<profileDesc><abstract><p>{escape(article.abstract)}</p></abstract></profileDesc></teiHeader>"
        f"<text><body>{body}</body></text></TEI>"
    )


def _s2orc(article: Article) -> str:
    body = [
        {"text": text, "section": heading, "cite_spans": [{"start": 12, "end": 15, "text": "[1]", "ref_id": "BIBREF0"}], "ref_spans": []}
        for heading, paragraphs in article.sections.items()
        for text in paragraphs
    ]
    abstract = [{"text": article.abstract, "section": "Abstract", "cite_spans": [], "ref_spans": []}]
    parse = {"abstract": abstract, "body_text": body, "ref_entries": {}}
    return orjson.dumps({"paper_id": str(article.number), "title": article.title, "doi": article.doi, "pdf_parse": parse}).decode()


def _markdown(article: Article) -> str:
    parts = [f"# {article.title}", f"doi: {article.doi}", "## Abstract", article.abstract]
    for number, (heading, paragraphs) in enumerate(article.sections.items(), 1):
        parts += [f"## {number} {heading}", *paragraphs, "$$\ny = a + b x\n$$", "- **First**, the slope $b$ is small.\n- It is *stable*."]
    return "\n\n".join(parts) + "\n"


def _text(article: Article) -> str:
    parts = [article.title, f"doi:{article.doi}", "Abstract", article.abstract]
    for number, (heading, paragraphs) in enumerate(article.sections.items(), 1):
        parts += [f"{number} {heading}", *(_wrapped(text) for text in paragraphs)]
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str) -> str:
    """Lines of some ninety characters, as PDFs give them."""
    words = text.split(" ")
    return "\n".join(" ".join(words[place : place + 14]) for place in range(0, len(words), 14))


_LABELS = ("BACKGROUND", "METHODS", "RESULTS")


def _pubmed(papers: Sequence[Paper]) -> Iterator[tuple[str, bytes, int]]:
    """One file of citations whose abstracts are in labelled parts."""
    entries = (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{paper["id"]}</PMID><Article><Journal><JournalIssue><PubDate>'
        f"<Year>{paper['year']}</Year></PubDate></JournalIssue></Journal><ArticleTitle>{escape(paper['title'])}</ArticleTitle><Abstract>"
        + "".join(f'<AbstractText Label="{label}">{escape(_prose(paper["abstract"]))}</AbstractText>' for label in _LABELS)
        + "</Abstract></Article></MedlineCitation></PubmedArticle>\n"
        for paper in papers
    )
    data = f"<PubmedArticleSet>{''.join(entries)}</PubmedArticleSet>".encode()
    yield "pubmed.xml", data, len(data)


def _labelled(papers: Sequence[Paper]) -> Iterator[tuple[str, bytes, int]]:
    data = orjson.dumps(
        {
            paper["id"]: {"QUESTION": paper["title"], "CONTEXTS": [_prose(paper["abstract"])] * len(_LABELS), "LABELS": list(_LABELS)}
            for paper in papers
        },
        option=orjson.OPT_INDENT_2,
    )
    yield "abstracts.json", data, len(data)


CASES = (
    Case("JSON lines", LINES_TARGET, True, _dump("OAG v3")),
    Case("JSON lines, gzip", LINES_TARGET, True, _dump("OAG v3", lambda data: gzip.compress(data, 6))),
    Case("JSON lines, zstd", LINES_TARGET, True, _dump("OAG v3", zstandard.ZstdCompressor(3).compress)),
    Case("one array", TARGET, True, _dump("DBLP V14")),
    Case("Mongo export, pretty", TARGET, True, _dump("DBLP V13")),
    Case("OAG v2", TARGET, True, _dump("OAG v2")),
    Case("DBLP V12", TARGET, True, _dump("DBLP V12")),
    Case("DBLP text", TARGET, True, _dump("DBLP V5 with CRLF")),
    Case("DBLP text in GBK", TARGET, True, _dump("DBLP in GBK")),
    Case("MAG JSON", TARGET, True, _dump("MAG")),
    Case("MAG table", TARGET, True, _dump("MAG's table")),
    Case("S2ORC metadata", TARGET, True, _dump("S2ORC")),
    Case("OpenAlex", TARGET, True, _dump("OpenAlex")),
    Case("publications", TARGET, True, _dump("publications")),
    Case("JATS", TARGET, False, _documents("article-{:05d}.xml", _jats)),
    Case("TEI", TARGET, False, _documents("article-{:05d}.tei.xml", _tei)),
    Case("S2ORC full text", TARGET, False, _documents("article-{:05d}.json", _s2orc)),
    Case("PubMed", TARGET, False, _pubmed),
    Case("labelled abstracts", TARGET, False, _labelled),
    Case("Markdown", TARGET, False, _documents("article-{:05d}.md", _markdown)),
    Case("plain text", TARGET, False, _documents("article-{:05d}.txt", _text)),
)


def papers_of(count: int) -> list[Paper]:
    """Generated papers as `spellings` takes them, their ids in digits as MAG has them."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), count, 1, 7, compression="none", faults=False)
        lines = [line for path in sorted(Path(folder, "dumps").rglob("*.json")) for line in path.read_bytes().splitlines()]
    numbers: dict[str, str] = {}

    def number(key: str) -> str:
        return numbers.setdefault(key, str(2_000_000_000 + 7 * len(numbers)))

    found = []
    for paper in map(orjson.loads, lines):
        if not paper.get("title") or not paper.get("abstract"):
            continue
        told = {
            name: paper.get(name) or ""
            for name in ("title", "abstract", "doi", "venue", "lang", "volume", "issue", "page_start", "page_end")
        }
        found.append(
            {
                **told,
                "id": number(paper["id"]),
                "year": paper.get("year"),
                "authors": [person["name"] for person in paper.get("authors", [])],
                "keywords": paper.get("keywords", []),
                "references": [number(key) for key in paper.get("references", [])],
                "n_citation": paper.get("n_citation", 0),
                "publisher": "A Publisher",
                "url": f"https://papers.example.org/{number(paper['id'])}",
            }
        )
    return found


def write(case: Case, papers: Sequence[Paper], most_bytes: int, into: Path) -> int:
    """Write so many bytes of a format, uncompressed; returns how many they are."""
    into.mkdir()
    probe = sum(size for _, _, size in case.write(papers[:600]))
    written = 0
    for name, data, size in case.write(papers[: max(24, 600 * most_bytes // probe)]):
        (into / name).write_bytes(data)
        written += size
    return written


def read_dump(source: Path, root: Path) -> Measured:
    """Read the one part of a dump into a new lake. Runs in a reading process."""
    settings = profile.load("oag", PROFILES)
    lake = Lake.create(root, settings.shards)
    reading = settings.reading.model_copy(update={"workers": 1})
    began = time.process_time()
    [file] = list_parts(folder_at(source))
    done = ingest_part(lake, inspect_part(file), reading, COMMIT)
    seconds = time.process_time() - began
    lost = done.rejects > 0 or done.lines != done.records or done.covered_bytes != done.uncompressed_bytes
    return Measured(done.uncompressed_bytes / 1e6, seconds, done.lines, lost)


def read_documents(source: Path, root: Path, size: int) -> Measured:
    """Read a folder of documents into a new lake. Runs in a reading process."""
    settings = profile.load("oag", PROFILES)
    lake = Lake.create(root, settings.shards)
    began = time.process_time()
    seen = folder.look(lake, source)
    report = build_sources(lake, source, seen.files, workers=1, max_bytes=settings.documents.max_bytes, run=COMMIT)
    return Measured(size / 1e6, time.process_time() - began, report.documents, report.unread > 0)


def measure(case: Case, papers: Sequence[Paper], most_bytes: int, rounds: int, work: Path) -> Speed:
    """Write a format, read it several times."""
    reader = pool.shared_pool(1)
    assert reader is not None
    found: list[list[Measured]] = []
    for size in (most_bytes // SMALL, most_bytes):
        source = work / f"source-{size}"
        written = write(case, papers, size, source)
        found.append([])
        for round_ in range(rounds):
            root = work / f"lake-{size}-{round_}"
            done = reader.submit(read_dump, source, root) if case.is_dump else reader.submit(read_documents, source, root, written)
            found[-1].append(done.result())
    return Speed.of(*found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="*", help="names of formats; all where none is given")
    parser.add_argument("--megabytes", type=int, default=32, help="of each format; JSON lines take twice as many")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    chosen = [case for case in CASES if not given.only or case.name in given.only]
    papers = papers_of(1200 * given.megabytes)
    failed = []
    print(f"{'':24}{'MB':>8}{'units':>10}{'CPU s':>8}{'fixed s':>8}{'MB/s':>8}{'target':>8}{'ratio':>8}")
    for case in chosen:
        with tempfile.TemporaryDirectory(prefix="formats-") as work:
            most = (given.megabytes << 20) * (2 if case.target == LINES_TARGET else 1)
            speed = measure(case, papers, most, given.rounds, Path(work))
        ratio, large = speed.rate / case.target, speed.large
        failed += [case.name] if ratio < 1 or speed.lost else []
        print(
            f"{case.name:24}{large.megabytes:>8.1f}{large.units:>10,}{large.seconds:>8.2f}{speed.fixed:>8.2f}{speed.rate:>8.1f}"
            f"{case.target:>8.0f}{ratio:>8.2f}" + (" lost" if speed.lost else ""),
            flush=True,
        )
    print(f"MB/s: by CPU time of one reading process, times {CORES} cores, beyond what is fixed; best of the rounds.")
    if failed:
        print(f"Below the target, or not whole: {', '.join(failed)}.")
    return 1 if failed else 0


if __name__ == "__main__":  # the reading processes import this module anew
    sys.exit(main())
