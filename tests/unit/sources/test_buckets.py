"""A dump in a bucket is the dump in a folder: the same parts, the same rows, and one line where it can't be read."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from scholarlake.errors import SourceError
from scholarlake.lake.home import Lake
from scholarlake.sources import buckets
from scholarlake.sources.buckets import Object
from scholarlake.sources.dumps import Part, inspect_part, list_parts, part_file
from scholarlake.sources.files import CHUNK_BYTES, folder_at
from scholarlake.sources.ingest import ingest_part, read_line
from tests.unit.sources import bucket_server
from tests.unit.sources.bucket_server import CUT_OFF, Store
from tests.unit.sources.test_archives import packed
from tests.unit.sources.test_ingest import RUN, SMALL, files_in, lines_of, rows

LINES = lines_of(3000)
SCHEMES = ("s3", "gs")


@pytest.fixture
def store() -> Iterator[Store]:
    with bucket_server.running() as found:
        yield found


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


def part_of(store: Store, data: bytes, key: str = "v1/part.json", scheme: str = "s3") -> Part:
    store.put(f"dumps/oag/{key}", data)
    return inspect_part(part_file(folder_at(f"{scheme}://dumps/oag"), key))


def one_line(fault: pytest.ExceptionInfo[SourceError]) -> str:
    assert "\n" not in str(fault.value)
    return str(fault.value)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_parts_of_a_bucket_are_those_of_the_same_folder(store: Store, tmp_path: Path, scheme: str) -> None:
    names = ["v3.10/p_2.json", "v3.2/p_10.json", "v3.2/p_9.json", "flat.json", "a folder/o'brien + 100%25.json", "README.md", ".git/x"]
    names += ["_temporary/0/x.json", "v1/x.json.md5", "v2/深.json"]
    two = packed({"1.json": b'{"id": 1}', "2.json": b'{"id": 2}'})
    for name, data in [*((name, b'{"id": "a"}\n') for name in names), ("v1/two.zip", two)]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        store.put(f"dumps/oag/{name.replace('%', '%25').replace(' ', '%20').replace('深', '%E6%B7%B1')}", data)
    for name in ("oag/v3.2/", "elsewhere/x.json", "oagother/x.json"):  # a folder's marker, and neighbours
        store.put(f"dumps/{name}", b"")
    near, far = (list_parts(folder_at(where)) for where in (tmp_path, f"{scheme}://dumps/oag/"))
    assert [(part.key, part.edition, part.bytes) for part in far] == [(part.key, part.edition, part.bytes) for part in near]
    assert [inspect_part(part).known.format for part in far] == [inspect_part(part).known.format for part in near]
    assert all(part_file(folder_at(f"{scheme}://dumps/oag"), part.key) == part for part in far)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "pack",
    [bytes, gzip.compress, zstandard.compress, lambda data: packed({"a.json": data}), lambda data: packed({"a.json": data, "b": b""})],
    ids=["plain", "gzip", "zstd", "zip of one", "zip of two"],
)
def test_an_object_gives_the_rows_of_the_file(
    store: Store, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(buckets, "RANGE_BYTES", 10_000)
    data = pack(LINES)
    key = "a/part.zip/a.json" if data.count(b"PK\x03\x04") == 2 else "a/part.zip"
    store.put("dumps/oag/a/part.zip", data)
    part = inspect_part(part_file(folder_at(f"{scheme}://dumps/oag"), key))
    done = ingest_part(lake, part, SMALL, RUN)
    near, path = Lake.create(tmp_path / "near", 2), tmp_path / "dumps" / "a" / "part.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    alone = ingest_part(near, inspect_part(part_file(folder_at(tmp_path / "dumps"), key)), SMALL, RUN)
    assert (done.checksum, done.bytes, done.uncompressed_bytes) == (alone.checksum, alone.bytes, alone.uncompressed_bytes)
    for name in ("records", "rejects"):
        assert rows(lake, name).height > 2
        assert rows(lake, name).equals(rows(near, name))
    reject = rows(lake, "rejects").row(2, named=True)
    assert read_line(part, reject["byte_offset"], reject["byte_length"]) == b'{"id": "x", "tit'


def test_an_object_is_fetched_once_in_ranges_and_no_more_of_them_than_asked_ahead(
    store: Store, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "RANGE_BYTES", 10_000)
    part = part_of(store, LINES)
    store.forget()
    ingest_part(lake, part, SMALL, RUN)
    ranges = [asked for method, _, asked in store.asked if method == "GET"]
    assert len(ranges) == -(-len(LINES) // 10_000)
    assert len(set(ranges)) == len(ranges)
    assert store.sent == len(LINES)
    store.forget()
    chunks = part.file.data.chunks(0, len(LINES))
    next(chunks)
    chunks.close()
    assert len(store.asked) <= buckets.RANGES_AHEAD


def test_chunks_are_small_whatever_the_ranges_are(store: Store) -> None:
    part = part_of(store, LINES * 5)
    assert max(len(chunk) for chunk in part.file.data.chunks(0, part.file.bytes)) == CHUNK_BYTES


def test_several_processes_read_what_one_fetches(store: Store, lake: Lake, tmp_path: Path) -> None:
    part = part_of(store, LINES)
    store.forget()
    ingest_part(lake, part, SMALL.model_copy(update={"workers": 2}), RUN)
    assert store.sent == len(LINES)
    near = Lake.create(tmp_path / "near", 2)
    path = tmp_path / "v1" / "part.json"
    path.parent.mkdir()
    path.write_bytes(LINES)
    ingest_part(near, inspect_part(part_file(folder_at(tmp_path), "v1/part.json")), SMALL, RUN)
    assert rows(lake, "records").equals(rows(near, "records"))


def test_a_far_part_is_known_by_its_etag_and_its_size_and_looked_at_by_its_head_alone(
    store: Store, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "RANGE_BYTES", 10_000)
    first = part_of(store, LINES * 20)
    store.forget()
    again = part_of(store, LINES * 20)
    assert (again.version, again.checksum) == (first.version, None)
    assert store.sent < len(LINES) * 20
    assert part_of(store, LINES * 20 + b"\n").version != first.version
    assert part_of(store, LINES * 20).version == first.version
    assert len(first.version) == 32


def test_an_object_whose_bytes_are_not_those_that_were_read_under_its_etag_is_refused(store: Store, lake: Lake) -> None:
    part = part_of(store, LINES)
    right = ingest_part(lake, part, SMALL, RUN).checksum
    assert ingest_part(lake, Part(part.file, right, part.reader, part.compression), SMALL, RUN).checksum == right
    with pytest.raises(SourceError, match="changed while it was read"):
        ingest_part(lake, Part(part.file, "0" * 32, part.reader, part.compression), SMALL, RUN)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: packed({"a.json": data})], ids=["plain", "gzip", "zip"])
@pytest.mark.parametrize("how", ["changed", "is gone"])
def test_an_object_that_changes_or_vanishes_while_it_is_read_commits_nothing(
    store: Store, lake: Lake, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes], how: str
) -> None:
    monkeypatch.setattr(buckets, "RANGE_BYTES", 1_000)
    part = part_of(store, pack(LINES))

    def meddle(*_: object) -> None:
        if how == "changed":
            store.put("dumps/oag/v1/part.json", pack(LINES.replace(b"Paper", b"Pager")))
        elif store.asked[-1][0] != "DELETE":
            store.delete("dumps/oag/v1/part.json")

    with pytest.raises(SourceError, match=how) as fault:
        ingest_part(lake, part, SMALL, RUN, meddle)
    assert "part.json" in one_line(fault)
    assert files_in(lake) == 0


def test_an_object_that_changes_after_its_last_byte_was_read_commits_nothing(store: Store, lake: Lake) -> None:
    part = part_of(store, LINES)  # of one range

    def replace(*_: object) -> None:
        store.put("dumps/oag/v1/part.json", LINES + LINES)

    with pytest.raises(SourceError, match="changed while it was read"):
        ingest_part(lake, part, SMALL, RUN, replace)
    assert files_in(lake) == 0


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, lambda data: packed({"a.json": data})], ids=["gzip", "zstd", "zip"])
def test_an_object_that_was_cut_off_before_it_was_put_there_commits_nothing(
    store: Store, lake: Lake, pack: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(SourceError, match="cut off or damaged"):
        ingest_part(lake, part_of(store, pack(LINES)[:-30]), SMALL, RUN)
    assert files_in(lake) == 0


@pytest.mark.parametrize("fault", ["503 Slow Down", "500 Internal Server Error", CUT_OFF])
def test_a_store_that_stumbles_is_asked_again(store: Store, lake: Lake, fault: str) -> None:
    part = part_of(store, LINES)
    store.fails = [fault]
    assert ingest_part(lake, part, SMALL, RUN).records == 3000
    assert store.fails == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_bucket_that_is_not_there_is_said_in_one_line(store: Store, scheme: str) -> None:
    with pytest.raises(SourceError, match=f"there is no bucket of {scheme}://nowhere/oag") as fault:
        list_parts(folder_at(f"{scheme}://nowhere/oag"))
    one_line(fault)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_empty_prefix_is_said_in_one_line(store: Store, scheme: str) -> None:
    with pytest.raises(SourceError, match=f"no part of a dump in {scheme}://dumps/none") as fault:
        list_parts(folder_at(f"{scheme}://dumps/none"))
    one_line(fault)
    with pytest.raises(SourceError, match=r"part x\.json is gone"):
        part_file(folder_at(f"{scheme}://dumps/none"), "x.json")


@pytest.mark.parametrize("answer", ["403 Forbidden", "401 Unauthorized"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_denied_access_is_said_in_one_line_with_what_to_set(store: Store, scheme: str, answer: str) -> None:
    part_of(store, LINES)
    name = {"s3": "AWS_ACCESS_KEY_ID", "gs": "GOOGLE_SERVICE_ACCOUNT"}[scheme]
    store.fails = [answer]
    with pytest.raises(SourceError, match=f"access to {scheme}://dumps/oag is denied .*{name}") as fault:
        list_parts(folder_at(f"{scheme}://dumps/oag"))
    one_line(fault)
    store.fails = []
    part = part_file(folder_at(f"{scheme}://dumps/oag"), "v1/part.json")
    store.fails = [answer]
    with pytest.raises(SourceError, match=f"access to {scheme}://dumps/oag/v1/part.json is denied .*{name}") as fault:
        inspect_part(part)
    one_line(fault)


@pytest.mark.parametrize("where", ["ftp://host/x", "s3://", "s3:///x", "gs://?x", "https://host/x.json"])
def test_an_address_that_is_none_is_said_in_one_line(where: str) -> None:
    with pytest.raises(SourceError, match="is no address of a dump") as fault:
        folder_at(where)
    one_line(fault)


def test_a_store_that_sends_less_than_it_was_asked_for_is_found_out(store: Store) -> None:
    part = part_of(store, b'{"id": "a"}\n')
    file = part.file.data
    assert isinstance(file, Object)
    with pytest.raises(SourceError, match="gave 12 bytes where 20 were asked for"):
        Object(file.folder, file.path, 20, file.etag).read(0, 20)
