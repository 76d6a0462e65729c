"""From the document folder to the sentence maps of a lake: matched, taken, accounted for, and only what changed is made again."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

from scholarlake.documents import folder, invariants
from scholarlake.documents.ingest import SourcesReport, build_sources
from scholarlake.documents.maps import PAPER_ABSTRACT, build_documents, build_sentences
from scholarlake.documents.matching import MatchReport, build_fulltexts
from scholarlake.errors import LakeError, SourceError
from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import stable_key
from scholarlake.lake.home import Lake
from scholarlake.sources.authors import author_keys
from scholarlake.sources.titles import fingerprint
from scholarlake.sources.watch import THOROUGH, Attention
from tests.unit.documents.making import jats
from tests.unit.small_lake import COMMIT, frame

RECORDS: list[dict[str, Any]] = [
    {"record_id": "r1", "paper_id": "p1", "title": "Growth of crystals in water", "doi": "10.1234/one", "year": 2010},
    {"record_id": "p1", "paper_id": "p1", "title": "Growth of crystals in water", "doi": "10.1234/one", "year": 2010},
    {"record_id": "p2", "paper_id": "p2", "title": "Decay of particles at rest", "doi": None, "year": 2000, "authors": ["Ana Bell"]},
    {"record_id": "p3", "paper_id": "p3", "title": "Songs of birds in spring", "doi": "10.1234/three", "year": 1999},
    {"record_id": "p4", "paper_id": "p4", "title": "Twins of a common name", "doi": "10.1234/four", "year": 2005},
    {"record_id": "p5", "paper_id": "p5", "title": "Twins of a common name", "doi": "10.1234/five", "year": 2005},
    {
        "record_id": "p6",
        "paper_id": "p6",
        "title": "Of an abstract alone",
        "doi": None,
        "year": 2001,
        "abstract": "It is short. It is all.",
    },
]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A corpus of six papers, one of which has two records."""
    made = Lake.create(tmp_path / "lake", 2)
    rows = [
        {
            **record,
            "dump_part": "a",
            "byte_offset": place,
            "byte_length": 1,
            "record_key": stable_key(record["record_id"]),
            "title_fingerprint": fingerprint(record["title"]),
            "author_keys": author_keys([(None, name, None, None) for name in record.get("authors", ())]),
            "authors": [],
            "shard": made.shard_of(record["paper_id"]),
            "is_current": True,
            "copies": 1,
            "rule": "same_id",
        }
        for place, record in enumerate(RECORDS)
    ]
    delta.write_partition(made, "records", "a", frame("records", rows), COMMIT)
    for shard in made.shard_keys:
        mine = [row for row in rows if row["shard"] == shard]
        delta.write_partition(made, "identities", shard, frame("identities", mine), COMMIT)
        papers = {row["paper_id"]: {**row, "record_ids": [row["record_id"]]} for row in mine}
        delta.write_partition(made, "papers", shard, frame("papers", papers.values()), COMMIT)
    return made


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "documents").mkdir()
    return tmp_path / "documents"


def article(title: str = "", doi: str = "", text: str = "The text. It is long.", year: str = "", author: str = "") -> str:
    front = f"<title-group><article-title>{title}</article-title></title-group>"
    front += f'<article-id pub-id-type="doi">{doi}</article-id>' if doi else ""
    front += f"<pub-date><year>{year}</year></pub-date>" if year else ""
    name = f"<name><surname>{author}</surname><given-names>Ana</given-names></name>"
    front += f"<contrib-group><contrib>{name}</contrib></contrib-group>" if author else ""
    return jats(f"<p>{text}</p>", front=front)


def read_folder(lake: Lake, files: Path | None, max_bytes: int = 1 << 20) -> SourcesReport:
    seen = folder.look(lake, files)
    folder.keep(lake, seen)
    return build_sources(lake, files, folder.seen_files(lake, seen.version), workers=1, max_bytes=max_bytes, run=COMMIT)


def build(lake: Lake, files: Path, selected: tuple[str, ...] = ()) -> MatchReport:
    read_folder(lake, files)
    report = build_fulltexts(lake, COMMIT)
    for shard in lake.shard_keys:
        build_documents(lake, shard, pl.DataFrame({"paper_id": selected}, schema={"paper_id": pl.String}), COMMIT)
        build_sentences(lake, shard, COMMIT)
    return report


def matches(lake: Lake) -> dict[str, tuple[str | None, str | None, str]]:
    rows = lake.scan("document_matches").select("file", "paper_id", "rule", "outcome").collect()
    return {row[0]: row[1:] for row in rows.iter_rows()}


def claims(lake: Lake, files: int) -> list[str]:
    """The names of all claims that do not hold."""
    found = [
        invariants.every_file_is_accounted_for(lake, files),
        invariants.every_document_is_decided(lake),
        invariants.one_text_a_paper(lake),
    ]
    each = (
        invariants.documents_are_those_chosen,
        invariants.offsets_are_exact,
        invariants.sentence_ids_are_dense,
        invariants.every_document_is_mapped,
    )
    found += [claim(lake, shard) for claim in each for shard in lake.shard_keys]
    return [finding.name for finding in found if not finding.passed]


# -- matching --------------------------------------------------------------------------------------------------------


def test_a_document_is_found_by_the_name_of_its_file_by_its_doi_and_by_its_title(lake: Lake, files: Path) -> None:
    (files / "r1.xml").write_text(article())
    (files / "b.xml").write_text(article("Something of songs", "https://doi.org/10.1234/THREE."))
    (files / "c.md").write_text("# Decay of Particles at Rest!\n\nIt decays.\n")
    assert build(lake, files).rules == {"id": 1, "doi": 1, "title": 1}
    assert matches(lake) == {"r1.xml": ("p1", "id", "taken"), "b.xml": ("p3", "doi", "taken"), "c.md": ("p2", "title", "taken")}
    assert claims(lake, files=3) == []


@pytest.mark.parametrize(
    ("name", "data", "outcome"),
    [
        ("x.xml", article("Nobody has heard of this"), "not_in_corpus"),
        ("Editorial.txt", "Words without a title. They are many.", "not_in_corpus"),
        ("p1.xml", article("Entirely unrelated words"), "contradicted"),
        ("y.xml", article("Entirely unrelated words", "10.1234/three"), "contradicted"),
        ("y.xml", article("Twins of a common name"), "ambiguous"),
        ("y.xml", article("Decay of particles at rest", year="2003"), "not_in_corpus"),
        ("y.xml", article("Decay of particles at rest", author="Dee"), "not_in_corpus"),
        ("y.xml", article("Growth of crystals in water", "10.1234/another"), "not_in_corpus"),
        ("p3.xml", jats(front="<title-group><article-title>Songs of birds in spring</article-title></title-group>"), "no_text"),
    ],
)
def test_a_document_that_is_no_paper_of_the_corpus_is_listed_with_the_reason(
    lake: Lake, files: Path, name: str, data: str, outcome: str
) -> None:
    (files / name).write_text(data)
    assert build(lake, files).outcomes == {outcome: 1}
    assert lake.scan("documents").collect().is_empty()
    assert claims(lake, files=1) == []


def test_a_year_and_an_author_that_agree_are_no_obstacle(lake: Lake, files: Path) -> None:
    (files / "y.xml").write_text(article("Decay of particles at rest", year="2001", author="Bell"))
    build(lake, files)
    assert matches(lake)["y.xml"] == ("p2", "title", "taken")


def test_of_several_documents_the_full_text_is_taken_then_the_one_with_most_structure(lake: Lake, files: Path) -> None:
    (files / "p1.md").write_text("# Growth of crystals in water\n\nFull text.\n")
    (files / "abstracts.json").write_text(json.dumps({"p1": {"CONTEXTS": ["An abstract."], "LABELS": ["AIM"]}}))
    build(lake, files)
    assert {file: outcome for file, (_, _, outcome) in matches(lake).items()} == {"p1.md": "taken", "abstracts.json": "superseded"}
    (files / "z.xml").write_text(article(doi="10.1234/one"))
    build(lake, files)
    taken = {file: outcome for file, (_, _, outcome) in matches(lake).items()}
    assert taken == {"p1.md": "superseded", "abstracts.json": "superseded", "z.xml": "taken"}
    assert lake.scan("documents").select("method", "extent").collect().rows() == [("jats", "full_text")]
    assert claims(lake, files=3) == []


# -- files -----------------------------------------------------------------------------------------------------------


def test_every_file_is_listed_with_its_documents_or_the_reason_why_it_has_none(lake: Lake, files: Path) -> None:
    (files / "sub").mkdir()
    (files / "a.xml.gz").write_bytes(gzip.compress(article(doi="10.1234/one").encode()))
    (files / "sub" / "b.xml.zst").write_bytes(zstandard.compress(article(doi="10.1234/three").encode()))
    (files / "c.xml.gz").write_bytes(gzip.compress(article().encode())[:-20])
    (files / "d.xml").write_text("<html/>")
    (files / "e.json").write_text('{"a": 1}')
    (files / "f.txt").write_text("long " * 1_000)
    with zipfile.ZipFile(files / "h.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/p2.md", "# Decay of particles at rest\n\nIt decays.\n")
        archive.writestr("p4.xml.gz", gzip.compress(article().encode()))
        archive.writestr("__MACOSX/x.md", "nothing")
    (files / "README.md").write_text("About this folder")
    (files / "g.xml.part").write_text("<arti")
    report = read_folder(lake, files, max_bytes=4_000)
    rows = lake.scan("document_manifest").select("file", "compression", "formats", "documents", "reason").collect()
    found = {row[0]: row[1:] for row in rows.iter_rows()}
    assert set(found) == {"a.xml.gz", "sub/b.xml.zst", "c.xml.gz", "d.xml", "e.json", "f.txt", "h.zip/inner/p2.md", "h.zip/p4.xml.gz"}
    assert found["a.xml.gz"] == ("gzip", ["jats"], 1, None)
    assert found["sub/b.xml.zst"] == ("zstd", ["jats"], 1, None)
    assert found["c.xml.gz"] == ("gzip", [], 0, "cut off or damaged")
    assert "XML of another kind" in found["d.xml"][3]
    assert found["e.json"][3] == "holds no document in a known format"
    assert found["f.txt"][3].startswith("too large")
    assert found["h.zip/inner/p2.md"] == ("zip", ["markdown"], 1, None)
    assert found["h.zip/p4.xml.gz"] == ("zip+gzip", ["jats"], 1, None)
    assert (report.files, report.documents, report.unread) == (8, 4, 4)
    assert invariants.every_file_is_accounted_for(lake, 8).passed
    assert not invariants.every_file_is_accounted_for(lake, 9).passed


def test_a_file_half_of_which_is_damaged_gives_its_other_half_and_the_reason(lake: Lake, files: Path) -> None:
    good = json.dumps({"paper_id": "p1", "body_text": [{"text": "Body."}]})
    (files / "two.jsonl").write_text(f"{good}\n{{broken\n")
    read_folder(lake, files)
    [(documents, reason)] = lake.scan("document_manifest").select("documents", "reason").collect().rows()
    assert documents == 1
    assert "no JSON" in reason


def test_a_folder_that_is_missing_is_an_error_and_no_folder_is_none(lake: Lake, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no document folder"):
        folder.look(lake, tmp_path / "nowhere")
    assert read_folder(lake, None).files == 0


def test_a_file_that_changed_since_it_was_seen_is_not_read(lake: Lake, files: Path) -> None:
    (files / "p1.xml").write_text(article())
    seen = folder.look(lake, files)
    folder.keep(lake, seen)
    (files / "p1.xml").write_text(article(text="Another."))
    with pytest.raises(SourceError, match="changed since it was seen"):
        build_sources(lake, files, seen.files, workers=1, max_bytes=1 << 20, run=COMMIT)
    with pytest.raises(LakeError, match="looks again"):
        folder.seen_files(lake, "another version")


def test_a_file_that_is_being_written_stays_as_it_was_known(lake: Lake, files: Path) -> None:
    (files / "p1.xml").write_text(article())
    first = folder.look(lake, files)
    folder.keep(lake, first)
    (files / "p1.xml").write_text(article(text="Not done yet"))
    (files / "p2.xml").write_text(article())
    busy = folder.look(lake, files, Attention(quiet_seconds=3600))
    assert (busy.unsettled, busy.version) == (2, first.version)
    settled = folder.look(lake, files)
    assert (len(settled.files), settled.changed) == (2, 2)


def test_a_change_that_hides_its_time_is_seen_by_a_thorough_look(lake: Lake, files: Path) -> None:
    (files / "p1.xml").write_text(article(text="One."))
    seen = folder.look(lake, files)
    [known] = seen.files
    (files / "p1.xml").write_text(article(text="Two."))
    forged = folder.DocumentFile("p1.xml", "p1.xml", known.bytes, folder.look(lake, files).files[0].signature, known.checksum)
    folder.keep(lake, folder.FolderLook((forged,), 0, 0, 0))
    assert folder.look(lake, files).version == seen.version
    assert folder.look(lake, files, THOROUGH).version != seen.version


# -- maps ------------------------------------------------------------------------------------------------------------


def test_sentences_have_ids_sections_and_offsets_into_the_stored_text(lake: Lake, files: Path) -> None:
    (files / "p1.xml").write_text(jats("<sec><title>𝛼 Methods</title><p>We 😀 it. It fell.</p><p>Then, e.g. in E. coli, no.</p></sec>"))
    build(lake, files)
    text = lake.scan("documents").select("text").collect().item()
    rows = lake.scan("sentences").sort("n").select("sentence_id", "kind", "sections", "start", "end", "text").collect().rows()
    assert [(row[0], row[5]) for row in rows] == [("p1:0", "We 😀 it."), ("p1:1", "It fell."), ("p1:2", "Then, e.g. in E. coli, no.")]
    assert all(text[start:end] == sentence and kind == "paragraph" for _, kind, _, start, end, sentence in rows)
    assert {tuple(row[2]) for row in rows} == {("𝛼 Methods",)}
    assert claims(lake, files=1) == []


def test_an_abstract_stands_for_the_text_of_a_selected_paper_that_has_none(lake: Lake, files: Path) -> None:
    (files / "p1.xml").write_text(article())
    build(lake, files, selected=("p1", "p2", "p6"))
    rows = lake.scan("documents").sort("paper_id").select("paper_id", "method", "extent", "sentences").collect().rows()
    assert rows == [("p1", "jats", "full_text", 2), ("p6", PAPER_ABSTRACT, "abstract", 2)]  # p2 has neither text nor abstract
    assert claims(lake, files=1) == []
    build(lake, files)
    assert lake.scan("sentences").select("paper_id").unique().collect().to_series().to_list() == ["p1"]


def versions(lake: Lake) -> dict[str, int | None]:
    return {
        name: delta.version(lake, name) for name in contracts.TABLES if name.startswith("document") or name in ("fulltexts", "sentences")
    }


def rows_of(lake: Lake) -> dict[str, list[str]]:
    return {
        name: sorted(map(str, lake.scan(name).select(contracts.table(name).compared_columns).collect().rows())) for name in versions(lake)
    }


def test_nothing_is_written_where_nothing_changed(lake: Lake, files: Path) -> None:
    (files / "p1.xml").write_text(article())
    (files / "p3.md").write_text("# Songs of birds in spring\n\nThey sing.\n")
    build(lake, files, selected=("p6",))
    before = versions(lake)
    os.utime(files / "p1.xml")
    build(lake, files, selected=("p6",))
    assert versions(lake) == before


def test_one_changed_file_rewrites_one_paper(lake: Lake, files: Path) -> None:
    for name in ("p1", "p2", "p3", "p4", "p5"):
        (files / f"{name}.xml").write_text(article(text=f"The text of {name}. It is long."))
    build(lake, files)
    (files / "p3.xml").write_text(article(text="Another text. It has three. Sentences."))
    assert read_folder(lake, files).read == 1
    build_fulltexts(lake, COMMIT)
    none = pl.DataFrame(schema={"paper_id": pl.String})
    made = [build_documents(lake, shard, none, COMMIT) for shard in lake.shard_keys]
    mapped = [build_sentences(lake, shard, COMMIT) for shard in lake.shard_keys]
    assert sum(report.remade for report in made) == sum(report.remade for report in mapped) == 1
    assert lake.scan("sentences").filter(pl.col("paper_id") == "p3").collect().height == 3
    assert claims(lake, files=5) == []


def test_a_refresh_leaves_what_a_build_from_scratch_makes(lake: Lake, files: Path, tmp_path: Path) -> None:
    (files / "p1.xml").write_text(article(text="First. Version."))
    (files / "p2.xml").write_text(article(text="Goes away."))
    (files / "p4.xml").write_text(article(text="Becomes damaged."))
    build(lake, files, selected=("p6",))
    (files / "p1.xml").write_text(article(text="Second version. Longer. Now."))
    (files / "p2.xml").unlink()
    (files / "p4.xml").write_text("<article>")
    (files / "p3.xml").write_text(article(text="Comes."))
    build(lake, files, selected=("p6", "p3"))
    assert claims(lake, files=3) == []

    scratch = Lake.create(tmp_path / "scratch", lake.shards)
    for name in ("records", "identities", "papers"):
        for partition in delta.partitions(lake, name):
            rows = lake.scan(name).filter(pl.col(str(contracts.table(name).partition_by)) == partition).collect()
            delta.write_partition(scratch, name, partition, rows, COMMIT)
    build(scratch, files, selected=("p6", "p3"))
    assert rows_of(lake) == rows_of(scratch)


def test_files_read_by_other_code_are_read_again(lake: Lake, files: Path) -> None:
    (files / "p1.xml").write_text(article())
    read_folder(lake, files)
    seen = folder.look(lake, files)
    again = build_sources(lake, files, seen.files, workers=1, max_bytes=1 << 20, run=delta.Commit("r", "another"))
    assert again.read == 1


# -- checks that can fail --------------------------------------------------------------------------------------------


def broken(lake: Lake, name: str, change: pl.Expr) -> None:
    for shard in lake.shard_keys:
        rows = lake.scan(name).filter(pl.col("shard") == shard).with_columns(change).collect()
        delta.commit_staged(lake, name, shard, [delta.stage(lake, name, shard, rows)] if rows.height else [], COMMIT)


@pytest.mark.parametrize(
    ("table", "change", "found"),
    [
        ("sentences", pl.col("start") + 1, {"offsets_are_exact"}),
        ("sentences", (pl.col("block") + 1).alias("block"), {"offsets_are_exact"}),
        ("sentences", pl.col("n") + 1, {"sentence_ids_are_dense"}),
        ("sentences", pl.lit("p1:9").alias("sentence_id"), {"sentence_ids_are_dense"}),
        ("sentences", pl.lit("0" * 32).alias("content_hash"), {"every_document_is_mapped"}),
        ("documents", pl.lit("0" * 32).alias("content_hash"), {"documents_are_those_chosen", "every_document_is_mapped"}),
        ("fulltexts", pl.lit("nobody").alias("paper_id"), {"one_text_a_paper", "documents_are_those_chosen"}),
    ],
)
def test_what_is_broken_is_found(lake: Lake, files: Path, table: str, change: pl.Expr, found: set[str]) -> None:
    (files / "p1.xml").write_text(article())
    build(lake, files)
    assert claims(lake, files=1) == []
    broken(lake, table, change)
    assert set(claims(lake, files=1)) == found
