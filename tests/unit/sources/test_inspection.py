"""What a file is, is said before it is in a lake, by the readers that would read it: the same counts, the same rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scholarlake.documents.inspection import DocumentsFound
from scholarlake.errors import SourceError
from scholarlake.inspection import Found, Unread, inspect
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from scholarlake.profile import Documents, Reading
from scholarlake.sources.inspection import FIELDS, PartFound
from tests.unit.sources import bucket_server
from tests.unit.sources.spellings import SPELLINGS
from tests.unit.sources.test_archives import packed
from tests.unit.sources.test_formats import PAPERS, ingest
from tests.unit.sources.test_ingest import lines_of

READING = Reading(workers=1, block_bytes=1024)  # type: ignore[call-arg]
DOCUMENTS = Documents()  # type: ignore[call-arg]
SAMPLE = Path(__file__).resolve().parents[3] / "data" / "sample"


def looked(where: Path | str, **how: Any) -> list[Found]:
    return list(inspect(str(where), READING, DOCUMENTS, **how))


def part(path: Path, data: bytes, **how: Any) -> PartFound:
    path.write_bytes(data)
    (found,) = looked(path, **how)
    assert isinstance(found, PartFound)
    return found


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_part_is_said_to_hold_what_a_lake_then_holds_of_it(tmp_path: Path, name: str, pack: Any) -> None:
    data = SPELLINGS[name].write(PAPERS * 9)
    data = data[: len(data) // 2] + b"\x00{]\n\n" + data[len(data) // 2 :]
    found = part(tmp_path / "part", pack(data))
    lake = Lake.create(tmp_path / "lake", 2)
    done = ingest(lake, tmp_path, pack(data))
    assert found.format == SPELLINGS[name].format
    assert (found.lines, found.records, found.rejects) == (done.lines, done.records, done.rejects)
    assert {reason: one.lines for reason, one in found.refused.items()} == done.reasons
    assert (found.flags, found.uncompressed_bytes, found.is_whole) == (done.flags, len(data), True)
    stored = delta.scan(lake, "records").sort("byte_offset").collect()
    same = [column for column in stored.columns if column != "code_version"]
    assert [{column: row[column] for column in same} for row in found.examples] == stored.select(same).head(3).to_dicts()
    rejects = delta.scan(lake, "rejects").sort("byte_offset").collect()
    for reason, one in found.refused.items():
        offsets = [row["byte_offset"] for row in rejects.to_dicts() if row["reason"] == reason]
        assert [row["byte_offset"] for row in one.first] == offsets[:3]
    for field in FIELDS:
        values = stored[field].to_list()
        assert found.fields[field].records == sum(value not in (None, []) for value in values), field
        assert found.fields[field].items == (sum(map(len, values)) if isinstance(values[0], list) else None)


@pytest.mark.parametrize(
    ("name", "issue"),
    [
        ("OAG v3", "OAG v3.1 or v3.2"),
        ("OAG v2", "OAG v2 or v2.1, papers of MAG"),
        ("OAG v1", "OAG v1"),
        ("DBLP V10", "DBLP V10"),
        ("DBLP V12", "DBLP V11 or V12"),
        ("DBLP V13", "DBLP V13"),
        ("MAG", None),
        ("OpenAlex", None),
    ],
)
def test_the_issue_of_a_dump_is_told_by_its_spelling(tmp_path: Path, name: str, issue: str | None) -> None:
    assert part(tmp_path / "part", SPELLINGS[name].write(PAPERS)).issue == issue


def test_how_a_file_is_packed_and_encoded_is_said(tmp_path: Path) -> None:
    found = part(tmp_path / "a", gzip.compress(b"\xef\xbb\xbf" + SPELLINGS["DBLP V5 with CRLF"].write(PAPERS)))
    assert (found.compression, found.encoding, found.line_ends, found.has_byte_order_mark) == ("gzip", "UTF-8", "CRLF", True)
    assert found.framing == "paragraphs with tags"
    assert part(tmp_path / "b", SPELLINGS["DBLP in GBK"].write(PAPERS)).encoding.startswith("GBK")


def test_several_processes_count_what_one_counts(tmp_path: Path) -> None:
    alone = part(tmp_path / "part", lines_of(400))
    (found,) = inspect(str(tmp_path / "part"), READING.model_copy(update={"workers": 2}), DOCUMENTS)
    assert found == alone


def test_a_limit_leaves_the_rest_unread(tmp_path: Path) -> None:
    data = lines_of(400)
    found = part(tmp_path / "part", data, most=20)
    assert 20 <= found.lines < 100
    assert not found.is_whole
    assert 0 < found.uncompressed_bytes < len(data)
    assert part(tmp_path / "part", data, most=10_000).is_whole


def test_progress_is_told_up_to_the_end(tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    data = lines_of(100)
    part(tmp_path / "part", data, progress=lambda done, total, _: told.append((done, total)))
    assert told[-1] == (len(data), len(data))
    assert told == sorted(told)


def test_what_holds_no_papers_is_named_and_not_read(tmp_path: Path) -> None:
    found = part(tmp_path / "part", b'{"id": 1, "name": "Ann Lee", "n_pubs": 1, "pubs": []}\n' * 50)
    assert (found.passed_over, found.lines) == ("authors of OAG", 0)


@pytest.mark.parametrize("data", [b"", b"\n", b"[]"])
def test_an_empty_file_is_no_fault(tmp_path: Path, data: bytes) -> None:
    assert part(tmp_path / "part", data).records == 0


def test_a_full_text_is_shown_by_sections_and_sentences() -> None:
    (found,) = looked(SAMPLE / "documents" / "jats" / "article-01.xml.gz")
    assert isinstance(found, DocumentsFound)
    assert (found.formats, found.compression, found.documents) == ({"jats": 1}, "gzip", 1)
    (shown,) = found.examples
    assert shown.title
    assert len(shown.sections) > 1
    assert shown.sentences_in_all == found.sentences > len(shown.sentences) > 0
    assert shown.paragraphs[0].startswith(shown.sentences[0])
    assert found.blocks["paragraph"] >= 2


def test_a_folder_is_looked_at_file_by_file_and_archives_too(tmp_path: Path) -> None:
    (tmp_path / "v2").mkdir()
    (tmp_path / "v2" / "a.json").write_bytes(lines_of(10))
    (tmp_path / "b.zip").write_bytes(packed({"1.json": b'{"id": 1}', "paper.md": b"# A title\n\nSome text. And more.\n", "README": b"x"}))
    (tmp_path / "c.bin").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "d.gz").write_bytes(gzip.compress(lines_of(3000))[:-9])
    (tmp_path / "README.md").write_text("about it")
    found = {one.key: one for one in looked(tmp_path)}
    assert list(found) == ["b.zip/1.json", "b.zip/paper.md", "c.bin", "d.gz", "v2/a.json"]
    assert [type(one) for one in found.values()] == [PartFound, DocumentsFound, Unread, Unread, PartFound]
    assert isinstance(one := found["v2/a.json"], PartFound)
    assert (one.records, one.rejects, one.examples[0]["edition"]) == (10, 3, "v2")
    for key, said in (("c.bin", "in no known format"), ("d.gz", "cut off or damaged")):
        assert isinstance(unread := found[key], Unread)
        assert said in unread.why
        assert key in unread.why
        assert "\n" not in unread.why
    assert len({json.dumps(one.to_dict()) for one in found.values()}) == 5


def test_a_plain_abstract_of_unknown_json_names_its_fields(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"alpha": 1, "beta": 2}')
    (found,) = looked(tmp_path / "x.json")
    assert isinstance(found, Unread)
    assert "objects with the fields alpha, beta" in found.why


@pytest.mark.parametrize(("where", "said"), [("nowhere", "no file or folder"), ("ftp://a/b", "no address of a dump")])
def test_what_is_not_there_is_said_in_one_line(tmp_path: Path, where: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        looked(where)
    with pytest.raises(SourceError, match="holds no file"):
        looked(tmp_path)


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_an_object_and_a_prefix_of_a_bucket_are_looked_at_where_they_lie(scheme: str) -> None:
    with bucket_server.running() as store:
        store.put("dumps/oag/v1/a.json.gz", gzip.compress(lines_of(50)))
        store.put("dumps/oag/b.json", lines_of(5))
        (one,) = looked(f"{scheme}://dumps/oag/v1/a.json.gz")
        assert isinstance(one, PartFound)
        assert (one.key, one.compression, one.records, one.rejects) == ("a.json.gz", "gzip", 50, 3)
        found = looked(f"{scheme}://dumps/oag")
        assert [one.key for one in found] == ["b.json", "v1/a.json.gz"]
        assert [one.records for one in found if isinstance(one, PartFound)] == [5, 50]
        with pytest.raises(SourceError, match="holds no file"):
            looked(f"{scheme}://dumps/elsewhere")
