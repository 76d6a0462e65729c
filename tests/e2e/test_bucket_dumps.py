"""The main job on a dump that lies in a bucket."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines import build as builder
from pipelines.refresh import Refresh
from scholarlake.errors import SourceError
from scholarlake.lake import delta, receipts
from scholarlake.lake.home import Lake
from tests.e2e.building import environment
from tests.unit.sources import bucket_server
from tests.unit.sources.bucket_server import Store

LINES = b"".join(b'{"id": "%d", "title": "Paper %d on something"}\n' % (n, n) for n in range(2000))
OTHER = b'{"id": "x", "title": "Another paper"}\n'


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("SCHOLARLAKE_MODELS", environment(tmp_path)["SCHOLARLAKE_MODELS"])
    with bucket_server.running() as found:
        found.put("dumps/v1/a.json.gz", gzip.compress(LINES, mtime=0))
        found.put("dumps/v2/b.json", OTHER)
        yield found


def build(lake: Path) -> Refresh:
    return builder.run(lake=lake, dumps="s3://dumps", profile="sample", to="records")


def made(outcome: Refresh) -> list[tuple[str, str | None]]:
    assert not outcome.failed
    return [(ran.asset, ran.partition) for ran in outcome.ran]


def test_what_did_not_change_is_not_fetched_again(store: Store, tmp_path: Path) -> None:
    assert made(build(tmp_path / "lake")) == [("records", "v1/a.json.gz"), ("records", "v2/b.json")]
    lake = Lake.open(tmp_path / "lake")
    assert lake.scan("records").collect().height == 2001
    store.forget()
    assert made(build(tmp_path / "lake")) == []
    assert all(asked == "bytes=0-3" for method, path, asked in store.asked if path != "/dumps")
    observed = receipts.read(lake, "oag_dump", "v1/a.json.gz")
    assert observed is not None
    assert len(observed.facts["checksum"]) == len(observed.data_version) == 32

    store.put("dumps/v2/b.json", OTHER + OTHER)
    assert made(build(tmp_path / "lake")) == [("records", "v2/b.json")]
    store.delete("dumps/v2/b.json")
    assert made(build(tmp_path / "lake")) == []


def test_other_packing_of_the_same_lines_is_read_again_and_changes_nothing(store: Store, tmp_path: Path) -> None:
    build(tmp_path / "lake")
    lake = Lake.open(tmp_path / "lake")
    version = delta.version(lake, "records")
    store.put("dumps/v1/a.json.gz", gzip.compress(LINES, mtime=1))
    assert made(build(tmp_path / "lake")) == [("records", "v1/a.json.gz")]
    assert delta.version(lake, "records") == version


def test_a_bucket_that_can_not_be_listed_changes_nothing(store: Store, tmp_path: Path) -> None:
    store.fails = ["403 Forbidden"]
    with pytest.raises(SourceError, match="access to s3://dumps is denied"):
        build(tmp_path / "lake")
    assert not (tmp_path / "lake").exists()


def test_a_part_that_is_cut_off_fails_alone(store: Store, tmp_path: Path) -> None:
    store.put("dumps/v1/a.json.gz", gzip.compress(LINES)[:-5])
    outcome = build(tmp_path / "lake")
    assert [failure.where for failure in outcome.failed] == ["records [v1/a.json.gz]"]
    assert "cut off or damaged" in outcome.failed[0].why
    assert [ran.partition for ran in outcome.ran] == ["v2/b.json"]
