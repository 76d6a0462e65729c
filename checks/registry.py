"""Checks of the registry: every object stands in it, what rests on what resolves, every change was told."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check
from scholarlake.knowledge.registry import invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "registry": (
        contract_check("registry"),
        contract_check("registry_dependencies"),
        contract_check("registry_events"),
        Check(
            "every_object_is_registered",
            "What the layers hold is registered as it is, and nothing that is gone stands.",
            lambda subject: invariants.every_object_is_registered(subject.lake),
        ),
        Check(
            "versions_follow_each_other",
            "The versions of every object run from 1, and one of them stands or is retracted.",
            lambda subject: invariants.versions_follow_each_other(subject.lake),
        ),
        Check(
            "dependencies_resolve",
            "What rests on what is registered in the versions that are named.",
            lambda subject: invariants.dependencies_resolve(subject.lake),
        ),
        Check(
            "every_basis_is_a_dependency",
            "Every basis that an object names is registered, and known as its basis.",
            lambda subject: invariants.every_basis_is_a_dependency(subject.lake),
        ),
        Check(
            "every_change_was_told",
            "Every version has the event that made it what it is.",
            lambda subject: invariants.every_change_was_told(subject.lake),
        ),
        Check(
            "nothing_rests_on_what_moved",
            "What is current rests on what stands; what does not is marked.",
            lambda subject: invariants.nothing_rests_on_what_moved(subject.lake),
        ),
    ),
}
