"""Checks of the corpus stage: every record is in one paper, every edge joins two papers, the core is what the thresholds say."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check, row_check
from scholarlake.corpus import invariants
from scholarlake.sources.invariants import no_line_of_a_gone_part

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "identities": (
        contract_check("identities"),
        contract_check("work_versions"),
        contract_check("withdrawals"),
        contract_check("tombstones"),
        Check(
            "no_line_of_a_gone_part",
            "Records and rejects hold nothing of a file that has left the dump.",
            lambda subject: no_line_of_a_gone_part(subject.lake),
        ),
        Check(
            "every_record_has_a_paper",
            "Every distinct record of the dump is decided, with its number of copies, and no other is.",
            lambda subject: invariants.every_record_has_a_paper(subject.lake),
        ),
        Check(
            "one_paper_per_record_id",
            "Records of one id are one paper, and one of them is current.",
            lambda subject: invariants.one_paper_per_record_id(subject.lake),
        ),
        Check(
            "one_paper_per_doi",
            "A DOI stands on one paper, or on works with nothing in common that are each flagged.",
            lambda subject: invariants.one_paper_per_doi(subject.lake),
        ),
        Check(
            "representative_is_a_member",
            "Every paper is named by one of its records.",
            lambda subject: invariants.representative_is_a_member(subject.lake),
        ),
        Check(
            "papers_lie_in_their_shard",
            "The shard of a paper is the stable hash of its id.",
            lambda subject: invariants.papers_lie_in_their_shard(subject.lake),
        ),
        Check(
            "tombstones_are_of_papers_that_are_gone",
            "No paper that is there has a tombstone, and a tombstone leads to a paper that is there.",
            lambda subject: invariants.tombstones_are_of_papers_that_are_gone(subject.lake),
        ),
        Check(
            "versions_lead_to_what_stands_for_the_work",
            "A version leads to another paper, which is a version of none: no chain, no circle.",
            lambda subject: invariants.versions_lead_to_what_stands_for_the_work(subject.lake),
        ),
        Check(
            "withdrawals_and_notices_are_papers",
            "A paper that a notice is about and the notice are two papers.",
            lambda subject: invariants.withdrawals_and_notices_are_papers(subject.lake),
        ),
    ),
    "papers": (
        contract_check("papers"),
        Check(
            "papers_are_those_of_identities",
            "The shard holds exactly the papers that identities puts there: it is not empty where it has members.",
            lambda subject: invariants.papers_are_those_of_identities(subject.lake, subject.key),
        ),
        Check(
            "record_ids_resolve",
            "Papers list the record ids that identities gives them.",
            lambda subject: invariants.record_ids_resolve(subject.lake, subject.key),
        ),
        Check(
            "papers_bear_what_was_decided",
            "Papers are versions of others, and withdrawn, just as was decided.",
            lambda subject: invariants.papers_bear_what_was_decided(subject.lake, subject.key),
        ),
    ),
    "citations": (
        contract_check("citations"),
        Check("no_dangling_edge", "Both ends of every citation are papers.", lambda subject: invariants.no_dangling_edge(subject.lake)),
        row_check("no_self_edge", "No paper cites itself.", "citations", lambda subject, rows: invariants.no_self_edge(subject.lake, rows)),
        row_check(
            "no_repeated_edge",
            "Every citation is there once.",
            "citations",
            lambda subject, rows: invariants.no_repeated_edge(subject.lake, rows),
        ),
    ),
    "degrees": (
        contract_check("degrees"),
        Check("degrees_of_every_paper", "Every paper has its degrees.", lambda subject: invariants.degrees_of_every_paper(subject.lake)),
        Check(
            "degrees_agree_with_citations",
            "In- and out-degrees are the citations counted, and totals their sums.",
            lambda subject: invariants.degrees_agree_with_citations(subject.lake, subject.profile.core),
        ),
        Check(
            "core_flags_agree_with_thresholds",
            "`is_core` and its reason are what the profile's thresholds make of the degrees.",
            lambda subject: invariants.core_flags_agree_with_thresholds(subject.lake, subject.profile.core),
        ),
    ),
    "core_papers": (
        contract_check("core_papers"),
        Check(
            "core_papers_are_the_core",
            "`core_papers` holds the papers flagged as core, with their degrees, and no other.",
            lambda subject: invariants.core_papers_are_the_core(subject.lake),
        ),
    ),
    "core_citations": (
        contract_check("core_citations"),
        Check(
            "core_citations_are_inside_the_core",
            "`core_citations` holds the citations with both ends in the core, and no other.",
            lambda subject: invariants.core_citations_are_inside_the_core(subject.lake),
        ),
    ),
}
