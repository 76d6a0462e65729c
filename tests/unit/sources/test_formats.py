"""The same papers, whatever dump they come in: read whole, with every field that the dump has."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.lake import delta
from scholarlake.lake.contracts import RECORDS, REJECTS
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from scholarlake.profile import Reading
from scholarlake.sources.blocks import REASONS, Parsed, parse_block
from scholarlake.sources.dumps import inspect_part, list_parts, part_file
from scholarlake.sources.files import folder_at
from scholarlake.sources.ingest import Ingested, ingest_part
from scholarlake.sources.readers import FORMATS, Reader
from scholarlake.sources.recognition import recognise
from scholarlake.sources.record import FLAGS
from scholarlake.sources.units import Origin
from tests.unit.sources.spellings import SPELLINGS, Paper

REAL = Path(__file__).resolve().parents[4] / "shared" / "real"
RECORDS_NONE, REJECTS_NONE = pl.DataFrame(schema=RECORDS.schema), pl.DataFrame(schema=REJECTS.schema)
ORIGIN = Origin("v1/part", "v1", "code-1", 2031, 1 << 20)
SMALL = Reading(workers=1, block_bytes=1024, max_line_bytes=1 << 20)
RUN = Commit("run-1", "code-1")


def paper(number: int, **given: Any) -> Paper:
    return {
        "id": str(number),
        "title": f"On the {number}th of many questions",
        "abstract": f"We ask the {number}th question: why?",
        "year": 1990 + number,
        "doi": f"10.1000/q.{number}",
        "venue": "Journal of Questions",
        "authors": ["Ann B. Lee", "Jo Ko"],
        "keywords": ["questions", "answers"],
        "references": [str(number + 1), str(number + 2)],
        "n_citation": number,
        "volume": "7",
        "issue": "2",
        "page_start": "11",
        "page_end": "19",
        "lang": "en",
        "publisher": "A Publisher",
        "url": f"https://example.org/{number}",
    } | given


PAPERS = [
    paper(1),
    paper(2, title="数据库系统的查询优化研究", authors=["王小明", "李华"], venue="计算机学报", abstract="本文研究查询优化。"),
    paper(3, title='Braces {in} "quotes", NumberInt(42) and [brackets]', references=[]),
    paper(4, title="A back\\slash at the end of it \\\\", abstract="x"),
    paper(5, title="深度学习综述", authors=["José Núñez", "张三"], keywords=["学习"]),
]


def read(data: bytes, reader: Reader, origin: Origin = ORIGIN, block_bytes: int = 1 << 20, step: int = 1 << 20) -> Parsed:
    """All blocks of a part as one; proves that each is covered, and that its rows fit the contract."""
    stream = io.BytesIO(data)
    parsed: list[Parsed] = []
    for block in reader.framing.split(lambda size: stream.read(min(size, step)), block_bytes, origin.max_line_bytes, reader.fits):
        found = parse_block(block, origin, reader)
        assert found.lines == found.records.height + found.rejects.height
        assert found.covered == block.stop - block.offset
        assert found.records.schema == RECORDS.schema
        assert found.rejects.schema == REJECTS.schema
        assert set(found.reasons) <= set(REASONS)
        assert set(found.flags) <= set(FLAGS)
        parsed.append(found)
    records = pl.concat([RECORDS_NONE, *(found.records for found in parsed)])
    rejects = pl.concat([REJECTS_NONE, *(found.rejects for found in parsed)])
    assert sum(found.between for found in parsed) + sum(frame["byte_length"].sum() for frame in (records, rejects)) == len(data)
    return Parsed(
        records,
        rejects,
        lines=sum(found.lines for found in parsed),
        covered=sum(found.covered for found in parsed),
        between=sum(found.between for found in parsed),
        reasons=sum((found.reasons for found in parsed), Counter()),
        flags=sum((found.flags for found in parsed), Counter()),
    )


def reader_of(data: bytes) -> Reader:
    found = recognise(data)
    assert isinstance(found, Reader)
    return found


@pytest.mark.parametrize("name", SPELLINGS)
def test_the_same_papers_are_read_from_every_spelling(name: str) -> None:
    spelling = SPELLINGS[name]
    data = spelling.write(PAPERS)
    reader = reader_of(data)
    assert reader.name == spelling.format
    parsed = read(data, reader)
    assert parsed.rejects.is_empty()
    assert parsed.flags == Counter()
    rows = parsed.records.to_dicts()
    assert {row["method"] for row in rows} == {spelling.format}
    for field in spelling.keeps - {"authors", "references"}:
        assert [row[field] for row in rows] == [given[field] for given in PAPERS], field
    if "authors" in spelling.keeps:
        assert [[author["name"] for author in row["authors"]] for row in rows] == [given["authors"] for given in PAPERS]
    if "references" in spelling.keeps:
        prefix = "W" if reader.name.startswith("openalex") else ""
        assert [row["references"] for row in rows] == [[prefix + reference for reference in given["references"]] for given in PAPERS]
        assert set(rows[0]["references"]) & {row["record_id"] for row in rows}, "ids have one spelling on both sides of a reference"


@pytest.mark.parametrize("name", SPELLINGS)
def test_the_bytes_of_a_record_are_where_it_says_they_are(name: str) -> None:
    data = SPELLINGS[name].write(PAPERS)
    reader = reader_of(data)
    for row in read(data, reader).records.to_dicts():
        alone = read(data[row["byte_offset"] : row["byte_offset"] + row["byte_length"]], reader).records.to_dicts()
        assert [{**again, "byte_offset": row["byte_offset"]} for again in alone] == [row]


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("block_bytes", [1, 100, 700])
def test_blocks_of_any_size_make_the_same_rows(name: str, block_bytes: int) -> None:
    data = SPELLINGS[name].write(PAPERS)
    data = data[: len(data) // 2] + b'\x00{"]\xff\n\n' + data[len(data) // 2 :]
    reader = FORMATS[SPELLINGS[name].format]
    assert isinstance(reader, Reader)
    whole, pieces = read(data, reader), read(data, reader, block_bytes=block_bytes, step=33)
    assert whole.records.height >= len(PAPERS) - 2
    assert whole.records.equals(pieces.records)
    assert whole.rejects.equals(pieces.rejects)


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_part_that_breaks_off_anywhere_loses_its_last_record_only(name: str) -> None:
    data = SPELLINGS[name].write(PAPERS)
    reader = FORMATS[SPELLINGS[name].format]
    assert isinstance(reader, Reader)
    whole = read(data, reader).records
    for stop in range(0, len(data), 7):
        parsed = read(data[:stop], reader)
        ends = whole["byte_offset"] + whole["byte_length"]
        kept = int((ends <= stop).sum())
        assert parsed.records.head(kept).equals(whole.head(kept))
        assert parsed.lines <= kept + 1
        if reader.name.endswith(("-json", "-jsonl")):
            assert parsed.records.height == kept


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstd"])
def test_every_format_goes_into_a_lake(tmp_path: Path, name: str, pack: Any) -> None:
    lake = Lake.create(tmp_path / "lake", 2)
    data = SPELLINGS[name].write(PAPERS * 20)
    done = ingest(lake, tmp_path, pack(data))
    assert (done.lines, done.records, done.rejects, done.uncompressed_bytes) == (100, 100, 0, len(data))
    assert delta.scan(lake, "records").select("method").unique().collect().item() == SPELLINGS[name].format


@pytest.mark.parametrize("name", ["DBLP V13", "DBLP in GBK"])
def test_several_processes_make_the_rows_that_one_makes(tmp_path: Path, name: str) -> None:
    data = SPELLINGS[name].write(PAPERS * 20)
    found = []
    for workers in (1, 2):
        lake = Lake.create(tmp_path / f"lake-{workers}", 2)
        ingest(lake, tmp_path, data, SMALL.model_copy(update={"workers": workers}))
        found.append(delta.scan(lake, "records").sort("byte_offset").collect())
    assert found[0].equals(found[1])


def ingest(lake: Lake, folder: Path, data: bytes, reading: Reading = SMALL) -> Ingested:
    (folder / "dumps").mkdir(exist_ok=True)
    (folder / "dumps" / "part").write_bytes(data)
    return ingest_part(lake, inspect_part(part_file(folder_at(folder / "dumps"), "part")), reading, RUN)


def test_a_part_of_something_else_is_passed_over_and_its_old_rows_go(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path / "lake", 2)
    assert ingest(lake, tmp_path, SPELLINGS["OAG v3"].write(PAPERS)).records == len(PAPERS)
    done = ingest(lake, tmp_path, b'{"id": 1, "name": "Ann Lee", "n_pubs": 1, "pubs": []}\n' * 50)
    assert (done.passed_over, done.lines, done.records, done.rejects, done.reasons) == ("authors of OAG", 0, 0, 0, {})
    assert delta.scan(lake, "records").collect().is_empty()


REAL_PARTS = {  # file below shared/real: format, records, rejects
    "hepth/hepth_oaglike.jsonl.gz": ("oag-jsonl", 29_555, 0),
    "rcpublications/publications.json": ("publications-json", 2_085, 0),
    "s2orc_metadata/sample.jsonl": ("s2orc-jsonl", 1_000, 0),
    "dblp_v13_cleaned/dblpExample.json": ("oag-json", 4, 0),
    "dblp_v13_cleaned/dblpExampleCleaned.json": ("oag-json", 4, 0),
    "oag_v2/oag_v2.1_mag_paper.jsonl": ("oag-jsonl", 1, 0),
    "oag_v2/oag_v2_aminer_paper.jsonl": ("oag-jsonl", 2, 0),
}


@pytest.mark.parametrize("key", REAL_PARTS)
def test_real_parts_are_read_whole(tmp_path: Path, key: str) -> None:
    path = REAL / key
    if not path.is_file():
        pytest.skip(f"shared/real/{key} is not on this machine")
    (file,) = [file for file in list_parts(folder_at(path.parent)) if file.key == path.name]
    part = inspect_part(file)
    done = ingest_part(Lake.create(tmp_path / "lake", 2), part, Reading(workers=1), RUN)
    assert (part.reader, done.records, done.rejects) == REAL_PARTS[key]


ANY = st.sampled_from([spelling.write(PAPERS[:2]) for spelling in SPELLINGS.values()])
READERS = st.sampled_from([known for known in FORMATS.values() if isinstance(known, Reader)])
TOKENS = st.sampled_from(
    [b"#*", b"#index", b"#%", b"\n", b"\r\n", b"\n\n", b"{", b"}", b"[", b"]", b'"', b"\\", b",", b"\t", b"\x00", b"\xa8\xa6", b"9"]
)


@settings(max_examples=200, deadline=None)
@given(
    reader=READERS,
    pieces=st.lists(
        st.one_of(st.binary(max_size=9), TOKENS, ANY.flatmap(lambda data: st.integers(0, len(data)).map(lambda at: data[at : at + 150]))),
        max_size=9,
    ),
    limit=st.sampled_from([5, 60, 1 << 20]),
    block_bytes=st.integers(1, 300),
    step=st.integers(1, 300),
)
def test_any_bytes_in_any_format_are_records_and_rejects_whatever_the_blocks(
    reader: Reader, pieces: list[bytes], limit: int, block_bytes: int, step: int
) -> None:
    data = b"".join(pieces)
    origin = Origin("p", "e", "c", 2031, limit)
    whole, cut = read(data, reader, origin), read(data, reader, origin, block_bytes, step)
    assert whole.records.equals(cut.records)
    assert whole.rejects.equals(cut.rejects)
    assert whole.between == cut.between
    recognise(data)


def test_a_pretty_printed_record_has_the_fields_of_the_same_record_in_a_line() -> None:
    record = {"id": "a", "title": "A title\nof two lines", "abstract": "With a tab\there", "year": 2001}
    line = read(json.dumps(record).encode(), reader_of(json.dumps(record).encode())).records
    pretty = read(json.dumps([record], indent=4).encode(), reader_of(json.dumps([record], indent=4).encode())).records
    same = [name for name in RECORDS.schema.names() if name not in ("byte_offset", "byte_length", "content_hash", "method")]
    assert line.select(same).equals(pretty.select(same))
