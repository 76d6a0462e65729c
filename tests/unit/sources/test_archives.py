"""What lies in zip archives: each file a part of its own, whole or not at all, whatever else lies beside it."""

from __future__ import annotations

import gzip
import io
import random
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pytest
import zstandard

from scholarlake.errors import SourceError
from scholarlake.lake.home import Lake
from scholarlake.profile import Reading
from scholarlake.sources.archives import Member, members
from scholarlake.sources.dumps import Part, inspect_part, list_parts, part_file
from scholarlake.sources.files import LocalFile, folder_at
from scholarlake.sources.ingest import Ingested, ingest_part, read_line
from scholarlake.sources.streams import PartStream
from tests.unit.sources.test_ingest import RUN, SMALL, lines_of, rows

LINES = lines_of(300)
FLAGS, METHOD = 6, 8  # offsets in a member's own header
LISTED_FLAGS, LISTED_METHOD, LISTED_CRC, LISTED_SIZE = 8, 10, 16, 24  # and in the list of members


def packed(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()


def put(folder: Path, name: str, data: bytes) -> LocalFile:
    path = folder / "dumps" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return LocalFile.at(path)


def keys(folder: Path) -> list[str]:
    return [part.key for part in list_parts(folder_at(folder / "dumps"))]


def part_of(folder: Path, key: str) -> Part:
    return inspect_part(part_file(folder_at(folder / "dumps"), key))


def edited(archive: bytes, place: int, change: bytes) -> bytes:
    """The archive with bytes of its list of members changed, counted from where the first entry begins."""
    at = archive.index(b"PK\x01\x02") + place
    return archive[:at] + change + archive[at + len(change) :]


def unpack(member: Member, got: list[int]) -> None:
    """Read a member to its end; got takes the length of each piece."""
    with PartStream(member, "zip") as stream:
        while data := stream.read(1 << 20):
            got.append(len(data))


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


def test_an_archive_of_one_file_is_a_part_and_the_files_of_a_larger_one_are_parts_of_its_edition(tmp_path: Path) -> None:
    line = b'{"id": "a"}\n'
    put(tmp_path, "v1/one.zip", packed({"folder/": b"", "folder/one.json": line}))
    put(tmp_path, "v1/more.bin", packed({"b\\2.json": line, "b/10.json": line, "a.json": line}))
    assert keys(tmp_path) == ["v1/more.bin/a.json", "v1/more.bin/b/2.json", "v1/more.bin/b/10.json", "v1/one.zip"]
    assert {part.edition for part in list_parts(folder_at(tmp_path / "dumps"))} == {"v1"}


def test_what_is_no_part_outside_an_archive_is_none_inside(tmp_path: Path) -> None:
    junk = {"__MACOSX/v1/._a.json": b"x", "v1/.DS_Store": b"x", "README.md": b"x", "v1/a.json.md5": b"x"}
    put(tmp_path, "a.zip", packed({**junk, "v1/a.json": b'{"id": "a"}\n'}))
    assert keys(tmp_path) == ["a.zip"]
    put(tmp_path, "b.zip", packed({"README.md": b"x"}))
    with pytest.raises(SourceError, match=r"b\.zip holds no part"):
        keys(tmp_path)


@pytest.mark.parametrize("data", [packed({}), packed({".DS_Store": b"x"})], ids=["empty", "hidden"])
def test_an_archive_of_nothing_is_said_in_one_line(tmp_path: Path, data: bytes) -> None:
    put(tmp_path, "a.zip", data)
    with pytest.raises(SourceError, match=r"a\.zip holds no") as fault:
        keys(tmp_path)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("inside", "method", "format"),
    [
        (LINES, zipfile.ZIP_DEFLATED, "oag-jsonl+zip"),
        (LINES, zipfile.ZIP_STORED, "oag-jsonl+zip"),
        (gzip.compress(LINES), zipfile.ZIP_STORED, "oag-jsonl+zip+gzip"),
        (zstandard.compress(LINES), zipfile.ZIP_DEFLATED, "oag-jsonl+zip+zstd"),
        (b"", zipfile.ZIP_DEFLATED, "oag-jsonl+zip"),
    ],
    ids=["deflated", "stored", "gzip inside", "zstd inside", "empty"],
)
def test_a_file_in_an_archive_gives_the_rows_of_the_plain_one(tmp_path: Path, lake: Lake, inside: bytes, method: int, format: str) -> None:
    plain, key = Lake.create(tmp_path / "plain", 2), "a.zip/the part.json"
    put(tmp_path, "a.zip", packed({"other.json": b'{"id": 1}', "the part.json": inside}, method))
    part = part_of(tmp_path, key)
    assert part.known.format == format
    done = ingest_part(lake, part, SMALL, RUN)
    put(tmp_path, "plain.json", LINES if inside else b"")
    alone = ingest_part(plain, part_of(tmp_path, "plain.json"), SMALL, RUN)
    assert (done.lines, done.uncompressed_bytes) == (alone.lines, alone.uncompressed_bytes)
    for name in ("records", "rejects"):
        assert rows(lake, name).drop("dump_part").equals(rows(plain, name).drop("dump_part"))
    for reject in rows(lake, "rejects").iter_rows(named=True):
        found = read_line(part, reject["byte_offset"], reject["byte_length"])
        assert found == LINES[reject["byte_offset"] :][: reject["byte_length"]]


def test_a_file_packed_by_zstandard_is_read_though_the_standard_library_can_not_write_it(tmp_path: Path, lake: Lake) -> None:
    squeezed = zstandard.compress(LINES)
    archive = packed({"a.json": squeezed}, zipfile.ZIP_STORED)
    archive = archive[:METHOD] + b"\x5d\x00" + archive[METHOD + 2 :]
    archive = edited(archive, LISTED_METHOD, b"\x5d\x00")
    archive = edited(archive, LISTED_CRC, zlib.crc32(LINES).to_bytes(4, "little"))
    archive = edited(archive, LISTED_SIZE, len(LINES).to_bytes(4, "little"))
    put(tmp_path, "a.zip", archive)
    assert ingest_part(lake, part_of(tmp_path, "a.zip"), SMALL, RUN).records == 300


def test_a_change_of_one_file_in_an_archive_is_a_change_of_its_part_alone(tmp_path: Path) -> None:
    put(tmp_path, "a.zip", packed({"1.json": b'{"id": 1}', "2.json": b'{"id": 2}'}))
    before = [inspect_part(part).version for part in list_parts(folder_at(tmp_path / "dumps"))]
    put(tmp_path, "a.zip", packed({"0.md": b"about", "1.json": b'{"id": 1}', "2.json": b'{"id": 3}'}))
    after = [inspect_part(part).version for part in list_parts(folder_at(tmp_path / "dumps"))]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False]


@pytest.mark.parametrize("files", [{"a.json": LINES}, {"a.json": LINES, "b.json": LINES}], ids=["one", "two"])
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED], ids=["deflated", "stored"])
def test_an_archive_that_is_cut_off_anywhere_commits_nothing(tmp_path: Path, lake: Lake, files: dict[str, bytes], method: int) -> None:
    whole = packed(files, method)
    for length in sorted({45, 100, len(whole) // 3, len(whole) - 60, len(whole) - 22, len(whole) - 1}):
        put(tmp_path, "a.zip", whole[:length])
        with pytest.raises(SourceError, match="cut off or damaged") as fault:
            ingest_part(lake, part_of(tmp_path, "a.zip"), SMALL, RUN)
        assert "\n" not in str(fault.value)
    assert rows(lake, "records").height == rows(lake, "rejects").height == 0


def test_a_cut_off_archive_is_still_known_for_what_it_is_so_that_it_fails_alone(tmp_path: Path) -> None:
    put(tmp_path, "a.zip", packed({"a.json": LINES})[:-30])
    assert part_of(tmp_path, "a.zip").known.format == "oag-jsonl+zip"


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_byte_in_a_packed_file_is_noticed(tmp_path: Path, seed: int) -> None:
    archive = bytearray(packed({"a.json": LINES}))
    (member,) = members(put(tmp_path, "a.zip", bytes(archive)))
    at = random.Random(seed).randrange(member._start(), member._start() + member.size)
    archive[at] ^= 1 << seed % 8
    (member,) = members(put(tmp_path, "a.zip", bytes(archive)))
    with pytest.raises(SourceError, match="cut off or damaged"):
        unpack(member, [])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda archive: edited(archive, LISTED_FLAGS, b"\x01\x00"), "is encrypted; unpack the archive"),
        (lambda archive: edited(archive, LISTED_METHOD, b"\x09\x00"), "packed by deflate64, which is not read; unpack"),
        (lambda archive: edited(archive, LISTED_METHOD, b"\x61\x00"), "packed by method 97, which is not read; unpack"),
        (lambda archive: archive[:FLAGS] + b"\x01" + archive[FLAGS + 1 : -30], "is encrypted; unpack the archive"),
    ],
    ids=["encrypted", "deflate64", "unknown method", "encrypted and cut off"],
)
def test_what_can_not_be_unpacked_is_said_in_one_line(tmp_path: Path, change: object, said: str) -> None:
    put(tmp_path, "a.zip", change(packed({"a.json": LINES})))  # type: ignore[operator]
    with pytest.raises(SourceError, match=said) as fault:
        keys(tmp_path)
    assert str(fault.value).startswith("a.zip/a.json ")
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.zip", b"", "a.zip is empty"),
        ("a.json.GZ", b"", "is empty"),
        ("a.zst", b"", "is empty"),
        ("a.zip", b"PK\x03\x04", "a.zip begins as a zip archive does, and holds none"),
        ("a.zip", b"PK\x03\x04" + random.Random(1).randbytes(4_000), "a.zip begins as a zip archive does, and holds none"),
        ("a.zip", b"PK\x03\x04" + random.Random(2).randbytes(4_000), "a.zip begins as a zip archive does, and holds none"),
        ("a.zip", packed({"a.json": LINES})[:20], "a.zip begins as a zip archive does, and holds none"),
    ],
)
def test_what_is_called_an_archive_and_is_none_is_said_to_be_none(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    put(tmp_path, name, data)
    with pytest.raises(SourceError, match=said):
        keys(tmp_path)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    put(tmp_path, "a.zip", packed({"a.json": b"1", "b.json": b"2"}).replace(b"b.json", b"a.json"))
    with pytest.raises(SourceError, match="two files of one name"):
        keys(tmp_path)


def test_files_that_share_their_bytes_are_a_trap(tmp_path: Path) -> None:
    archive = packed({"a.json": LINES, "b.json": LINES})
    second = archive.index(b"PK\x01\x02", archive.index(b"PK\x01\x02") + 4)
    put(tmp_path, "a.zip", archive[: second + 42] + b"\x00" * 4 + archive[second + 46 :])  # both begin at byte 0
    with pytest.raises(SourceError, match="lie over one another"):
        keys(tmp_path)


def test_a_file_that_unpacks_to_more_than_its_archive_says_is_refused_before_all_of_it_is_read(tmp_path: Path) -> None:
    archive = edited(packed({"a.json": b" " * (50 << 20)}), LISTED_SIZE, (1 << 20).to_bytes(4, "little"))
    (member,) = members(put(tmp_path, "a.zip", archive))
    got: list[int] = []
    with pytest.raises(SourceError, match="cut off or damaged"):
        unpack(member, got)
    assert sum(got) <= 1 << 20


def test_a_bomb_is_read_in_bounded_memory(tmp_path: Path, lake: Lake) -> None:
    one_line = 64 << 20
    file = put(tmp_path, "a.zip", packed({"a.json": b'{"id": "' + b"0" * one_line}))
    assert file.size < 1 << 17
    reading = Reading(workers=1, block_bytes=1 << 20, max_line_bytes=1 << 20)
    part = part_of(tmp_path, "a.zip")
    tracemalloc.start()
    done = ingest_part(lake, part, reading, RUN)
    assert tracemalloc.get_traced_memory()[1] < 32 << 20
    tracemalloc.stop()
    assert isinstance(done, Ingested)
    assert (done.reasons, done.uncompressed_bytes) == ({"too_long": 1}, one_line + 8)


def test_a_part_that_was_in_an_archive_and_is_no_more_is_gone(tmp_path: Path) -> None:
    put(tmp_path, "a.zip", packed({"1.json": b'{"id": 1}', "2.json": b'{"id": 2}'}))
    assert isinstance(part_file(folder_at(tmp_path / "dumps"), "a.zip/2.json").data, Member)
    put(tmp_path, "a.zip", packed({"1.json": b'{"id": 1}'}))
    for key in ("a.zip/2.json", "a.zip/1.json", "b.zip/1.json"):
        with pytest.raises(SourceError, match="is gone from"):
            part_file(folder_at(tmp_path / "dumps"), key)
    assert part_of(tmp_path, "a.zip").key == "a.zip"
