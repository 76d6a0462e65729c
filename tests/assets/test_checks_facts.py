"""Every invariant of facts holds on a good lake, and fails, naming what broke it, on a broken one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from scholarlake.knowledge import fact_invariants as invariants
from scholarlake.lake.findings import Finding
from scholarlake.lake.home import Lake
from tests.assets.checked_lake import FACT, broken, good_lake

Change = Callable[[pl.DataFrame], pl.DataFrame]
CLAIMS: tuple[Callable[[Lake, str], Finding], ...] = (
    invariants.every_document_is_read,
    invariants.every_fact_is_accounted_for,
    invariants.evidence_resolves,
    invariants.evidence_is_as_it_was,
    invariants.numbers_stand_in_evidence,
    invariants.verification_follows_from_votes,
)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return good_lake(tmp_path / "lake")


def none(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.clear()


def having(**values: object) -> Change:
    """Change these columns of a table's rows."""
    return lambda rows: pl.DataFrame([{**row, **values} for row in rows.iter_rows(named=True)], rows.schema)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_good_lake_passes(lake: Lake, claim: Callable[[Lake, str], Finding]) -> None:
    found = claim(lake, lake.shard_of("p1"))
    assert found.passed, found
    assert found.name == claim.__name__
    assert found.counted == 1


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_shard_without_documents_passes(lake: Lake, claim: Callable[[Lake, str], Finding]) -> None:
    other = next(shard for shard in lake.shard_keys if shard != lake.shard_of("p1"))
    found = claim(lake, other)
    assert (found.passed, found.counted) == (True, 0)


VOTE = {"verdict": "failed", "attribution": True, "qualifications": False, "reason": "r", "method": "m"}
NUMBER = {"value": "38", "number": 38.0, "unit": None, "metric": None, "comparator": None}


@pytest.mark.parametrize(
    ("claim", "name", "change", "example"),
    [
        (invariants.every_document_is_read, "fact_sources", none, {"paper_id": "p1", "fault": "it was not read as it is"}),
        (
            invariants.every_document_is_read,
            "documents",
            having(title="Another"),
            {"paper_id": "p1", "fault": "it was not read as it is"},
        ),
        (invariants.every_document_is_read, "documents", none, {"paper_id": "p1", "fault": "it has no document"}),
        (invariants.every_fact_is_accounted_for, "facts", none, {"paper_id": "p1", "facts": 1, "facts_there": None}),
        (invariants.every_fact_is_accounted_for, "fact_rejects", none, {"paper_id": "p1", "rejects": 1, "rejects_there": None}),
        (invariants.every_fact_is_accounted_for, "fact_sources", none, {"paper_id": "p1", "facts": None, "facts_there": 1}),
        (invariants.evidence_resolves, "sentences", none, {"fact_id": FACT, "sentence_id": "p1:0"}),
        (invariants.evidence_resolves, "facts", having(evidence=[]), {"fact_id": FACT, "sentence_id": None}),
        (
            invariants.evidence_is_as_it_was,
            "sentences",
            having(text="This sentence has 37 letters."),
            {"fact_id": FACT, "fault": "its sentences are others than those it was read off"},
        ),
        (
            invariants.numbers_stand_in_evidence,
            "facts",
            having(statement="This sentence has 3.7 words."),
            {"fact_id": FACT, "fault": "3.7 stands in none of its sentences"},
        ),
        (
            invariants.numbers_stand_in_evidence,
            "facts",
            having(quantities=[NUMBER]),
            {"fact_id": FACT, "fault": "38 stands in none of its sentences"},
        ),
        (
            invariants.verification_follows_from_votes,
            "facts",
            having(verification="supported"),
            {"fact_id": FACT, "verification": "supported"},
        ),
        (invariants.verification_follows_from_votes, "facts", having(votes=[VOTE]), {"fact_id": FACT, "verification": "unchecked"}),
    ],
)
def test_what_is_broken_is_found_and_named(
    lake: Lake, claim: Callable[[Lake, str], Finding], name: str, change: Change, example: dict[str, object]
) -> None:
    found = claim(broken(lake, name, change), lake.shard_of("p1"))
    assert not found.passed
    assert example.items() <= dict(found.examples[0]).items()


def test_the_rates_of_verification_are_told(lake: Lake) -> None:
    changed = broken(lake, "facts", having(verification="failed", votes=[VOTE]))
    found = invariants.verification_follows_from_votes(changed, lake.shard_of("p1"))
    assert found.passed
    assert found.facts == {"supported": 0, "failed": 1, "unresolved": 0, "unchecked": 0}
