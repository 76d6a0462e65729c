"""Files that are never half-written: write aside, fsync, rename."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson


def write_atomically(path: Path, data: bytes) -> None:
    """Put data at path so that a reader sees the old file or the new one, even through a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with aside.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON document atomically, with sorted keys, so that equal values are equal bytes."""
    write_atomically(path, orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")


def read_json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """fsync every file below a folder, then the folders."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file():
            with path.open("rb+") as stream:
                os.fsync(stream.fileno())
        elif path.is_dir():
            sync_folder(path)
    sync_folder(folder)


def build_folder(target: Path, build: Callable[[Path], None]) -> None:
    """Let build fill a folder aside, then move it to target in one rename. Does nothing where target exists."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    aside.mkdir()
    try:
        build(aside)
        sync_tree(aside)
        os.replace(aside, target)
        sync_folder(target.parent)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
