"""The lake's folder, artifacts, receipts, the graph of stages, and what a release demands."""

from __future__ import annotations

from pathlib import Path

import pytest

from scholarlake.errors import IndexDamaged, LakeError, ReleaseError
from scholarlake.lake import artifacts, receipts, releases
from scholarlake.lake.files import build_folder, write_json
from scholarlake.lake.home import Lake
from scholarlake.lake.judgement import Judgement, NotReady, Present, State
from scholarlake.lake.stages import COLLECTION, PART, STAGES, Settings, Stage
from scholarlake.profile import Profile, ProfileError, load

SETTINGS = Settings(Profile(name="test", shards=2), "model-a")  # type: ignore[call-arg]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


def finish(lake: Lake, name: str, partition: str | None, version: str, settings: Settings = SETTINGS) -> receipts.Receipt:
    stage = STAGES[name]
    inputs = {} if stage.observed else Present(lake).inputs(name, partition)
    for check in stage.blocking:
        receipts.record_check(lake, name, partition, receipts.CheckOutcome(check, True, True, version))
    begun = receipts.begin(lake, name, partition, code_version=stage.code_version(settings), inputs=inputs, run_id="r")
    return receipts.finish(lake, begun, data_version=version, rows=1)


def build_all(lake: Lake, version: str = "1") -> None:
    finish(lake, "oag_dump", "a.jsonl", version)
    for name in STAGES:
        if name != "oag_dump" and STAGES[name].group != "publish":
            for partition in Present(lake).partitions(name):
                finish(lake, name, partition, version)


def why_stale(lake: Lake, name: str) -> list[tuple[str | None, str]]:
    return [(item.partition, item.reason) for item in Judgement(Present(lake), SETTINGS).stale(name)]


# -- the folder


def test_a_lake_made_with_another_number_of_shards_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    Lake.create(tmp_path, 4)
    before = (tmp_path / "lake.json").read_bytes()
    with pytest.raises(LakeError, match=r"made with 4 shards, the profile says 16.*shards: 4"):
        Lake.open_or_create(tmp_path, 16)
    assert (tmp_path / "lake.json").read_bytes() == before


def test_the_batches_to_train_on_are_fixed_too_but_for_a_lake_from_before_there_were_any(tmp_path: Path) -> None:
    Lake.create(tmp_path, 4, 2)
    with pytest.raises(LakeError, match=r"made with 2 batches of training subgraphs, the profile says 28.*train_batches: 2"):
        Lake.open_or_create(tmp_path, 4)
    write_json(tmp_path / "lake.json", {"format": 1, "shards": 4})
    assert Lake.open_or_create(tmp_path, 4, 3).batch_keys == ["test-00", "validation-00", "train-00", "train-01", "train-02"]
    assert Lake.open(tmp_path).train_batches == 3
    with pytest.raises(LakeError, match=r"1 to 97 batches"):
        Lake.create(tmp_path, 4, 98)


@pytest.mark.parametrize("letter", ["[", "]", "^", "|", "\\", "=", "%20", "\t"])
def test_a_folder_in_which_no_engine_finds_a_table_becomes_no_lake(tmp_path: Path, letter: str) -> None:
    root = tmp_path / f"a{letter}b" / "lake"
    with pytest.raises(LakeError, match="put the lake into a folder without it"):
        Lake.open_or_create(root, 4)
    assert not root.exists()


def test_a_file_is_no_lake(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("x")
    with pytest.raises(LakeError, match="is a file"):
        Lake.open(tmp_path / "lake")


def test_a_folder_with_other_things_in_it_becomes_no_lake(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(LakeError, match="not empty"):
        Lake.open_or_create(tmp_path, 4)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_lake_whose_making_was_killed_or_that_the_ui_was_opened_on_first_is_made(tmp_path: Path) -> None:
    (tmp_path / "dagster").mkdir()
    (tmp_path / ".lake.json.0123.tmp").write_text("{")
    assert Lake.open_or_create(tmp_path, 4).shards == 4


def test_a_file_is_no_place_for_a_lake(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("x")
    with pytest.raises(LakeError, match="is a file"):
        Lake.open_or_create(tmp_path / "lake", 4)


def test_a_missing_lake_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="scholarlake build"):
        Lake.open(tmp_path / "none")


def test_shards_are_the_same_on_every_machine(lake: Lake) -> None:
    assert [Lake(lake.root, 16).shard_of(name) for name in ("1", "53a7258520f7420be8b514a9", "深度学习")] == ["08", "14", "06"]


def test_a_folder_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    def half(folder: Path) -> None:
        (folder / "one").write_text("1")
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError):
        build_folder(tmp_path / "thing", half)
    assert list(tmp_path.iterdir()) == []


# -- artifacts


def publish(lake: Lake, text: str = "vectors") -> artifacts.Artifact:
    def build(folder: Path) -> dict[str, int]:
        (folder / "index.faiss").write_text(text)
        return {"count": len(text)}

    return artifacts.publish(lake, "vector_index", "00", build)


def test_equal_content_is_one_artifact(lake: Lake) -> None:
    assert publish(lake).path == publish(lake).path
    assert publish(lake, "others").path != publish(lake).path


@pytest.mark.parametrize("damage", ["truncate", "flip", "swap", "manifest"])
def test_a_damaged_artifact_is_refused(lake: Lake, damage: str) -> None:
    folder = publish(lake).folder(lake)
    index = folder / "index.faiss"
    if damage == "truncate":
        index.write_text("vecto")
    elif damage == "flip":
        index.write_text("vectorz")
    elif damage == "swap":
        (folder / "manifest.json").write_bytes((publish(lake, "strange").folder(lake) / "manifest.json").read_bytes())
    else:
        manifest = folder / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"count": 7', '"count": 8'))
    with pytest.raises(IndexDamaged):
        artifacts.open_artifact(folder)


def test_publishing_again_mends_what_was_damaged(lake: Lake) -> None:
    folder = publish(lake).folder(lake)
    (folder / "index.faiss").write_text("vectorz")
    assert publish(lake).folder(lake) == folder
    assert artifacts.open_artifact(folder)["facts"] == {"count": 7}


def test_an_artifact_that_is_gone_is_made_again(lake: Lake) -> None:
    build_all(lake)
    receipt = receipts.read(lake, "vector_index", "00")
    assert receipt is not None
    artifact = publish(lake)
    begun = receipts.begin(lake, "vector_index", "00", code_version=receipt.code_version, inputs=receipt.inputs, run_id="r")
    receipts.finish(lake, begun, data_version=receipt.data_version, artifact=artifact.path)
    assert why_stale(lake, "vector_index") == []
    (artifact.folder(lake) / "index.faiss").unlink()
    assert why_stale(lake, "vector_index") == [("00", "its files are damaged")]


# -- stages


def test_a_stage_is_not_ready_while_something_above_it_is_half_done(lake: Lake) -> None:
    finish(lake, "oag_dump", "a.jsonl", "1")
    finish(lake, "dump_manifest", None, "1")
    with pytest.raises(NotReady, match="records"):
        Present(lake).inputs("identities", None)
    receipts.begin(lake, "records", "a.jsonl", code_version="1", inputs={}, run_id="r")
    with pytest.raises(NotReady, match="not been finished"):
        Present(lake).inputs("identities", None)


def test_what_is_stale_is_just_what_changed_and_says_why(lake: Lake) -> None:
    build_all(lake)
    fresh = Judgement(Present(lake), SETTINGS)
    assert [
        (name, key) for name in STAGES for key in Present(lake).partitions(name) if fresh.verdict(name, key).state is not State.FRESH
    ] == [("release", None), ("release_diff", None)]

    receipts.record_check(lake, "papers", "00", receipts.CheckOutcome("papers_contract", False, True, "1"))
    assert why_stale(lake, "papers") == [("00", "check papers_contract failed")]
    with pytest.raises(NotReady, match=r"papers \[00\]: check papers_contract failed"):
        Present(lake).inputs("embeddings", "00")
    assert Present(lake).inputs("embeddings", "01"), "the other shard passed, and what is below it may go on"
    receipts.record_check(lake, "papers", "00", receipts.CheckOutcome("papers_contract", True, True, "1"))

    finish(lake, "shard_inputs", "01", "2")
    assert why_stale(lake, "papers") == [("01", "shard_inputs changed")]
    assert why_stale(lake, "citations") == []

    stricter = Settings(SETTINGS.profile.model_copy(update={"core": SETTINGS.profile.core.model_copy(update={"min_in": 3})}), "model-a")
    assert [item.reason for item in Judgement(Present(lake), stricter).stale("degrees")] == ["its code or settings changed"]
    other_model = Judgement(Present(lake), Settings(SETTINGS.profile, "model-b"))
    assert [item.partition for item in other_model.stale("embeddings")] == ["00"]
    assert [(item.partition, item.reason) for item in other_model.waiting("embeddings")] == [("01", "waits for papers [01]")]


def test_what_a_look_found_is_judged_before_anything_is_written(lake: Lake) -> None:
    build_all(lake)
    seen = {"oag_dump": {"a.jsonl": "1", "b.jsonl": "1"}}
    judgement = Judgement(Present(lake, seen), SETTINGS)
    assert [(item.where, item.reason) for item in judgement.stale("records")] == [("records [b.jsonl]", "first time")]
    assert [item.reason for item in judgement.stale("dump_manifest")] == ["oag_dump changed"]
    assert [item.reason for item in judgement.waiting("identities")] == ["waits for dump_manifest"]
    assert [receipt.partition for receipt in receipts.read_all(lake, "oag_dump")] == ["a.jsonl"]


def test_every_dependency_is_a_stage_that_comes_before() -> None:
    seen: set[str] = set()
    for stage in STAGES.values():
        assert set(stage.deps) <= seen, stage.name
        seen.add(stage.name)


def test_only_parts_documents_and_what_defines_collections_come_from_outside() -> None:
    outside = [stage for stage in STAGES.values() if stage.observed and not stage.deps]
    assert [(stage.name, stage.partitions) for stage in outside] == [
        ("oag_dump", PART),
        ("document_folder", None),
        ("collection_file", COLLECTION),
        ("taxonomy_file", COLLECTION),
    ]


def test_settings_that_a_stage_does_not_depend_on_leave_its_code_version_alone() -> None:
    stage = Stage("x", "g", "a", settings=lambda settings: settings.profile.core)
    other = Settings(SETTINGS.profile.model_copy(update={"shards": 5}), "model-z")
    assert stage.code_version(SETTINGS) == stage.code_version(other)


# -- releases


def test_a_release_of_the_same_state_is_the_same_release(lake: Lake) -> None:
    build_all(lake)
    first, made = releases.publish(lake, SETTINGS, {"model": "a"})
    again, made_again = releases.publish(lake, SETTINGS, {"model": "a"})
    assert (made, made_again, again.name) == (True, False, first.name)
    assert releases.load(lake) == first


def test_a_mixture_of_two_cuts_is_refused(lake: Lake) -> None:
    build_all(lake)
    finish(lake, "shard_inputs", "01", "2")
    with pytest.raises(ReleaseError, match=r"papers \[01\] was made from another shard_inputs"):
        releases.publish(lake, SETTINGS, {})
    assert releases.names(lake) == []


def test_a_stage_killed_half_way_is_refused(lake: Lake) -> None:
    build_all(lake)
    receipts.begin(lake, "vector_index", "00", code_version="1", inputs={}, run_id="r")
    with pytest.raises(ReleaseError, match=r"vector_index \[00\] is not finished"):
        releases.publish(lake, SETTINGS, {})


def test_a_blocking_check_that_failed_or_saw_other_content_is_refused(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    build_all(lake)
    from dataclasses import replace

    monkeypatch.setitem(STAGES, "papers", replace(STAGES["papers"], blocking=("rows",)))
    with pytest.raises(ReleaseError, match=r"check rows has not run on the present papers \[00\]"):
        releases.publish(lake, SETTINGS, {})
    for shard, version in (("00", "1"), ("01", "0")):
        receipts.record_check(lake, "papers", shard, receipts.CheckOutcome("rows", True, True, version))
    with pytest.raises(ReleaseError, match=r"check rows has not run on the present papers \[01\]"):
        releases.publish(lake, SETTINGS, {})
    receipts.record_check(lake, "papers", "01", receipts.CheckOutcome("rows", False, True, "1", "3 rows too few"))
    with pytest.raises(ReleaseError, match=r"check rows failed on papers \[01\]: 3 rows too few"):
        releases.publish(lake, SETTINGS, {})


def test_an_unknown_release_names_those_there_are(lake: Lake) -> None:
    with pytest.raises(ReleaseError, match="no release yet"):
        releases.load(lake)
    build_all(lake)
    releases.publish(lake, SETTINGS, {})
    with pytest.raises(ReleaseError, match=r"no release 'r0009'.*r0001"):
        releases.load(lake, "r0009")


def test_releases_are_ordered_by_number_not_by_text(lake: Lake) -> None:
    for name in ("r0002", "r9999", "r10000"):
        write_json(lake.releases / f"{name}.json", {})
    assert releases.names(lake) == ["r0002", "r9999", "r10000"]


# -- profiles


def test_a_profile_with_an_unknown_or_impossible_value_names_the_field(tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text("core:\n  min_inn: 3\n")
    with pytest.raises(ProfileError, match=r"core\.min_inn"):
        load("odd", tmp_path)
    (tmp_path / "many.yaml").write_text("shards: 100\n")
    with pytest.raises(ProfileError, match="shards"):
        load("many", tmp_path)
    with pytest.raises(ProfileError, match="there are: many, odd"):
        load("none", tmp_path)
