"""A look at the dump folder: which parts are new, changed, gone, and which are not whole yet.

A part's content decides, not its time: its checksum is its version. Files whose inode, size and times are those of the last
look are not read again, unless the look is thorough; a file that something still writes to is left for a later look.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from scholarlake.errors import SourceError
from scholarlake.sources.dumps import Known, inspect_part, parts_of
from scholarlake.sources.files import File, LocalFile


@dataclass(frozen=True)
class Attention:
    """How closely to look.

    quiet_seconds: how long a file must have been left alone. budget_seconds: after these no further file is read, what is
    left comes at the next look. thorough: read every byte, whatever the file's times say.
    """

    quiet_seconds: float = 0.0
    budget_seconds: float | None = None
    thorough: bool = False


#: What a person asks for now is taken as it lies there.
AT_ONCE = Attention()
THOROUGH = Attention(thorough=True)


@dataclass
class Look:
    """What a look found.

    parts: those that can be read, by key. unsettled: files that are being written; postponed: files not come to in time; the
    parts of both stay as they were known, if they were. faults: why files can't be read. keys: of all parts there may be.
    """

    keys: set[str] = field(default_factory=set)
    parts: dict[str, Known] = field(default_factory=dict)
    unsettled: list[str] = field(default_factory=list)
    postponed: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def keep(self, parts: Iterable[Known]) -> None:
        self.parts.update((part.key, part) for part in parts)
        self.keys.update(self.parts)


def look(files: Iterable[tuple[str, File]], known: Mapping[str, Known], attention: Attention, now: Callable[[], float] = time.time) -> Look:
    """Look at the files of a dump, each with its path. A file that is not settled, or not come to, stays as it was known, if it was."""
    found = Look()
    began = time.monotonic()
    of_file = _by_file(known.values())
    for path, file in files:
        before = of_file.get(path, [])
        if before and not attention.thorough and all(part.signature == file.signature for part in before):
            found.keep(before)
            continue
        spent = time.monotonic() - began
        if attention.budget_seconds is not None and spent > attention.budget_seconds:
            found.postponed.append(path)
        elif now() - file.touched < attention.quiet_seconds or is_being_written(file):
            found.unsettled.append(path)
        else:
            try:
                found.keep([inspect_part(part).known for part in parts_of(path, file)])
                continue
            except SourceError as fault:
                found.faults.append(str(fault))
        found.keep(before)
    return found


def _by_file(known: Iterable[Known]) -> dict[str, list[Known]]:
    """The parts by the path of their file: a part's key, or, of one in an archive, what it begins with."""
    found: dict[str, list[Known]] = {}
    for part in known:
        path = part.key
        while path:
            found.setdefault(path, []).append(part)
            path = path.rpartition("/")[0]
    return found


def is_being_written(file: File) -> bool:
    """Whether a process has the file open for writing, as far as the system tells (Linux, local files)."""
    if not isinstance(file, LocalFile) or not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        handle = os.open(file.path, os.O_RDONLY)
    except OSError:
        return False  # reading it will say what is wrong
    try:
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)  # granted only where nobody writes
    except OSError as fault:
        return fault.errno == errno.EAGAIN
    else:
        with suppress(OSError):
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return False
    finally:
        os.close(handle)
