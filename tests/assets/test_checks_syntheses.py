"""Every invariant of accounts and of the registry holds on a good lake, and fails, naming what broke it, on a broken one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from scholarlake.knowledge import synthesis_invariants as accounts
from scholarlake.knowledge.registry import invariants as registry
from scholarlake.lake.findings import Finding
from scholarlake.lake.home import Lake
from tests.assets.checked_lake import ACCOUNT, FACT, REMARK, broken, good_lake

Change = Callable[[pl.DataFrame], pl.DataFrame]
OF_ACCOUNTS: tuple[Callable[[Lake, str], Finding], ...] = (
    accounts.every_basis_resolves,
    accounts.every_claim_cites_its_basis,
    accounts.numbers_stand_in_the_basis,
    accounts.sources_are_works_that_count,
    accounts.reviews_follow_from_votes,
)
OF_REGISTRY: tuple[Callable[[Lake], Finding], ...] = (
    registry.every_object_is_registered,
    registry.versions_follow_each_other,
    registry.dependencies_resolve,
    registry.every_basis_is_a_dependency,
    registry.every_change_was_told,
    registry.nothing_rests_on_what_moved,
)
ID = ACCOUNT.synthesis_id


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return good_lake(tmp_path / "lake")


def where(name: str, value: str, **values: object) -> Change:
    """Change these columns of the rows of which one has that value."""
    return lambda rows: pl.DataFrame([{**row, **(values if row[name] == value else {})} for row in rows.iter_rows(named=True)], rows.schema)


def without(name: str, value: str) -> Change:
    return lambda rows: rows.filter(pl.col(name) != value)


@pytest.mark.parametrize("claim", OF_ACCOUNTS)
def test_a_good_lake_passes(lake: Lake, claim: Callable[[Lake, str], Finding]) -> None:
    found = claim(lake, "some")
    assert (found.passed, found.name, found.counted) == (True, claim.__name__, 1)
    assert claim(lake, "by-topic").counted == 0


@pytest.mark.parametrize("claim", OF_REGISTRY)
def test_the_registry_of_a_good_lake_passes(lake: Lake, claim: Callable[[Lake], Finding]) -> None:
    found = claim(lake)
    assert found.passed, found
    assert found.name == claim.__name__
    assert found.counted > 0


VOTE = {"verdict": "failed", "attribution": True, "qualifications": True, "reason": "r", "method": "m"}
BASIS = [{"object_id": FACT, "kind": "fact", "role": "supporting", "why": "x"}]


@pytest.mark.parametrize(
    ("claim", "name", "change", "fault"),
    [
        (accounts.every_basis_resolves, "facts", without("fact_id", FACT), f"{FACT} is not there"),
        (accounts.every_basis_resolves, "attended_facts", without("fact_id", REMARK), f"{REMARK} is not there"),
        (accounts.every_basis_resolves, "syntheses", where("collection", "some", basis=[]), "it rests on nothing"),
        (
            accounts.every_basis_resolves,
            "syntheses",
            where("collection", "some", basis=[{**BASIS[0], "kind": "relation"}]),
            f"{FACT} is of another kind",
        ),
        (
            accounts.every_claim_cites_its_basis,
            "syntheses",
            where("collection", "some", claims=[{"text": ACCOUNT.account, "cites": []}]),
            "a claim cites nothing",
        ),
        (
            accounts.every_claim_cites_its_basis,
            "syntheses",
            where("collection", "some", basis=BASIS),
            f"{REMARK} is cited and no basis",
        ),
        (accounts.every_claim_cites_its_basis, "syntheses", where("collection", "some", account="x"), "the account is not its claims"),
        (
            accounts.numbers_stand_in_the_basis,
            "syntheses",
            where("collection", "some", claims=[{"text": "It has 38 words.", "cites": [FACT]}]),
            "38 stands in nothing that its claim cites",
        ),
        (accounts.sources_are_works_that_count, "syntheses", where("collection", "some", sources=3), "2 sources, not 3"),
        (
            accounts.sources_are_works_that_count,
            "papers",
            where("paper_id", "p4", withdrawn=True),
            "its studies are not the papers of its basis",
        ),
        (accounts.sources_are_works_that_count, "papers", where("paper_id", "p4", version_of="p1"), "1 sources, not 2"),
        (accounts.reviews_follow_from_votes, "syntheses", where("collection", "some", review="supported"), "supported, by 0 votes"),
        (
            accounts.reviews_follow_from_votes,
            "syntheses",
            where("collection", "some", review="supported", votes=[VOTE]),
            "supported, by 1 votes",
        ),
    ],
)
def test_a_broken_account_is_named(lake: Lake, claim: Callable[[Lake, str], Finding], name: str, change: Change, fault: str) -> None:
    found = claim(broken(lake, name, change), "some")
    assert found.examples == ({"synthesis_id": ID, "fault": fault},)


@pytest.mark.parametrize(
    ("claim", "name", "change", "example"),
    [
        (registry.every_object_is_registered, "facts", where("fact_id", FACT, subject="y"), {"fault": "it is registered otherwise"}),
        (registry.every_object_is_registered, "syntheses", without("collection", "some"), {"fault": "it stands, and is gone"}),
        (registry.every_object_is_registered, "registry", without("object_id", FACT), {"object_id": FACT, "fault": "it is not registered"}),
        (
            registry.every_object_is_registered,
            "registry",
            where("object_id", FACT, status="retracted"),
            {"object_id": FACT, "fault": "it does not stand"},
        ),
        (
            registry.versions_follow_each_other,
            "registry",
            where("object_id", FACT, version=2),
            {"asset_id": FACT, "last": 2, "standing": 1},
        ),
        (registry.versions_follow_each_other, "registry", where("object_id", FACT, parent=1), {"asset_id": FACT, "last": 1, "standing": 0}),
        (registry.dependencies_resolve, "registry", without("object_id", FACT), {"dependent": ID, "basis": FACT, "role": "supporting"}),
        (
            registry.every_basis_is_a_dependency,
            "registry_dependencies",
            without("basis", REMARK),
            {"dependent": ID, "basis": REMARK, "fault": "it is not kept"},
        ),
        (
            registry.every_change_was_told,
            "registry_events",
            without("asset_id", FACT),
            {"asset_id": FACT, "version": 1, "status": "current"},
        ),
        (
            registry.every_change_was_told,
            "registry",
            where("object_id", FACT, status="superseded"),
            {"asset_id": FACT, "version": 1, "status": "superseded"},
        ),
        (
            registry.nothing_rests_on_what_moved,
            "registry",
            where("object_id", FACT, status="retracted"),
            {"asset_id": ID, "fault": f"{FACT} moved"},
        ),
        (
            registry.nothing_rests_on_what_moved,
            "registry",
            where("object_id", FACT, status="needs_recheck"),
            {"asset_id": FACT, "fault": "it has to be looked at again for nothing"},
        ),
    ],
)
def test_a_broken_registry_is_told(
    lake: Lake, claim: Callable[[Lake], Finding], name: str, change: Change, example: dict[str, Any]
) -> None:
    found = claim(broken(lake, name, change))
    assert not found.passed
    assert any(example.items() <= one.items() for one in found.examples), found.examples
