"""Which files of a folder are parts, in what order, of what format."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
import zstandard

from scholarlake.errors import SourceError
from scholarlake.lake.contracts import DUMP_MANIFEST
from scholarlake.sources.dumps import inspect_part, list_parts, manifest_frame, part_file
from scholarlake.sources.editions import edition_key
from scholarlake.sources.files import folder_at

LINE = b'{"id": "a"}\n'


def put(folder: Path, name: str, data: bytes = LINE) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_part_is_named_by_its_path_and_its_folder_is_its_edition(tmp_path: Path) -> None:
    for name in ("v3.10/p_2.json", "v3.2/p_10.json", "v3.2/p_9.json", "flat.json", "o'brien/x.json"):
        put(tmp_path, name)
    found = list_parts(folder_at(tmp_path))
    assert [part.key for part in found] == ["flat.json", "o'brien/x.json", "v3.2/p_9.json", "v3.2/p_10.json", "v3.10/p_2.json"]
    assert [part.edition for part in found] == ["", "o'brien", "v3.2", "v3.2", "v3.10"]


def test_editions_sort_as_people_count() -> None:
    names = ["v3.10", "v2", "", "v3.2", "v10", "v2.1", "v1"]
    assert sorted(names, key=edition_key) == ["", "v1", "v2", "v2.1", "v3.2", "v3.10", "v10"]


def test_what_is_no_part_is_passed_over(tmp_path: Path) -> None:
    for name in (
        ".hidden",
        "a.json.part",
        "b.tmp",
        "c.crdownload",
        "README.md",
        "SOURCE.txt",
        "LICENSE",
        "x.md5",
        "_SUCCESS",
        ".git/config",
        "_aside/x.json",
    ):
        put(tmp_path, name)
    put(tmp_path, "aminer_papers_0.txt")
    assert [part.key for part in list_parts(folder_at(tmp_path))] == ["aminer_papers_0.txt"]


def test_a_missing_or_empty_folder_is_said_in_one_line(tmp_path: Path) -> None:
    for folder in (tmp_path / "none", tmp_path):
        with pytest.raises(SourceError, match="dump") as fault:
            list_parts(folder_at(folder))
        assert "\n" not in str(fault.value)
    with pytest.raises(SourceError, match="gone"):
        part_file(folder_at(tmp_path), "gone.json")


def test_format_is_recognised_by_content_not_by_name(tmp_path: Path) -> None:
    put(tmp_path, "a.txt")
    put(tmp_path, "b.json", gzip.compress(LINE))
    put(tmp_path, "c.gz", zstandard.compress(LINE))
    put(tmp_path, "d.json", b"")
    parts = [inspect_part(file) for file in list_parts(folder_at(tmp_path))]
    assert [part.known.format for part in parts] == ["oag-jsonl", "oag-jsonl+gzip", "oag-jsonl+zstd", "oag-jsonl"]
    manifest = manifest_frame([part.known for part in parts])
    assert manifest.schema == DUMP_MANIFEST.schema
    assert manifest["bytes"].to_list() == [part.file.bytes for part in parts]
    assert manifest_frame([]).equals(pl.DataFrame(schema=DUMP_MANIFEST.schema))


def test_an_unknown_format_is_said_in_one_line(tmp_path: Path) -> None:
    put(tmp_path, "table.json", b"id,title\n1,x\n")
    with pytest.raises(SourceError, match=r"table\.json is in no known format") as fault:
        inspect_part(part_file(folder_at(tmp_path), "table.json"))
    assert "\n" not in str(fault.value)
