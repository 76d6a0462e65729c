"""The door to the layers of a collection: five operations on views (ScholarStack, table 2), and what goes with them.

Every operation makes a new view and changes none; which objects it returned is logged. What does not belong here: how each is done, which
the file of its name knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scholarlake.errors import NotFound
from scholarlake.knowledge.layer import accesses, expanding, keeping
from scholarlake.knowledge.layer.accesses import Reader
from scholarlake.knowledge.layer.comparing import Comparison, compared
from scholarlake.knowledge.layer.contents import KINDS, LAYERS
from scholarlake.knowledge.layer.items import AnyItem, FactItem, layer_of, place_of
from scholarlake.knowledge.layer.keeping import Kept
from scholarlake.knowledge.layer.overlay import KINDS as TASK_KINDS
from scholarlake.knowledge.layer.reader import Within
from scholarlake.knowledge.layer.register import LIVE
from scholarlake.knowledge.layer.retrieving import ranked
from scholarlake.knowledge.layer.selecting import Constraints, selected
from scholarlake.knowledge.layer.store import Store
from scholarlake.knowledge.layer.synthesizing import ROLE, Candidate, candidate
from scholarlake.knowledge.layer.view import BadRequest, Request, View
from scholarlake.models.answers import embed_query
from scholarlake.models.chat import Tags

if TYPE_CHECKING:
    from scholarlake.models.config import ModelsFile

MAX_K = 1_000
MAX_QUERY = 4_000
MAX_SELECTED = 1_000
ALL_KINDS = (*KINDS, *(kind for kind in TASK_KINDS if kind not in KINDS))
"""Kinds of objects that can be retrieved: those of a build, then those that tasks make."""


class Knowledge:
    """The layers of one collection in one release, for one reader. Safe to use from several threads; closed with the release."""

    def __init__(self, store: Store, reader: Reader, models: ModelsFile | None = None) -> None:
        self._store = store
        self._reader = reader
        self._models = models

    def __repr__(self) -> str:
        return f"<knowledge of {self.collection} in {self._store.reader.release.name}>"

    @property
    def collection(self) -> str:
        return self._store.collection

    @property
    def categories(self) -> tuple[Mapping[str, Any], ...]:
        """The taxonomy: rows of `taxonomies`, in its order."""
        return tuple(self._store.index.categories.values())

    @property
    def counts(self) -> dict[str, int]:
        """How many objects of each kind the release has."""
        return {kind: int(self._store.index.facts[kind]) for kind in KINDS}

    @property
    def papers(self) -> tuple[str, ...]:
        """Ids of the collection's papers, sorted."""
        return tuple(sorted(self._store.index.papers))

    # -- the five operations -------------------------------------------------------------------------------------

    def retrieve(
        self,
        query: str,
        k: int = 10,
        *,
        kinds: Sequence[str] = (),
        layers: Sequence[int] = (),
        papers: Sequence[str] = (),
    ) -> View:
        """The k objects that fit a query best, by meaning and by words together.

        kinds, layers: only of these (layer 0 is sentences); where neither is given, sentences that a fact of the view cites give way to
        it. papers: only about these, by id, merged id or title. What was superseded or retracted since the release is left out.

        Raises BadRequest where that can't be asked, NotFound for a paper that is not there.
        """
        _require_query(query)
        if not 1 <= k <= MAX_K:
            raise BadRequest(f"there is no view of {k} objects; ask for 1 to {MAX_K:,}")
        within = Within(_kinds(kinds, layers), frozenset(self._papers(papers)) if papers else None)
        store = self._store
        vector = embed_query(store.embedder, query)
        best = ranked(store.index, store.overlay, query, vector, k + _SPARE, within)
        items = store.at([one.at for one in best])
        ordered = [items[one.at].because(", ".join(one.found_by), round(one.score, 6)) for one in best if one.at in items]
        found = _folded([item for item in ordered if item.standing.status in LIVE], k, fold=not kinds and not layers)
        given = {"query": query, "k": k, "kinds": list(kinds), "layers": list(layers), "papers": list(papers)}
        notes = [] if found else ["nothing was found: that says what this collection holds, not that there is no such work"]
        if found and not any("keyword" in why for item in found for why in item.why):
            notes = ["no object has a word of the query: what was found is near it by meaning alone"]
        return self._made(store.view(found, Request.of("retrieve", given), notes=notes), found)

    def select(self, view: View | None = None, **constraints: Any) -> View:
        """The objects of a view, or of the whole collection, that meet all constraints (`Constraints` names them).

        Of the whole collection, sentences are selected only where `kind` names them. Where nothing is left, a note says which constraint
        left nothing. Raises BadRequest for a constraint that nothing can meet, NotFound for a category, entity or paper that is not there.
        """
        wanted = Constraints.of(constraints)
        if view is None and not wanted.given():
            raise BadRequest(f"select by something: {', '.join(Constraints.model_fields)}")
        items = self._all(wanted.kind) if view is None else self._own(view).items
        found = selected(self._store, items, wanted)
        kept, notes = found.items, list(found.notes)
        if len(kept) > MAX_SELECTED:
            notes.append(f"capped: {MAX_SELECTED:,} of {len(kept):,} objects that meet the constraints")
            kept = kept[:MAX_SELECTED]
        kept = tuple(item.because("selected") for item in kept)
        return self._made(self._store.view(kept, Request.of("select", wanted.given()), after=view, notes=notes), kept)

    def expand(
        self, view: View, along: str, *, hops: int = 1, limit: int = 100, relations: Sequence[str] = (), direction: str = "both"
    ) -> View:
        """A view and, behind its objects, at most `limit` that lie along a way from them, the nearer first.

        along: evidence (sentences), basis, dependents, siblings (assignments to the same categories), entities, relations (of types and a
        direction), citing, cited (citations of its papers), neighbours (sentences beside), facts (all of its papers). What is left out is
        counted and told. Raises BadRequest, naming what there is.
        """
        step = expanding.step_of(along, relations, direction)
        found = expanding.expanded(self._store, self._own(view).items, step, hops, limit)
        given = {"along": along, "hops": hops, "limit": limit, "relations": list(relations), "direction": direction}
        notes = [] if found.items else [f"nothing lies along {along}"]
        if found.left_out:
            notes.append(f"capped: {len(found.items)} of {len(found.items) + found.left_out} objects along {along} were added")
        made = self._store.view([*view.items, *found.items], Request.of("expand", given), after=view, notes=notes)
        return self._made(made, found.items)

    def compare(self, view: View, dimensions: Sequence[str] = ()) -> Comparison:
        """The facts of a view side by side along dimensions: subject, type, kinds of conditions, metrics, dimensions of the taxonomy that
        compare; all that any of the facts says something along where none is named. Raises BadRequest where there is nothing to compare."""
        request = Request.of("compare", {"dimensions": list(dimensions)})
        made = compared(self._store, self._own(view), dimensions, request)
        self._log(request, [view[row.object_id] for row in made.rows])
        return made

    def synthesize(self, view: View, question: str | None = None) -> Candidate:
        """What the objects of a view say together: a candidate, not registered, whose claims cite them. By the model of the role
        synthesizer where one is bound, else by rules."""
        request = Request.of("synthesize", {"question": question})
        store, own = self._store, self._own(view)
        if self._models is None or not self._models.bindings(ROLE):
            made = candidate(store, own, question, None, request)
        else:
            from scholarlake.models.crew import Crew

            with Crew(self._models, store.reader.lake, Tags(stage := self._reader.stage, self.collection, stage)) as crew:
                made = candidate(store, own, question, crew.chat(ROLE), request)
        self._log(request, [view[one.object_id] for one in made.basis])
        return made

    # -- beside them ---------------------------------------------------------------------------------------------

    def facts_of(self, paper: str) -> View:
        """All facts of a paper of the collection, by id, merged id or title, in the order of its text."""
        (name,) = self._papers([paper])
        places = self._store.places(Within(("fact",), frozenset([name])))
        found = sorted((item for item in self._store.at(places).values() if isinstance(item, FactItem)), key=place_of)
        notes = [] if found else [f"no fact was found in {name}"]
        return self._made(self._store.view(found, Request.of("facts_of", {"paper": paper}), notes=notes), found)

    def get(self, ids: Iterable[str]) -> View:
        """Objects by their ids. Raises BadRequest for one that is not there, saying what became of it."""
        wanted = list(ids)
        found = self._store.required(wanted)
        return self._made(self._store.view(found, Request.of("get", {"ids": wanted})), found)

    def keep(self, view: View, name: str) -> Kept:
        """Keep a view, to be opened again by its name or id, on this release or a later one."""
        return keeping.keep(self._store, view, name, self._reader)

    def kept_views(self) -> list[Kept]:
        """The collection's kept views, the newest first."""
        return keeping.kept(self._store)

    def open_view(self, name: str) -> View:
        """A kept view as it was, its objects with the standing that they have now, and what changed since."""
        view = keeping.opened(self._store, name)
        return self._made(view, view.items)

    # -- what is common to them ----------------------------------------------------------------------------------

    def _made(self, view: View, returned: Sequence[AnyItem]) -> View:
        self._log(view.history[-1], returned)
        return view

    def _log(self, request: Request, items: Sequence[AnyItem]) -> None:
        reader = self._store.reader
        accesses.log(reader.lake, reader.release.name, self.collection, self._reader, request, items)

    def _own(self, view: View) -> View:
        if view.collection != self.collection:
            raise BadRequest(f"the view is of {view.collection}, not of {self.collection}: its objects are others")
        return view

    def _all(self, kinds: Sequence[str]) -> tuple[AnyItem, ...]:
        wanted = tuple(kinds) or tuple(kind for kind in ALL_KINDS if kind != "sentence")
        return tuple(self._store.at(self._store.places(Within(wanted))).values())

    def _papers(self, names: Sequence[str]) -> list[str]:
        """Ids of papers of the collection. Raises NotFound for one that is in it by no name."""
        found = []
        for name in names:
            paper = name if name in self._store.index.papers else self._store.reader.paper(name).paper_id
            if paper not in self._store.index.papers:
                raise NotFound(f"{paper} is no paper of {self.collection}: its layers are not there")
            found.append(paper)
        return found


_SPARE = 50  # objects that are ranked beyond what was asked for: some may have been superseded since the release


def _folded(items: Sequence[AnyItem], k: int, *, fold: bool) -> list[AnyItem]:
    """The first k items, without sentences that a fact among them was read off: beside it they say nothing."""
    chosen: list[AnyItem] = []
    sentences, cited = set[str](), set[str]()
    for item in items:
        if len(chosen) - len(sentences & cited) == k:
            break
        chosen.append(item)
        if fold and isinstance(item, FactItem):
            cited.update(item.evidence)
        elif item.kind == "sentence":
            sentences.add(item.object_id)
    return [item for item in chosen if item.object_id not in sentences & cited][:k]


def _require_query(query: str) -> None:
    if not query.strip():
        raise BadRequest("there is nothing to look for in an empty query; name some words")
    if len(query) > MAX_QUERY:
        raise BadRequest(f"a query has {MAX_QUERY:,} characters at most, this one has {len(query):,}; look for what matters in it")


def _kinds(kinds: Sequence[str], layers: Sequence[int]) -> tuple[str, ...]:
    """The kinds that are asked for. Raises BadRequest, naming those there are."""
    if unknown := [kind for kind in kinds if kind not in ALL_KINDS]:
        raise BadRequest(f"no kind {unknown[0]!r} of objects; there are: {', '.join(ALL_KINDS)}")
    if strange := [layer for layer in layers if layer not in (*LAYERS.values(), 3)]:
        raise BadRequest(f"no layer {strange[0]!r}; there are 0 (sentences), 1 (facts), 2 (organization) and 3 (syntheses)")
    chosen = tuple(kind for kind in ALL_KINDS if (not kinds or kind in kinds) and (not layers or layer_of(kind) in layers))
    if not chosen:
        raise BadRequest(f"no {' or '.join(kinds)} lies in layer {' or '.join(map(str, layers))}")
    return chosen
