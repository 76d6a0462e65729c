"""What the tools give: values that become JSON, with nothing in them that is not known.

What does not belong here: how they are found (`papers`, `summary`), and how a tool fails (`faults`).
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from scholarlake.search.paper import Paper

ABSTRACT_SHOWN = 500
"""Characters of an abstract in a list of papers; PaperInfo gives it whole."""
AUTHORS_SHOWN = 100
URLS_SHOWN = 10
IDS_SHOWN = 100


class Value(BaseModel):
    model_config = ConfigDict(frozen=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without what is not known."""
        return self.model_dump(mode="json", exclude_none=True)


class PaperLine(Value):
    """A paper in a list."""

    id: str
    title: str | None = None
    year: int | None = None
    venue: str | None = None
    citations: int = Field(description="papers of this release that cite it")
    withdrawn: str | None = Field(None, description="what says that it was withdrawn, where something does")
    version_of: str | None = Field(None, description="id of the published paper that this is a preprint of")


class PaperFound(PaperLine):
    """A paper that a search found."""

    authors: str | None = None
    abstract: str | None = Field(None, description="its beginning")
    score: float | None = Field(None, description="cosine similarity to the query")


class PaperAway(PaperLine):
    """A paper that a walk found."""

    hops: int = Field(description="how many citations away it is")


class Found(Value):
    """What a search found, the best first."""

    papers: list[PaperFound]


class Listed(Value):
    """Papers around one, the most cited first."""

    paper: PaperLine
    total: int = Field(description="how many there are")
    is_capped: bool = Field(description="whether there are more than are listed")
    papers: list[PaperLine]


class Walked(Value):
    """Papers within some citations of one: the nearer first, then the most cited."""

    paper: PaperLine
    direction: str
    k: int
    total: int = Field(description="how many there are, without the paper itself")
    is_exact: bool = Field(description="whether total is all there are; else there are at least so many")
    is_capped: bool = Field(description="whether there are more than are listed")
    papers: list[PaperAway]


class Path(Value):
    """A shortest chain of papers, each citing the next."""

    length: int = Field(description="citations from the first paper to the last")
    is_exact: bool = Field(description="false where a layer was too wide to be followed whole: a shorter path may have been missed")
    papers: list[PaperLine]


class Person(Value):
    name: str
    org: str | None = None


class PaperPage(PaperLine):
    """All that is known of a paper."""

    authors: list[Person]
    authors_total: int
    abstract: str | None = None
    keywords: list[str]
    doi: str | None = None
    doc_type: str | None = None
    language: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    publisher: str | None = None
    references: int = Field(description="papers of this release that it cites")
    references_outside: int = Field(description="its references that lead outside this release")
    is_core: bool
    merged_ids: list[str] = Field(description="ids of the other records that are this paper")
    same_title: list[str] = Field(description="ids of other papers of just this title")
    versions: list[str] = Field(description="ids of preprints of this paper")
    pdf: str | None = None
    urls: list[str]


class Placed(Value):
    """A chart that was found sound. The placeholder stands for it in the answer."""

    chart_id: str
    placeholder: str
    note: str


class Summary(Value):
    summary: str
    method: str = Field(description="what made it: a model, or extracted sentences")
    characters: int = Field(description="length of the text that was made short")


def line(paper: Paper) -> PaperLine:
    return PaperLine(**_line(paper))


def away(paper: Paper, hops: int) -> PaperAway:
    return PaperAway(**_line(paper), hops=hops)


def found(paper: Paper, score: float | None) -> PaperFound:
    named = [author.name for author in paper.authors if author.name]
    return PaperFound(
        **_line(paper),
        authors=", ".join(named[:3]) + (" et al." if len(named) > 3 else "") if named else None,
        abstract=_cut(paper.abstract),
        score=None if score is None else round(score, 4),
    )


def page(paper: Paper) -> PaperPage:
    named = [author for author in paper.authors if author.name]
    return PaperPage(
        **_line(paper),
        authors=[Person(name=str(author.name), org=author.org) for author in named[:AUTHORS_SHOWN]],
        authors_total=len(named),
        abstract=paper.abstract,
        keywords=list(paper.keywords),
        doi=paper.doi,
        doc_type=paper.doc_type,
        language=paper.lang,
        volume=paper.volume,
        issue=paper.issue,
        pages="–".join(page for page in (paper.page_start, paper.page_end) if page) or None,
        publisher=paper.publisher,
        references=paper.out_degree,
        references_outside=paper.unresolved_references,
        is_core=paper.is_core,
        merged_ids=[one for one in paper.record_ids if one != paper.paper_id][:IDS_SHOWN],
        same_title=list(paper.same_title[:IDS_SHOWN]),
        versions=list(paper.versions[:IDS_SHOWN]),
        pdf=paper.pdf,
        urls=list(paper.urls[:URLS_SHOWN]),
    )


def _line(paper: Paper) -> dict[str, Any]:
    withdrawn = None
    if paper.withdrawn:
        notice = f"the notice {paper.withdrawal_notice}" if paper.withdrawal_notice else "a notice"
        withdrawn = {"title": "its title", "doc_type": "its document type", "abstract": "its abstract"}.get(
            paper.withdrawn_by or "", notice
        )
    return {
        "id": paper.paper_id,
        "title": paper.title,
        "year": paper.year,
        "venue": paper.venue,
        "citations": paper.in_degree,
        "withdrawn": withdrawn,
        "version_of": paper.version_of,
    }


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= ABSTRACT_SHOWN:
        return text
    return text[:ABSTRACT_SHOWN].rsplit(" ", 1)[0] + " …"
