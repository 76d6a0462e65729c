"""A part becomes its partitions of records and rejects: whole, once, or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard

from scholarlake.errors import SourceError
from scholarlake.lake import delta
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from scholarlake.profile import Reading
from scholarlake.sources import ingest
from scholarlake.sources.dumps import Part, inspect_part, list_parts, part_file
from scholarlake.sources.files import LocalFile, folder_at
from scholarlake.sources.ingest import ingest_part, read_line

RUN = Commit("run-1", "code-1")
REAL = Path(__file__).resolve().parents[4] / "shared" / "real"
SMALL = Reading(workers=1, block_bytes=1024, max_line_bytes=1 << 20)


def lines_of(count: int) -> bytes:
    good = [b'{"id": "%d", "title": "Paper %d on something", "references": ["%d"]}' % (n, n, n + 1) for n in range(count)]
    good[3:3] = [b"", b"\\N", b'{"id": "x", "tit']
    return b"\r\n".join(good)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


def part_of(tmp_path: Path, data: bytes, name: str = "v1/part.json") -> Part:
    path = tmp_path / "dumps" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return inspect_part(part_file(folder_at(tmp_path / "dumps"), name))


def path_of(part: Part) -> Path:
    assert isinstance(part.file.data, LocalFile)
    return part.file.data.path


def rows(lake: Lake, name: str) -> pl.DataFrame:
    return delta.scan(lake, name).sort("dump_part", "byte_offset").collect()


def files_in(lake: Lake) -> int:
    return len(list(lake.root.rglob("*.parquet")))


def test_every_line_is_a_record_or_a_reject_and_every_byte_is_covered(lake: Lake, tmp_path: Path) -> None:
    data = lines_of(100)
    told: list[tuple[int, int | None]] = []
    done = ingest_part(lake, part_of(tmp_path, data), SMALL, RUN, lambda at, total, _: told.append((at, total)))
    assert (done.lines, done.records, done.rejects) == (103, 100, 3)
    assert done.reasons == {"blank": 1, "not_json": 1, "truncated": 1}
    assert done.covered_bytes == done.uncompressed_bytes == done.bytes == len(data)
    assert rows(lake, "records").height == 100
    assert rows(lake, "rejects")["reason"].to_list() == ["blank", "not_json", "truncated"]
    assert told[-1] == (len(data), len(data))
    assert done.reject_share == pytest.approx(2 / 102)


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        zstandard.compress,
        lambda data: gzip.compress(data[:999]) + gzip.compress(data[999:]) + b"\x00" * 512,
        lambda data: zstandard.compress(data[:999]) + b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip" + zstandard.compress(data[999:]),
        lambda data: b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip" + zstandard.ZstdCompressor(write_content_size=False).compress(data),
    ],
    ids=["gzip", "zstd", "gzip members", "zstd frames", "zstd behind a skippable frame"],
)
def test_a_packed_part_gives_the_rows_of_the_plain_one(lake: Lake, tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    data = lines_of(200)
    ingest_part(lake, part_of(tmp_path, data), SMALL, RUN)
    plain = rows(lake, "records")
    version = delta.version(lake, "records")
    part = part_of(tmp_path, pack(data))
    done = ingest_part(lake, part, SMALL, RUN)
    assert (done.uncompressed_bytes, done.bytes) == (len(data), part.file.bytes)
    assert rows(lake, "records").equals(plain)
    assert delta.version(lake, "records") == version  # equal rows make no version


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize("cut", [-1, -6, -200])
def test_a_cut_off_part_says_so_and_commits_nothing(lake: Lake, tmp_path: Path, pack: Callable[[bytes], bytes], cut: int) -> None:
    part_of(tmp_path, b"")
    packed = pack(lines_of(3000) + os.urandom(4000).hex().encode())[:cut]
    path = tmp_path / "dumps" / "v1" / "part.json"
    path.write_bytes(packed)
    with pytest.raises(SourceError, match="cut off or damaged") as fault:
        ingest_part(lake, inspect_part(part_file(folder_at(tmp_path / "dumps"), "v1/part.json")), SMALL, RUN)
    assert "\n" not in str(fault.value)
    assert rows(lake, "records").height == 0
    assert files_in(lake) == 0


@pytest.mark.parametrize("data", [b"", b"\n\n", b" \n"])
def test_an_empty_or_blank_part_is_fine(lake: Lake, tmp_path: Path, data: bytes) -> None:
    done = ingest_part(lake, part_of(tmp_path, data), SMALL, RUN)
    assert (done.records, done.rejects, done.reject_share) == (0, data.count(b"\n"), 0)


def test_a_part_of_one_line_works(lake: Lake, tmp_path: Path) -> None:
    assert ingest_part(lake, part_of(tmp_path, b'{"id": 1}'), SMALL, RUN).records == 1


def test_a_part_read_again_replaces_only_itself(lake: Lake, tmp_path: Path) -> None:
    for name in ("o'brien.json", "x' OR '1'='1"):
        ingest_part(lake, part_of(tmp_path, lines_of(20), name), SMALL, RUN)
    ingest_part(lake, part_of(tmp_path, b'{"id": "only"}\n', "o'brien.json"), SMALL, RUN)
    records = rows(lake, "records")
    assert records.group_by("dump_part").len().sort("dump_part").rows() == [("o'brien.json", 1), ("x' OR '1'='1", 20)]
    assert rows(lake, "rejects")["dump_part"].unique().to_list() == ["x' OR '1'='1"]


def test_a_part_that_changed_since_it_was_inspected_is_refused(lake: Lake, tmp_path: Path) -> None:
    part = part_of(tmp_path, lines_of(50))
    for data in (lines_of(50).replace(b"Paper 7", b"Pager 7"), lines_of(51)):
        path_of(part).write_bytes(data)
        with pytest.raises(SourceError, match="changed while it was read"):
            ingest_part(lake, part, SMALL, RUN)
    path_of(part).unlink()
    with pytest.raises(SourceError, match="can't be read"):
        ingest_part(lake, part, SMALL, RUN)
    assert files_in(lake) == 0


def test_a_part_replaced_by_equal_bytes_under_the_reading_is_refused(lake: Lake, tmp_path: Path) -> None:
    part = part_of(tmp_path, lines_of(50))

    def replace(*_: object) -> None:
        aside = path_of(part).with_suffix(".aside")
        aside.write_bytes(path_of(part).read_bytes())
        aside.rename(path_of(part))

    with pytest.raises(SourceError, match="changed while it was read"):
        ingest_part(lake, part, SMALL, RUN, replace)


def test_several_processes_make_the_rows_that_one_makes(lake: Lake, tmp_path: Path) -> None:
    data = lines_of(400)
    ingest_part(lake, part_of(tmp_path, data), SMALL, RUN)
    alone = rows(lake, "records")
    other = Lake.create(tmp_path / "other", 2)
    two = SMALL.model_copy(update={"workers": 2})
    done = ingest_part(other, part_of(tmp_path, data), two, RUN)
    assert done.records == 400
    assert rows(other, "records").equals(alone)
    with gzip.open(tmp_path / "packed.gz", "wb") as stream:
        stream.write(data)
    packed = part_of(tmp_path, (tmp_path / "packed.gz").read_bytes(), "packed.json")
    assert ingest_part(other, packed, two, RUN).records == 400


def test_a_fault_in_a_worker_leaves_no_file_behind(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staged = ingest._stage
    calls: list[int] = []

    def third_fails(*arguments: object) -> object:
        calls.append(1)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return staged(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ingest, "_stage", third_fails)
    with pytest.raises(SourceError, match="No space left"):
        ingest_part(lake, part_of(tmp_path, lines_of(100)), SMALL, RUN)
    assert files_in(lake) == 0


def test_a_reject_can_be_read_from_its_part_again(lake: Lake, tmp_path: Path) -> None:
    part = part_of(tmp_path, gzip.compress(lines_of(10)))
    ingest_part(lake, part, SMALL, RUN)
    found = rows(lake, "rejects").row(2, named=True)
    assert read_line(part, found["byte_offset"], found["byte_length"]) == b'{"id": "x", "tit'


@pytest.mark.skipif(not (REAL / "hepth").is_dir(), reason="shared/real/hepth is not on this machine")
def test_the_real_hepth_dump_loads_whole(lake: Lake) -> None:
    (file,) = list_parts(folder_at(REAL / "hepth"))
    done = ingest_part(lake, inspect_part(file), Reading(workers=1), RUN)
    assert (done.lines, done.records, done.rejects, done.flags) == (29_555, 29_555, 0, {})
    records = delta.scan(lake, "records")
    assert records.select(pl.col("references").list.len().sum()).collect().item() == 352_807
    assert records.select(pl.col("record_id").n_unique()).collect().item() == 29_555
    assert records.filter(pl.col("abstract").is_null() | pl.col("title").is_null() | pl.col("year").is_null()).collect().height == 0
    assert records.filter(pl.col("author_keys").list.len() == 0).collect().height < 30


@pytest.mark.skipif(not (REAL / "oag_v2").is_dir(), reason="shared/real/oag_v2 is not on this machine")
def test_the_real_oag_v2_samples_load_and_files_of_other_things_are_passed_over(lake: Lake) -> None:
    done = [ingest_part(lake, inspect_part(file), SMALL, RUN) for file in list_parts(folder_at(REAL / "oag_v2"))]
    assert [(read.passed_over, read.records) for read in done] == [
        ("affiliations of OAG", 0),
        ("authors of OAG", 0),
        ("", 1),
        ("venues of OAG", 0),
        ("", 2),
    ]
    records = {row["record_id"]: row for row in rows(lake, "records").to_dicts()}
    assert set(records) == {"2507145174", "53a7258520f7420be8b514a9", "53a7280320f7420be8ba5e96"}
    paper = records["2507145174"]
    assert paper["abstract"].startswith("To better understand the contribution of methyl-lysine")
    assert paper["doi"] == "10.1021/acs.jmedchem.6b00801"
    assert (paper["venue"], paper["venue_id"]) == ("Journal of Medicinal Chemistry", "162030435")
    assert paper["authors"][0]["org"].endswith("United States.")
    assert len(paper["references"]) == 27
    assert paper["flags"] == []
    assert records["53a7280320f7420be8ba5e96"]["title_fingerprint"] is None  # "Parsing."
    assert rows(lake, "rejects").is_empty()
