"""The seven tools that find papers and walk citations, on a reader of a release. Caps are SciLENS's (appendix B).

What does not belong here: how papers are found and walked (`door`, `search`, `corpus.csr`), what arguments may be (`arguments`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, get_args

from scholarlake.corpus.csr import Along
from scholarlake.errors import NotFound
from scholarlake.search.paper import Paper
from scholarlake.toolbox import answers, arguments
from scholarlake.toolbox.faults import ToolFault, shown

if TYPE_CHECKING:
    from scholarlake.door import Papers, ReleaseReader

MAX_SEMANTIC = 5
MAX_KEYWORD_HITS = 10
MAX_REFERENCES = 3_000
MAX_CITING = 50
MAX_NODES = 500
"""Papers of a walk, the one it begins with among them."""
MAX_FOLLOWED = 2_000_000
"""Citations that a walk follows before its total is a lower bound: a bound on its time."""

assert set(get_args(Along)) == set(arguments.DIRECTIONS)


def embedding_search(reader: ReleaseReader, asked: arguments.EmbeddingSearch) -> answers.Found:
    """Papers whose embeddings are nearest to a text."""
    hits = reader.search(asked.query, k=MAX_SEMANTIC, mode="dense")
    if not hits:
        raise ToolFault("nothing_found", "this release holds no embedded paper", "use KeywordSearch")
    return answers.Found(papers=[answers.found(hit.paper, hit.score) for hit in hits])


def keyword_search(reader: ReleaseReader, asked: arguments.KeywordSearch) -> answers.Found:
    """Papers with any of the terms in keywords or title, the most cited first."""
    hits = reader.keywords(asked.keywords, k=MAX_KEYWORD_HITS)
    if not hits:
        raise ToolFault(
            "nothing_found",
            f"no paper has any of {', '.join(shown(term) for term in asked.keywords[:8])} in its keywords or title",
            "use other or more general terms, one or two words each, or describe what you look for to EmbeddingSearch",
        )
    return answers.Found(papers=[answers.found(hit.paper, None) for hit in hits])


def paper_info(reader: ReleaseReader, asked: arguments.PaperInfo) -> answers.PaperPage:
    """All that is known of a paper."""
    return answers.page(_named(reader, asked.id, asked.title))


def reference_search(reader: ReleaseReader, asked: arguments.ReferenceSearch) -> answers.Listed:
    """What a paper cites."""
    paper = _named(reader, asked.id, asked.title)
    listed = reader.references(paper.paper_id, limit=MAX_REFERENCES)
    if not listed:
        outside = f"; {paper.unresolved_references:,} of its references lead outside it" if paper.unresolved_references else ""
        raise ToolFault("nothing_found", f"{_said(paper)} cites no paper of this release{outside}", "try GetInDegree: what cites it")
    return _listed(paper, listed)


def get_in_degree(reader: ReleaseReader, asked: arguments.GetInDegree) -> answers.Listed:
    """What cites a paper, and how many papers do."""
    paper = _named(reader, asked.id, asked.title)
    listed = reader.citations(paper.paper_id, limit=MAX_CITING)
    if not listed:
        raise ToolFault("nothing_found", f"no paper of this release cites {_said(paper)}", "try ReferenceSearch: what it cites")
    return _listed(paper, listed)


def get_khop(reader: ReleaseReader, asked: arguments.GetKhop) -> answers.Walked:
    """Papers within k citations of one."""
    paper = _named(reader, asked.id, asked.title)
    along = cast("Along", asked.direction or "references")
    walk = reader.neighbours(paper.paper_id, asked.k, MAX_NODES - 1, along, MAX_FOLLOWED)
    if not walk:
        what = {"references": "cites no paper", "citations": "is cited by no paper", "both": "neither cites nor is cited by any paper"}[
            along
        ]
        other = "another direction, or " if along != "both" else ""
        raise ToolFault("nothing_found", f"{_said(paper)} {what} of this release", f"try {other}EmbeddingSearch with its title")
    papers = [answers.away(one, hops) for one, hops in zip(walk, walk.hops, strict=True)]
    return answers.Walked(
        paper=answers.line(paper),
        direction=along,
        k=asked.k,
        total=walk.total,
        is_exact=walk.is_exact,
        is_capped=walk.is_capped,
        papers=papers,
    )


def shortest_path(reader: ReleaseReader, asked: arguments.ShortestPath) -> answers.Path:
    """A shortest chain of citations from one paper to another."""
    start, end = _named(reader, asked.start_id, asked.start_title), _named(reader, asked.end_id, asked.end_title)
    if start.paper_id == end.paper_id:
        raise ToolFault("same_paper", f"start and end are one paper: {_said(start)}", "name two different papers")
    depth = asked.max_depth or arguments.MAX_DEPTH
    route = reader.route(start.paper_id, end.paper_id, depth)
    if not route.papers:
        searched = "" if route.exact else " among the most cited papers of each layer, which was too wide to be followed whole"
        deeper = "" if depth == arguments.MAX_DEPTH else f", allow max_depth {arguments.MAX_DEPTH}"
        raise ToolFault(
            "no_path",
            f"no chain of at most {depth} citations leads from {_said(start)} to {_said(end)}{searched}",
            f"a path follows references, from the citing paper to the cited one: swap start and end{deeper}, or look for a paper between "
            "them with GetKhop",
        )
    return answers.Path(
        length=len(route.papers) - 1, is_exact=route.exact, papers=[answers.line(paper) for paper in reader.papers(route.papers)]
    )


def _named(reader: ReleaseReader, paper_id: str | None, title: str | None) -> Paper:
    """The paper of an id or a title. Raises ToolFault, saying what to try, where there is none."""
    try:
        return reader.paper(paper_id, "id") if paper_id is not None else reader.paper(str(title), "title")
    except NotFound as fault:
        other = _other_name(reader, paper_id, title)
        advice = other or "name a paper that a search gave, by its id; or look for it with KeywordSearch or EmbeddingSearch"
        raise ToolFault("not_found", str(fault), advice) from fault


def _other_name(reader: ReleaseReader, paper_id: str | None, title: str | None) -> str | None:
    """What to say to somebody who gave a title as an id, or an id as a title."""
    try:
        paper = reader.paper(paper_id, "title") if paper_id is not None else reader.paper(str(title), "id")
    except NotFound:
        return None
    given, wanted = ("a title", "title") if paper_id is not None else ("an id", "id")
    return f"this is {given}: pass it as `{wanted}`, or pass id {shown(paper.paper_id)}"


def _listed(paper: Paper, listed: Papers) -> answers.Listed:
    lines = [answers.line(one) for one in listed]
    return answers.Listed(paper=answers.line(paper), total=listed.total, is_capped=listed.is_capped, papers=lines)


def _said(paper: Paper) -> str:
    return f"{shown(paper.title)} ({paper.paper_id})" if paper.title else paper.paper_id
