"""Checks of the sources stage: nothing of a file is lost, and not too much of it is refused."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check
from scholarlake.sources import invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "dump_manifest": (contract_check("dump_manifest"),),
    "records": (
        contract_check("records"),
        contract_check("rejects"),
        Check(
            "nothing_lost",
            "Lines of the file = records + rejects.",
            lambda subject: invariants.nothing_lost(subject.lake, subject.key, subject.fact("lines")),
        ),
        Check(
            "every_byte_covered",
            "Records and rejects, laid end to end, are the whole uncompressed file: no overlap, and between two only what may be there.",
            lambda subject: invariants.every_byte_covered(
                subject.lake, subject.key, subject.fact("uncompressed_bytes"), subject.fact("between_bytes")
            ),
        ),
        Check(
            "holds_papers",
            "The part holds papers. Authors, venues and the like beside them are known, and passed over.",
            lambda subject: invariants.holds_papers(subject.key, subject.said("passed_over")),
            blocking=False,
        ),
        Check(
            "does_not_break_off",
            "The last record of the part is whole, and its array closed: a file that was not fetched to its end has lost more than a line.",
            lambda subject: invariants.does_not_break_off(subject.lake, subject.key),
            blocking=False,
        ),
        Check(
            "few_rejects",
            "The share of rejected lines is no more than the profile's `reject_warn`.",
            lambda subject: invariants.rejects_within(subject.lake, subject.key, subject.profile.reading.reject_warn),
            blocking=False,
        ),
        Check(
            "most_lines_are_records",
            "The share of rejected lines is no more than the profile's `reject_block`.",
            lambda subject: invariants.rejects_within(subject.lake, subject.key, subject.profile.reading.reject_block),
        ),
    ),
}
