"""The registry: every object of the three layers, and what tasks made, in every version; what rests on what; what happened, and why.

An asset is an object through all its versions, and has the id of the first; each version is named by its content. What another continues,
by the rules of `matching`, is revised and stays readable; what is gone is retracted and says why. What does not belong here: how objects
are made (`facts`, `organization`, `syntheses`) and how they are shown (`trace`).
"""

from scholarlake.knowledge.registry.reading import Event, Link, Registry, Version
from scholarlake.knowledge.registry.recheck import Outcome, recheck
from scholarlake.knowledge.registry.tasks import Registered, RegistrationRefused, register, retract

__all__ = [
    "Event",
    "Link",
    "Outcome",
    "Registered",
    "RegistrationRefused",
    "Registry",
    "Version",
    "recheck",
    "register",
    "retract",
]
