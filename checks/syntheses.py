"""Checks of accounts across papers: they rest on what is there, on two works or more, with the numbers that stand there."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check
from scholarlake.knowledge import synthesis_invariants as invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "syntheses": (
        contract_check("syntheses"),
        contract_check("synthesis_rejects"),
        Check(
            "every_basis_resolves",
            "Every object that an account rests on is there.",
            lambda subject: invariants.every_basis_resolves(subject.lake, subject.key),
        ),
        Check(
            "every_claim_cites_its_basis",
            "Every claim cites something of the basis, and all of the basis is cited.",
            lambda subject: invariants.every_claim_cites_its_basis(subject.lake, subject.key),
        ),
        Check(
            "numbers_stand_in_the_basis",
            "Every number of an account stands in what its claim cites.",
            lambda subject: invariants.numbers_stand_in_the_basis(subject.lake, subject.key),
        ),
        Check(
            "sources_are_works_that_count",
            "An account rests on two works or more, none withdrawn, versions of one work being one.",
            lambda subject: invariants.sources_are_works_that_count(subject.lake, subject.key),
        ),
        Check(
            "reviews_follow_from_votes",
            "Accounts are called supported, disputed, failed or unreviewed as their votes say.",
            lambda subject: invariants.reviews_follow_from_votes(subject.lake, subject.key),
        ),
    ),
}
