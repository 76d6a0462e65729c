"""`assignments`, `unclassified_facts` and `taxonomy_proposals` of a collection: what belongs where, what does not, and what that suggests.

What does not belong here: what decides (`classifying`, `sorting_by_model`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from scholarlake.knowledge.objects import Vote
from scholarlake.knowledge.organization.classifying import Assigned, Certainty, Object, Unclassified, assigned, unclassified
from scholarlake.knowledge.organization.lexicon import names
from scholarlake.knowledge.organization.material import Stated, by_paper, facts_of, titles_of
from scholarlake.knowledge.organization.sorting import wordings_of
from scholarlake.knowledge.organization.sorting_by_model import proposals, votes_on
from scholarlake.knowledge.organization.taxonomy import Taxonomy, slug, taxonomy_of
from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.models.chat_model import ChatModel

_LEAST_SHARE, _LEAST = 0.01, 3  # papers whose unclassified facts share a kind before it is proposed as a category
_EXAMPLES, _PROPOSALS = 5, 8


@dataclass(frozen=True)
class Models:
    """Who is asked, where anybody is. votes: of the verifier on each assignment."""

    organizer: ChatModel | None = None
    verifier: ChatModel | None = None
    votes: int = 3


@dataclass(frozen=True)
class AssignmentsReport:
    """What was made. classified: share of the pairs of a fact and a dimension that an assignment rests on."""

    by_dimension: Mapping[str, int]
    by_category: Mapping[str, int]
    by_certainty: Mapping[str, int]
    by_reason: Mapping[str, int]
    classified: float
    written: Mapping[str, delta.Written]

    @property
    def rows(self) -> int:
        return self.written["assignments"].rows


def build_assignments(lake: Lake, collection: str, run: delta.Commit, models: Models | None = None) -> AssignmentsReport:
    """Write what belongs to which category of a collection's taxonomy, and which facts belong to none."""
    models = models or Models()
    taxonomy = taxonomy_of(lake, collection)
    wordings = wordings_of(taxonomy)
    facts = facts_of(lake, collection)
    objects = [*_entities(lake, collection, facts), *_papers(lake, collection, facts)]
    found = list(assigned(objects, wordings))
    if models.organizer is not None:
        found = _joined(found, proposals(objects, wordings, models.organizer))
    criteria = {(d.name, c.name): c.criterion for d in taxonomy.dimensions for c in d.categories}
    votes = votes_on(found, criteria, models.verifier, models.votes) if models.verifier is not None else {}
    types: dict[str, set[str]] = defaultdict(set)
    for one in objects:
        for fact in one.facts:
            types[fact.fact_id].add(one.type or "")
    left = list(unclassified(facts, found, {name: frozenset(some) for name, some in types.items()}, wordings))
    rows = {
        "assignments": [_of_assigned(collection, taxonomy, one, votes.get(n, []), models.votes, run) for n, one in enumerate(found)],
        "unclassified_facts": [_of_left(collection, taxonomy, one, run) for one in left],
        "taxonomy_proposals": _proposals(collection, taxonomy, objects, left, run),
    }
    written = {
        name: delta.write_partition(lake, name, collection, pl.DataFrame(some, schema=contracts.table(name).schema), run)
        for name, some in rows.items()
    }
    pairs = len(facts) * len(wordings)
    return AssignmentsReport(
        by_dimension=_counted(one.dimension for one in found),
        by_category=_counted(one.category for one in found),
        by_certainty=_counted(row["certainty"] for row in rows["assignments"]),
        by_reason=_counted(f"{one.dimension}: {one.reason}" for one in left),
        classified=round(1 - len(left) / pairs, 4) if pairs else 0.0,
        written=written,
    )


# -- what is sorted ----------------------------------------------------------------------------------------------------


def _entities(lake: Lake, collection: str, facts: Sequence[Stated]) -> list[Object]:
    mine = pl.col("collection") == collection
    known = {fact.fact_id: fact for fact in facts}
    mentions: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for entity_id, fact_id, role in lake.scan("entity_mentions").filter(mine).select("entity_id", "fact_id", "role").collect().iter_rows():
        mentions[entity_id][fact_id].add(role)
    columns = ["entity_id", "name", "type", "keys", "aliases"]
    found = []
    for entity_id, name, type_, keys, aliases in lake.scan("entities").filter(mine).select(columns).collect().sort("entity_id").iter_rows():
        own = mentions[entity_id]
        subjects = frozenset(fact_id for fact_id, roles in own.items() if "subject" in roles)
        some = tuple(known[fact_id] for fact_id in sorted(own) if fact_id in known)
        found.append(Object("entity", entity_id, name, type_, tuple(keys), tuple(aliases), some, subjects))
    return found


def _papers(lake: Lake, collection: str, facts: Sequence[Stated]) -> list[Object]:
    titles = titles_of(lake, collection)
    return [
        Object("paper", paper, titles.get(paper) or paper, None, (), (), tuple(some)) for paper, some in sorted(by_paper(facts).items())
    ]


def _joined(by_rules: Iterable[Assigned], by_model: Iterable[Assigned]) -> list[Assigned]:
    """All of them; of two that say the same on the same facts, the rule's."""
    found: dict[tuple[Any, ...], Assigned] = {}
    for one in (*by_rules, *sorted(by_model, key=lambda one: (one.object.id, one.dimension, one.category, one.conditions))):
        key = (one.object.id, one.dimension, one.category, tuple(fact.fact_id for fact in one.basis))
        known = found.get(key)
        if known is None:
            found[key] = one
        elif known.certainty == "uncertain" and known.method != one.method:
            found[key] = replace(known, certainty="likely")  # a rule and a model, each for itself
    return list(found.values())


# -- rows --------------------------------------------------------------------------------------------------------------


def _of_assigned(
    collection: str, taxonomy: Taxonomy, one: Assigned, votes: Sequence[Vote], asked: int, run: delta.Commit
) -> dict[str, Any]:
    dimension = next(found for found in taxonomy.dimensions if found.name == one.dimension)
    category = dimension.id_of(one.category)
    basis = [fact.fact_id for fact in one.basis]
    verification = settled(votes, asked)
    return {
        "assignment_id": f"assignment-{digest([collection, one.object.id, category, *basis])}",
        "collection": collection,
        "taxonomy": taxonomy.version,
        "category_id": category,
        "subject_kind": one.object.kind,
        "subject_id": one.object.id,
        "subject": one.object.name,
        "basis": basis,
        "papers": sorted({fact.paper_id for fact in one.basis}),
        "conditions": [{"kind": kind, "text": text} for kind, text in one.conditions],
        "rationale": one.rationale,
        "inference": "declared" if one.declared else "inferred",
        "certainty": _after_votes(one.certainty, verification),
        "verification": verification,
        "votes": [asdict(vote) for vote in votes],
        "method": one.method,
        "code_version": run.code_version,
    }


def settled(votes: Sequence[Vote], asked: int) -> str:
    """What votes come to: what all of them say, where more than half of those asked for came."""
    found = {vote.verdict for vote in votes}
    if not votes:
        return "unchecked"
    return found.pop() if len(found) == 1 and 2 * len(votes) > asked else "unresolved"


def _after_votes(certainty: Certainty, verification: str) -> Certainty:
    """What votes leave of a certainty: where all agree it is confirmed, and where any doubts it is uncertain."""
    if verification == "unchecked":
        return certainty
    return "confirmed" if verification == "supported" else "uncertain"


def _of_left(collection: str, taxonomy: Taxonomy, one: Unclassified, run: delta.Commit) -> dict[str, Any]:
    dimension = next(found for found in taxonomy.dimensions if found.name == one.dimension)
    return {
        "collection": collection,
        "fact_id": one.fact.fact_id,
        "paper_id": one.fact.paper_id,
        "dimension": one.dimension,
        "taxonomy": taxonomy.version,
        "reason": one.reason,
        "nearest": None if one.nearest is None else dimension.id_of(one.nearest),
        "method": "rules",
        "code_version": run.code_version,
    }


def _proposals(
    collection: str, taxonomy: Taxonomy, objects: Sequence[Object], left: Sequence[Unclassified], run: delta.Commit
) -> list[dict[str, Any]]:
    """Kinds of entities that unclassified facts of several papers are about, as categories of the dimension that sorts their type."""
    rows = []
    papers = len({fact.paper_id for one in objects for fact in one.facts})
    least = max(_LEAST, math.ceil(_LEAST_SHARE * papers))
    for dimension in taxonomy.dimensions:
        open_facts = {one.fact.fact_id: one.fact for one in left if one.dimension == dimension.name and one.reason == "no_category"}
        kinds: dict[str, dict[str, Stated]] = defaultdict(dict)
        examples: dict[str, Counter[str]] = defaultdict(Counter)
        for one in objects:
            if one.kind != "entity" or one.type not in dimension.subject_types:
                continue
            for fact in one.facts:
                if fact.fact_id in open_facts:
                    for tail in _tails(one.keys):
                        kinds[tail][fact.fact_id] = fact
                        examples[tail][one.name] += 1
        known = {slug(category.name) for category in dimension.categories}
        enough = {tail: len({fact.paper_id for fact in some.values()}) for tail, some in kinds.items() if slug(tail) not in known}
        best = sorted((tail for tail, count in enough.items() if count >= least), key=lambda tail: (-enough[tail], tail))[:_PROPOSALS]
        for name in best:
            shown = sorted(examples[name], key=lambda one: (-examples[name][one], one))[:_EXAMPLES]
            rows.append(
                {
                    "proposal_id": f"proposal-{digest([collection, dimension.name, name])}",
                    "collection": collection,
                    "taxonomy": taxonomy.version,
                    "dimension": dimension.name,
                    "name": name,
                    "criterion": f"Papers of the collection call it {name}, alone or with what tells its kinds apart.",
                    "positive_examples": shown,
                    "facts": sorted(kinds[name]),
                    "method": "rules",
                    "code_version": run.code_version,
                }
            )
    return rows


def _tails(keys: Iterable[str]) -> set[str]:
    """The last two words of names, and the last alone where it names something alone."""
    found = set()
    for key in keys:
        words = key.split()
        if len(words) > 1 and words[-2] not in names().empty and words[-2] not in names().bound:
            found.add(" ".join(words[-2:]))
        if words[-1] not in names().not_alone and words[-1] not in names().vague and len(words[-1]) > 3:
            found.add(words[-1])
    return found


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
