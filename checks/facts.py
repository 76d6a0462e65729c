"""Checks of facts: every document is read, every fact stands in sentences that are there, with all its numbers."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check
from scholarlake.knowledge import fact_invariants as invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "facts": (
        contract_check("facts"),
        contract_check("fact_rejects"),
        contract_check("fact_sources"),
        Check(
            "every_document_is_read",
            "Every document was looked through as it is now, or it is told why not.",
            lambda subject: invariants.every_document_is_read(subject.lake, subject.key),
        ),
        Check(
            "every_fact_is_accounted_for",
            "Every paper has the facts and the refused candidates that its reading gave.",
            lambda subject: invariants.every_fact_is_accounted_for(subject.lake, subject.key),
        ),
        Check(
            "evidence_resolves",
            "Every fact cites at least one sentence, all of its paper.",
            lambda subject: invariants.evidence_resolves(subject.lake, subject.key),
        ),
        Check(
            "evidence_is_as_it_was",
            "The sentences that a fact cites say what they said when it was read off them.",
            lambda subject: invariants.evidence_is_as_it_was(subject.lake, subject.key),
        ),
        Check(
            "numbers_stand_in_evidence",
            "Every number of a fact stands in the sentences that it cites.",
            lambda subject: invariants.numbers_stand_in_evidence(subject.lake, subject.key),
        ),
        Check(
            "verification_follows_from_votes",
            "Facts are called supported, failed, unresolved or unchecked as their votes say; how many are what.",
            lambda subject: invariants.verification_follows_from_votes(subject.lake, subject.key),
        ),
    ),
}
