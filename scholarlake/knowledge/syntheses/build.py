"""`syntheses` of a collection: what is selected, put into words, checked and reviewed; beside it what was proposed and is none.

What does not belong here: each of those steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.knowledge.syntheses.bundles import Limits, bundles
from scholarlake.knowledge.syntheses.material import Material, material_of
from scholarlake.knowledge.syntheses.objects import Proposal, Refused, Synthesis, row_of
from scholarlake.knowledge.syntheses.review import reviewed
from scholarlake.knowledge.syntheses.synthesizer import proposals
from scholarlake.knowledge.syntheses.validation import checked
from scholarlake.knowledge.syntheses.wording import proposal_of
from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake
from scholarlake.models.chat_model import ChatModel


@dataclass(frozen=True)
class Roles:
    """Who makes accounts, and who reviews them; None where nobody does. votes: how many verdicts on each."""

    synthesizer: ChatModel | None = None
    verifier: ChatModel | None = None
    votes: int = 3


@dataclass(frozen=True)
class SynthesesReport:
    """What was made of a collection. lost_votes: votes that did not come, the first with its reason."""

    rows: int
    bundles: int
    by_kind: Mapping[str, int]
    by_review: Mapping[str, int]
    reasons: Mapping[str, int]
    sources: int
    lost_votes: tuple[str, ...]
    versions: Mapping[str, int | None]
    content_version: str


def build_syntheses(
    lake: Lake, collection: str, run: delta.Commit, roles: Roles | None = None, limits: Limits | None = None, progress: Progress = silent
) -> SynthesesReport:
    """The accounts of a collection. Nothing new makes no version of any table. Raises what asking the models raises."""
    asked = roles or Roles()
    material = material_of(lake, collection)
    selected = bundles(material, limits or Limits())
    progress(0, len(selected), f"syntheses of {collection}")
    proposed: Iterable[Proposal | Refused]
    if asked.synthesizer is None:
        proposed = (proposal_of(one, collection) for one in selected)
    else:
        proposed = proposals(selected, material, asked.synthesizer)
    kept, refused = _sorted_out(proposed, material)
    judged = reviewed(kept, material.grounds, material.works, asked.verifier, asked.votes)
    written = {
        "syntheses": _written(lake, "syntheses", collection, map(row_of, judged.syntheses), run),
        "synthesis_rejects": _written(lake, "synthesis_rejects", collection, _rejects(refused, collection), run),
    }
    return SynthesesReport(
        rows=len(kept),
        bundles=len(selected),
        by_kind=_counted(one.said.kind for one in kept),
        by_review=_counted(one.review for one in judged.syntheses),
        reasons=_counted(one.reason for one in refused),
        sources=len(material.sources(material.facts)),
        lost_votes=tuple(judged.faults),
        versions={name: one.version for name, one in written.items()},
        content_version=delta.combined({name: one.content_version for name, one in written.items()}),
    )


def _sorted_out(proposed: Iterable[Proposal | Refused], material: Material) -> tuple[list[Synthesis], list[Refused]]:
    """What is an account, by its id, and what is none, by what it was about."""
    kept: dict[str, Synthesis] = {}
    refused: list[Refused] = []
    for one in proposed:
        found = one if isinstance(one, Refused) else checked(one, material.grounds, material.works)
        if isinstance(found, Refused):
            refused.append(found)
        elif found.synthesis_id in kept:
            refused.append(Refused(found.said, "repeated", f"{found.synthesis_id} says the same"))
        else:
            kept[found.synthesis_id] = found
    return [kept[id] for id in sorted(kept)], sorted(
        refused, key=lambda one: (one.proposal.kind, one.proposal.topic, one.proposal.as_json())
    )


def _rejects(refused: Iterable[Refused], collection: str) -> Iterable[dict[str, Any]]:
    return (
        {
            "collection": collection,
            "n": n,
            "reason": one.reason,
            "detail": one.detail,
            "candidate": one.proposal.as_json(),
            "method": one.proposal.method,
        }
        for n, one in enumerate(refused)
    )


def _written(lake: Lake, name: str, collection: str, rows: Iterable[Mapping[str, Any]], run: delta.Commit) -> delta.Written:
    frame = pl.DataFrame([{**row, "code_version": run.code_version} for row in rows], schema=contracts.table(name).schema)
    return delta.write_partition(lake, name, collection, frame, run)


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
