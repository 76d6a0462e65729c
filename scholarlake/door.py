"""The door to a release: `scholarlake.open(path)`, and what its reader can do.

A reader opens what a release pins, when it is first needed, once it has checked it against its checksums. It never looks
at working tables, so that a release made or a refresh begun meanwhile changes nothing for it. What does not belong here:
how an index is searched (`search.py`), how a graph is walked (`corpus/csr.py`), how results are shown (`terminal.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, overload

import polars as pl

from scholarlake.corpus import tombstones
from scholarlake.corpus.csr import Along, CitationGraph, Route, Walk
from scholarlake.errors import IndexDamaged, NotFound
from scholarlake.lake import artifacts, contracts, delta, releases
from scholarlake.lake.home import Lake
from scholarlake.search import ranking
from scholarlake.search.paper import Hit, Paper
from scholarlake.search.reader import SearchIndex, is_text
from scholarlake.search.text import terms_of

if TYPE_CHECKING:
    from scholarlake.dense.search import VectorSearch
    from scholarlake.knowledge.layer.knowledge import Knowledge
    from scholarlake.knowledge.layer.store import Store
    from scholarlake.models.config import ModelsFile
    from scholarlake.models.protocol import Embedder
    from scholarlake.toolbox.dispatch import Toolbox

Name = Literal["id or title", "id", "title"]
"""What a paper is named by: its id or that of a record merged into it, its title, or either, the id first."""
LIMIT = 100
"""Papers in one answer about the citation graph, unless asked for more."""
_SUGGESTED = 3
_T = TypeVar("_T")


@dataclass(frozen=True)
class Papers(Sequence[Paper]):
    """Papers out of the citation graph: the nearer first, then the most cited, then by id.

    total: how many there are. hops: for each paper, how many citations away it is. is_exact: whether total is all there are,
    or, where the walk grew too wide to be finished, only at least as many.
    """

    papers: tuple[Paper, ...]
    total: int
    hops: tuple[int, ...] = ()
    is_exact: bool = True

    @property
    def is_capped(self) -> bool:
        """Whether there are more than these."""
        return self.total > len(self.papers)

    def __len__(self) -> int:
        return len(self.papers)

    @overload
    def __getitem__(self, place: int) -> Paper: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Paper]: ...
    def __getitem__(self, place: int | slice) -> Paper | Sequence[Paper]:
        return self.papers[place]

    def __iter__(self) -> Iterator[Paper]:
        return iter(self.papers)

    def to_dict(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "is_capped": self.is_capped,
            "is_exact": self.is_exact,
            "hops": list(self.hops),
            "papers": [paper.to_dict() for paper in self.papers],
        }


def open(path: str | Path, release: str = "latest") -> ReleaseReader:
    """Open a release of the lake at path. Raises LakeError where there is no lake, ReleaseError where there is no such release."""
    lake = Lake.open(Path(path))
    return ReleaseReader(lake, releases.load(lake, release))


class ReleaseReader:
    """What a reader of one release can do. Close it, or use it in a `with`. Safe to use from several threads."""

    def __init__(self, lake: Lake, release: releases.Release) -> None:
        self.lake = lake
        self.release = release
        self._guard = threading.RLock()
        self._opened: dict[str, Any] = {}

    def __enter__(self) -> ReleaseReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<release {self.release.name} of {self.lake.root}>"

    def close(self) -> None:
        """Let go of the files. Whatever is asked for next opens them again."""
        with self._guard:
            for opened in self._opened.values():
                if hasattr(opened, "close"):
                    opened.close()
            self._opened.clear()

    # -- what is released ----------------------------------------------------------------------------------------

    @property
    def manifest(self) -> dict[str, Any]:
        """The release as plain values: tables with versions and rows, artifacts with digests, profile and embedder."""
        return asdict(self.release)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that the release pins."""
        return tuple(self.release.tables)

    def table(self, name: str) -> pl.LazyFrame:
        """A table at its pinned version; empty and typed where it did not exist yet. Raises NotFound for a name of none."""
        contract = contracts.table(name)
        pin = self.release.tables.get(name)
        if pin is None:
            return pl.LazyFrame(schema=contract.schema)
        return delta.scan_path(self.lake.root / pin.path, contract, pin.version)

    def changes(self) -> pl.LazyFrame:
        """What changed since the release before, as `release_diff` listed it; empty where there is none, or not yet."""
        return self.lake.scan("release_changes").filter(pl.col("release") == self.release.name)

    # -- papers --------------------------------------------------------------------------------------------------

    def paper(self, name: str, by: Name = "id or title") -> Paper:
        """A paper by its id, by the id of a record merged into it, or by its title; of several papers of one title the most
        cited, which lists the others. Raises NotFound, saying what became of it, or naming what comes close."""
        rank = self._rank(name, by)
        return self._with_namesakes(self._index.papers([rank])[0])

    def papers(self, names: Iterable[str]) -> list[Paper]:
        """The same for several, in their order. Raises NotFound for the first that is none."""
        return [self._with_namesakes(paper) for paper in self._index.papers([self._rank(name) for name in names])]

    def known_papers(self, ids: Iterable[str]) -> list[Paper]:
        """The papers of some ids, merged ones too; those that the release does not have are left out."""
        return self._index.papers(list(dict.fromkeys(self._index.ranks(ids).values())))

    def tombstone(self, paper_id: str) -> tombstones.Tombstone | None:
        """What became of a paper that is gone: merged into another, or removed. None for one that is there or never was."""
        return tombstones.find(self.table("tombstones"), self.lake.shard_of(paper_id), paper_id) if is_text(paper_id) else None

    def _rank(self, name: str, by: Name = "id or title") -> int:
        rank = self._index.rank(name) if by != "title" else None
        if rank is not None:
            return rank
        titled = self._index.titled(name) if by != "id" else []
        if titled:
            return titled[0]
        if gone := self.tombstone(name):
            raise NotFound(f"no paper {_quoted(name)} in {self.release.name}: it {gone.said}")
        raise NotFound(f"no paper {_quoted(name)} in {self.release.name}{self._suggestions(name)}")

    def _suggestions(self, name: str) -> str:
        near = ranking.relevant(self._index, terms_of(name), _SUGGESTED)
        if not near:
            return "; name an id, a merged id or an exact title, or `scholarlake search` for it"
        return "; close are: " + ", ".join(f"{_quoted(hit.paper.title or '')} ({hit.paper.paper_id})" for hit in near)

    def _with_namesakes(self, paper: Paper) -> Paper:
        others = [rank for rank in self._index.titled(paper.title) if rank != paper.rank] if paper.title else []
        if not others:
            return paper
        ids = self._index.paper_ids(others)
        return replace(paper, same_title=tuple(ids[rank] for rank in others))

    # -- search --------------------------------------------------------------------------------------------------

    def search(self, query: str, k: int = 10, mode: str = "dense") -> list[Hit]:
        """The k best papers for a text: by meaning ("dense"), by keywords in the order of citations ("keyword") or of relevance
        ("relevance"), or by meaning and keywords together ("fused").

        Raises NotFound where nothing is asked for: an empty list would say that there is nothing.
        """
        _require_some(k)
        if not query.strip():
            raise NotFound("an empty query finds nothing; say in words what is looked for")
        return ranking.search(self._index, self._nearest, query, k, mode)

    def keywords(self, terms: Sequence[str] | str, k: int = 10) -> list[Hit]:
        """Papers with any of the terms in keywords or title, the most cited first. A term of several words is a phrase; one without a
        letter or digit has no hits. Raises NotFound where no term is given."""
        _require_some(k)
        if not terms:
            raise NotFound('no term to look for; give one or more, such as ["graph", "neural network"]')
        return ranking.keywords(self._index, [terms] if isinstance(terms, str) else list(terms), k)

    def _nearest(self, text: str, k: int) -> Sequence[tuple[int, float]]:
        return self._vectors.nearest(self.embedder, text, k)

    # -- citations -----------------------------------------------------------------------------------------------

    def references(self, name: str, limit: int | None = LIMIT) -> Papers:
        """What a paper cites; at most `limit` of them (None: all), and how many there are."""
        return self._walked(self._graph.references(self._id(name), limit))

    def citations(self, name: str, limit: int | None = LIMIT) -> Papers:
        """What cites a paper, the same way."""
        return self._walked(self._graph.citations(self._id(name), limit))

    def neighbours(self, name: str, hops: int = 1, limit: int | None = LIMIT, along: Along = "both", most: int | None = None) -> Papers:
        """Papers within so many citations of a paper, the same way: along its references, along what cites it, or either way.

        most: how many citations are followed before the total is a lower bound; tens of millions unless given.
        """
        if along not in get_args(Along) or hops < 1:  # a walk along nothing, or of no step, would say that there is nobody
            raise NotFound(f"no walk of {hops} steps along {along!r}; there are: one step or more along {', '.join(get_args(Along))}")
        return self._walked(self._graph.neighbours(self._id(name), hops, limit, along, most))

    def shortest_path(self, start: str, end: str, max_depth: int = 5) -> list[Paper]:
        """A shortest chain of papers from start to end, both in it, each citing the next; empty where none was found."""
        return self._by_id(self.route(start, end, max_depth).papers)

    def route(self, start: str, end: str, max_depth: int = 5) -> Route:
        """The same as ids, and whether the search could follow all there is to follow."""
        return self._graph.shortest_path(self._id(start), self._id(end), max_depth)

    def _id(self, name: str) -> str:
        rank = self._rank(name)
        return self._index.paper_ids([rank])[rank]

    def _by_id(self, ids: Sequence[str]) -> list[Paper]:
        ranks = self._index.ranks(ids)
        return self._index.papers([ranks[paper_id] for paper_id in ids])

    def _walked(self, walk: Walk) -> Papers:
        papers = self._by_id([found.paper_id for found in walk.papers])
        return Papers(tuple(papers), walk.total, tuple(found.hops for found in walk.papers), walk.exact)

    # -- knowledge -----------------------------------------------------------------------------------------------

    def knowledge(self, collection: str, *, chain: str = "", stage: str = "", models: ModelsFile | None = None) -> Knowledge:
        """The layers of a collection: views and the operations on them. chain, stage: who reads, for the log of accesses. models: what
        plays the role synthesizer; by default rules do.

        Raises NotFound, naming those there are, for a collection that the release does not have.
        """
        from scholarlake.knowledge.layer.accesses import Reader
        from scholarlake.knowledge.layer.knowledge import Knowledge

        return Knowledge(self._store(collection), Reader.named(chain, stage), models)

    @property
    def collections(self) -> tuple[str, ...]:
        """Names of the collections whose layers can be read."""
        return tuple(sorted(self._pins("knowledge_index")))

    def _store(self, collection: str) -> Store:
        if collection not in self.collections:
            there = ", ".join(self.collections) or "none; build the lake again"
            raise NotFound(f"no collection {_quoted(collection)} in {self.release.name}; there are: {there}")

        def opening() -> Store:
            from scholarlake.knowledge.layer.reader import KnowledgeIndex
            from scholarlake.knowledge.layer.store import Store

            folder = self._artifact("knowledge_index", collection)
            return Store(self, collection, KnowledgeIndex(folder, str(self.release.embedder.get("fingerprint"))))

        return self._open(f"knowledge_index of {collection}", opening)

    # -- tools ---------------------------------------------------------------------------------------------------

    def toolbox(self, models: ModelsFile | None = None) -> Toolbox:
        """The research tools for agents over this release. models: what plays the roles that tools ask; by default none does, and
        the deterministic methods are taken."""
        from scholarlake.toolbox.dispatch import Toolbox

        return Toolbox(self, models)

    # -- what is open --------------------------------------------------------------------------------------------

    @property
    def _index(self) -> SearchIndex:
        return self._open("search_index", lambda: SearchIndex(self._artifact("search_index")))

    @property
    def _vectors(self) -> VectorSearch:
        def opening() -> VectorSearch:
            from scholarlake.dense.search import VectorSearch  # FAISS, which only dense search needs

            shards = sorted(self._pins("vector_index"))
            # It verifies the files itself.
            folders = [self._artifact("vector_index", shard, verify=False) for shard in shards]
            return VectorSearch.open(folders, str(self.release.embedder.get("fingerprint")))

        return self._open("vector_index", opening)

    @property
    def embedder(self) -> Embedder:
        """What queries are embedded with: the model that the release was made with. Raises ModelError where it can't be had."""

        def opening() -> Embedder:
            from scholarlake.models.config import embedder_from_facts

            return embedder_from_facts(self.release.embedder)

        return self._open("embedder", opening)

    @property
    def _graph(self) -> CitationGraph:
        return self._open("citation_graph", lambda: CitationGraph.open(self._artifact("citation_graph")))

    def _open(self, what: str, opening: Callable[[], _T]) -> _T:
        """Open a thing once, whichever thread comes first."""
        with self._guard:
            if what not in self._opened:
                self._opened[what] = opening()
            return self._opened[what]  # type: ignore[no-any-return]

    def _artifact(self, asset: str, partition: str = artifacts.WHOLE, *, verify: bool = True) -> Path:
        """The folder of a pinned artifact, once its files have the checksums, and it the digest, that the release says."""
        pin = self._pins(asset).get(partition)
        if pin is None:
            raise NotFound(f"release {self.release.name} has no {asset} for {partition}; build the lake again")
        folder = self.lake.root / pin.path
        manifest = artifacts.open_artifact(folder, verify=verify)
        if manifest["digest"] != pin.digest:
            raise IndexDamaged(f"{folder} is not the {asset} that {self.release.name} pins; build it again")
        return folder

    def _pins(self, asset: str) -> Mapping[str, releases.PinnedArtifact]:
        return self.release.artifacts.get(asset, {})


def _require_some(k: int) -> None:
    if k < 1:
        raise NotFound(f"{k} papers can't be found; ask for one or more (k)")


def _quoted(text: str) -> str:
    plain = " ".join(str(text).encode("utf-8", "replace").decode().split())
    return repr(plain if len(plain) <= 80 else plain[:79] + "…")
