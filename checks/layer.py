"""Checks of the index of a collection: it has every object of the layers, all that they rest on, and sound vectors of one model."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, artifact_check
from scholarlake.knowledge import layer_invariants as invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "knowledge_index": (
        artifact_check(),
        Check(
            "every_object_is_indexed",
            "The index has every object of the collection's layers as its table has it, and no other.",
            lambda subject: invariants.every_object_is_indexed(subject.lake, subject.key, subject.folder),
        ),
        Check(
            "every_link_resolves",
            "Whatever an object is said to rest on is in the index too.",
            lambda subject: invariants.every_link_resolves(subject.lake, subject.key, subject.folder),
        ),
        Check(
            "vectors_are_those_of_the_objects",
            "Every object that is searched has a sound vector, or is listed without one.",
            lambda subject: invariants.vectors_are_those_of_the_objects(subject.folder),
        ),
        Check(
            "index_is_of_the_model",
            "The index and the vectors of papers are of one model.",
            lambda subject: invariants.index_is_of_the_model(subject.lake, subject.folder),
        ),
    ),
}
