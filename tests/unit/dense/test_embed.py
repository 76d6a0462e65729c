"""Claims about embedding a shard: nothing twice, nothing lost, ids for ever (traps 28, 31, 32; rules 2 to 4)."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from scholarlake.dense import embed, invariants
from scholarlake.dense.embed import EmbedReport, embed_shard
from scholarlake.dense.text import embedding_text
from scholarlake.errors import ModelError
from scholarlake.lake.home import Lake
from tests.unit.dense.small_corpus import DENSE, DIMENSION, Scripted, lay_down, table, unit
from tests.unit.small_lake import COMMIT

PAPERS = [(f"p{i:02d}", f"title {i}") for i in range(22)]


def run(lake: Lake, embedder: Scripted, shard: str = "00") -> EmbedReport:
    return embed_shard(lake, shard, embedder, DENSE, COMMIT)


def sound(lake: Lake) -> bool:
    findings = [
        claim(lake, shard)
        for shard in lake.shard_keys
        for claim in (
            invariants.every_paper_embedded_or_listed,
            invariants.vectors_are_sound,
            invariants.vector_ids_are_handed_out_once,
            invariants.one_model,
        )
    ]
    return all(finding.passed for finding in findings)


def test_the_text_is_what_there_is_of_title_venue_year_and_abstract() -> None:
    papers = pl.DataFrame(
        {"title": [" A\n b", None, ""], "venue": ["V", None, " "], "year": [1999, None, None], "abstract": ["x" * 50, "only", None]},
        schema_overrides={"year": pl.Int32},
    )
    assert papers.select(text=embedding_text(20))["text"].to_list() == ["A b\nV\n1999\nxxxxxxxxx", "only", ""]


def test_every_paper_gets_the_vector_of_its_own_text(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, PAPERS)
    report = run(lake, Scripted())
    assert (report.papers, report.embedded, report.failures, report.embeddings.inserted) == (22, 22, 0, 22)
    for row in table(lake, "embeddings").iter_rows(named=True):
        assert row["vector"] == pytest.approx(unit(dict(PAPERS)[row["paper_id"]]), abs=1e-6)
    assert sound(lake)


def test_a_second_run_asks_nothing_and_writes_no_version(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, PAPERS)
    first, again = run(lake, Scripted()), Scripted()
    second = run(lake, again)
    assert again.batches == []
    assert (second.kept, second.embedded) == (22, 0)
    for name in ("embeddings", "embedding_failures", "faiss_ids"):
        assert getattr(second, name).version == getattr(first, name).version


def test_equal_texts_are_embedded_once(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, [("a", "same"), ("b", "same"), ("c", "other")])
    embedder = Scripted()
    run(lake, embedder)
    assert sorted(embedder.asked) == ["other", "same"]
    assert table(lake, "embeddings").height == 3


def test_a_text_known_in_another_shard_is_not_embedded_again(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, [(f"p{i}", "same") for i in range(20)], shards=2)
    embedder = Scripted()
    reports = [run(lake, embedder, shard) for shard in lake.shard_keys]
    assert embedder.asked == ["same"]
    assert [report.reused for report in reports] == [0, 1]
    assert sound(lake)


def test_a_run_that_died_goes_on_from_its_last_batch(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, PAPERS)
    dying = Scripted(dies_after=3)
    with pytest.raises(ModelError, match="kept"):
        run(lake, dying)
    assert table(lake, "embeddings").height == 0
    after = Scripted()
    report = run(lake, after)
    assert not set(dying.asked) & set(after.asked)
    assert len(dying.asked) + len(after.asked) == 22
    assert (report.resumed, report.embedded) == (12, 10)
    assert sound(lake)
    assert list(lake.spool("embeddings", after.fingerprint).iterdir()) == []


def test_a_kill_between_the_ledger_and_the_vectors_costs_no_embedding_and_no_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = lay_down(tmp_path, PAPERS)
    monkeypatch.setattr(embed, "_write", _killed)
    with pytest.raises(KeyboardInterrupt):
        run(lake, Scripted())
    monkeypatch.undo()
    ledger, after = table(lake, "faiss_ids"), Scripted()
    run(lake, after)
    assert after.batches == []
    assert table(lake, "faiss_ids").equals(ledger)
    assert sound(lake)


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_torn_segment_of_the_spool_costs_its_own_texts_only(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, PAPERS)
    dying = Scripted(dies_after=3)
    with pytest.raises(ModelError):
        run(lake, dying)
    segments = sorted(lake.spool("embeddings", dying.fingerprint).iterdir())
    segments[0].write_bytes(segments[0].read_bytes()[:100])
    after = Scripted()
    run(lake, after)
    assert len(after.asked) == 14
    assert sound(lake)


def test_what_another_shard_has_under_way_is_taken_from_its_spool(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, [(f"p{i}", f"title {i % 4}") for i in range(30)], shards=2)
    dying = Scripted(dies_after=1)
    dying.batch_size = 2
    with pytest.raises(ModelError):
        run(lake, dying, "00")
    after = Scripted()
    run(lake, after, "01")
    assert not set(dying.asked) & set(after.asked)
    run(lake, after, "00")
    assert sorted(dying.asked + after.asked) == [f"title {i}" for i in range(4)]
    assert sound(lake)


def test_bad_empty_and_unsound_texts_are_listed_and_the_others_embedded(tmp_path: Path) -> None:
    titles = ["ok 0", None, "too bad", "ok 1", "nan", "zero", "  ", "ok 2"]
    lake = lay_down(tmp_path, [(f"p{i}", title) for i, title in enumerate(titles)])
    embedder = Scripted(bad=["too bad"], odd={"nan": [float("nan")] * DIMENSION, "zero": [0.0] * DIMENSION})
    report = run(lake, embedder)
    failures = table(lake, "embedding_failures")
    assert dict(failures.select("paper_id", "reason").iter_rows()) == {
        "p1": "empty_text",
        "p2": "rejected: 400",
        "p4": "not_finite",
        "p5": "zero_vector",
        "p6": "empty_text",
    }
    assert table(lake, "embeddings")["paper_id"].to_list() == ["p0", "p3", "p7"]
    assert len({tuple(batch) for batch in embedder.batches}) == len(embedder.batches)
    assert report.failures == 5
    assert sound(lake)


def test_a_text_that_was_refused_is_not_sent_again_until_it_changes(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, [("a", "bad"), ("b", "fine")])
    run(lake, Scripted(bad=["bad"]))
    again = Scripted(bad=["bad"])
    run(lake, again)
    assert again.batches == []
    lay_down(tmp_path, [("a", "mended"), ("b", "fine")])
    run(lake, again)
    assert again.asked == ["mended"]
    assert table(lake, "embedding_failures").height == 0
    assert sound(lake)


def test_a_change_costs_the_changed_texts_and_keeps_the_ids(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, PAPERS)
    run(lake, Scripted())
    before = dict(table(lake, "embeddings").select("paper_id", "faiss_id").iter_rows())
    lay_down(tmp_path, [("p00", "another title"), *PAPERS[2:], ("new", "a new one")])
    embedder = Scripted()
    report = run(lake, embedder)
    after = dict(table(lake, "embeddings").select("paper_id", "faiss_id").iter_rows())
    assert sorted(embedder.asked) == ["a new one", "another title"]
    assert (report.embeddings.inserted, report.embeddings.updated, report.embeddings.deleted) == (1, 1, 1)
    assert after["new"] == max(before.values()) + 1
    assert {paper: after[paper] for paper in after if paper != "new"} == {paper: before[paper] for paper in before if paper != "p01"}
    assert sound(lake)


def test_a_paper_that_returns_gets_its_own_id_and_no_other_ever_does(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, [("a", "x"), ("b", "y")])
    run(lake, Scripted())
    lay_down(tmp_path, [("a", "x")])
    run(lake, Scripted())
    lay_down(tmp_path, [("a", "x"), ("b", "y"), ("c", "z")])
    run(lake, Scripted())
    assert dict(table(lake, "embeddings").select("paper_id", "faiss_id").iter_rows()) == {"a": 0, "b": 1, "c": 2}


def test_another_model_or_prefix_embeds_everything_anew(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, PAPERS)
    run(lake, Scripted())
    embedder = Scripted(query_prefix="query: ")
    report = run(lake, embedder)
    assert (report.embedded, report.kept) == (22, 0)
    assert table(lake, "embeddings")["model"].unique().to_list() == [embedder.fingerprint]
    assert sound(lake)


def test_a_shard_that_lost_all_its_papers_has_no_vectors(tmp_path: Path) -> None:
    lake = lay_down(tmp_path, PAPERS)
    run(lake, Scripted())
    lay_down(tmp_path, [])
    report = run(lake, Scripted())
    assert (report.removed, table(lake, "embeddings").height, table(lake, "faiss_ids").height) == (22, 0, 22)
    assert sound(lake)


def test_vectors_are_written_in_pieces_that_fit_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "CHUNK_BYTES", 5 * 4 * DIMENSION)
    lake = lay_down(tmp_path, PAPERS)
    run(lake, Scripted())
    lay_down(tmp_path, [("p00", "title 0"), *((paper_id, f"new {title}") for paper_id, title in PAPERS[1:])])
    report = run(lake, Scripted())
    assert report.embeddings.updated == 21
    for row in table(lake, "embeddings").iter_rows(named=True):
        title = "title 0" if row["paper_id"] == "p00" else f"new {dict(PAPERS)[row['paper_id']]}"
        assert row["vector"] == pytest.approx(unit(title), abs=1e-6)
    assert sound(lake)
