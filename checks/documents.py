"""Checks of documents: every file has its documents or a reason, and every sentence is what its offsets say."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check
from scholarlake.documents import invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "document_sources": (
        contract_check("document_sources"),
        contract_check("document_manifest"),
        Check(
            "every_file_is_accounted_for",
            "Every file of the document folder has its documents, or the reason why it has none.",
            lambda subject: invariants.every_file_is_accounted_for(subject.lake, subject.fact("files")),
        ),
    ),
    "fulltexts": (
        contract_check("fulltexts"),
        contract_check("document_matches"),
        Check(
            "every_document_is_decided",
            "Every document is matched to a paper, or the reason why not is told.",
            lambda subject: invariants.every_document_is_decided(subject.lake),
        ),
        Check(
            "one_text_a_paper",
            "A paper has one text, and is a paper of the corpus.",
            lambda subject: invariants.one_text_a_paper(subject.lake),
        ),
    ),
    "documents": (
        contract_check("documents"),
        Check(
            "documents_are_those_chosen",
            "The documents are the texts that were taken, and abstracts of papers without one.",
            lambda subject: invariants.documents_are_those_chosen(subject.lake, subject.key),
        ),
    ),
    "sentences": (
        contract_check("sentences"),
        Check(
            "offsets_are_exact",
            "Every sentence is its stretch of the text, and nothing but white space is between two of a block.",
            lambda subject: invariants.offsets_are_exact(subject.lake, subject.key),
        ),
        Check(
            "sentence_ids_are_dense",
            "Sentences of a document are numbered from 0 without a gap, in reading order.",
            lambda subject: invariants.sentence_ids_are_dense(subject.lake, subject.key),
        ),
        Check(
            "every_document_is_mapped",
            "Every document has its sentences, and nothing else has.",
            lambda subject: invariants.every_document_is_mapped(subject.lake, subject.key),
        ),
    ),
}
