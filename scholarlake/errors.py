"""The errors that a person meets: each says in one line what is wrong and what to do about it.

The command line prints the message and exits with 1; nothing has been changed when one is raised.
"""

from __future__ import annotations


class ScholarLakeError(Exception):
    """A fault that the user can mend. The message is one line: what is wrong, and what to do."""


class LakeError(ScholarLakeError):
    """The lake is missing, was made with other settings, or holds something damaged."""


class ContractError(ScholarLakeError):
    """A frame does not fit the contract of its table. Nothing was written."""


class SourceError(ScholarLakeError):
    """A dump folder or part can't be read."""


class ReleaseError(ScholarLakeError):
    """A release is unknown, or can't be made from the present state."""


class IndexDamaged(LakeError):
    """An index or artifact does not match the checksum in its manifest."""


class ModelError(ScholarLakeError):
    """A model or endpoint is unknown, unreachable or does not fit what was built with it."""


class NotFound(ScholarLakeError):
    """No paper, shard or table of that name."""
