"""Checks of the serving stage: the search index and the citation graph are whole, and hold what the tables hold."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, artifact_check
from scholarlake.corpus import csr_invariants
from scholarlake.dense.invariants import one_model
from scholarlake.search import invariants as search_invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "search_index": (
        artifact_check(),
        Check(
            "every_paper_is_found",
            "The index has every paper, with its degrees, and no other.",
            lambda subject: search_invariants.every_paper_is_found(subject.lake, subject.folder),
        ),
        Check(
            "every_id_resolves",
            "The id of every record, merged ones too, leads to its paper.",
            lambda subject: search_invariants.every_id_resolves(subject.lake, subject.folder),
        ),
        Check(
            "every_vector_leads_to_its_paper",
            "Every vector id leads to its paper.",
            lambda subject: search_invariants.every_vector_leads_to_its_paper(subject.lake, subject.folder),
        ),
        Check("one_model", "All vectors of the lake are of one model.", lambda subject: one_model(subject.lake)),
    ),
    "citation_graph": (
        artifact_check(),
        Check(
            "every_paper_is_a_node",
            "The nodes of the graph are the papers, with their degrees.",
            lambda subject: csr_invariants.every_paper_is_a_node(subject.lake, subject.folder),
        ),
        Check(
            "every_citation_is_an_edge",
            "The graph holds every citation, in both directions, and no other.",
            lambda subject: csr_invariants.every_citation_is_an_edge(subject.lake, subject.folder),
        ),
    ),
}
