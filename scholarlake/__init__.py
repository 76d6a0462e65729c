"""ScholarLake: Open Academic Graph dumps as layered, evidence-linked research assets. Start at `scholarlake.open`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scholarlake.door import ReleaseReader, open

__all__ = ["ReleaseReader", "open"]


def __getattr__(name: str) -> Any:
    # The door imports half the library: only who opens it should wait for that.
    if name in __all__:
        from scholarlake import door

        return getattr(door, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
