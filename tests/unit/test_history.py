"""What a command writes of its runs is what Dagster's own classes read."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from pipelines.project import open_instance, prepare_home


@dg.asset
def thing() -> dg.MaterializeResult:  # type: ignore[type-arg]
    return dg.MaterializeResult(metadata={"rows": 3})


@dg.asset
def broken() -> None:
    raise ValueError("no")


def own(home: Path) -> dg.DagsterInstance:
    """The instance as the UI opens it."""
    return dg.DagsterInstance.from_config(str(home))


def test_runs_of_a_command_are_there_for_the_ui_while_the_command_is_at_work_and_after(tmp_path: Path) -> None:
    with open_instance(tmp_path / "home") as instance:
        made = [dg.materialize([thing], instance=instance) for _ in range(6)]
        with own(tmp_path / "home") as other:
            assert {run.run_id for run in other.get_runs()} == {one.run_id for one in made}
            for one in made:
                assert [entry.dagster_event_type for entry in other.all_logs(one.run_id)] == [
                    entry.dagster_event_type for entry in instance.all_logs(one.run_id)
                ]
                assert other.get_run_by_id(one.run_id).status is dg.DagsterRunStatus.SUCCESS  # type: ignore[union-attr]
            assert other.get_latest_materialization_event(dg.AssetKey("thing")).run_id == made[-1].run_id  # type: ignore[union-attr]
    with own(tmp_path / "home") as other:
        again = dg.materialize([thing], instance=other)
        assert len(other.get_runs()) == 7
        assert {entry.run_id for entry in other.all_logs(again.run_id)} == {again.run_id}, "its database held nothing of others"
    with open_instance(tmp_path / "home") as instance:
        assert len(instance.get_runs()) == 7, "what Dagster's own classes wrote is read"


def test_a_run_that_fails_leaves_the_record_usable(tmp_path: Path) -> None:
    with open_instance(tmp_path / "home") as instance:
        failed = dg.materialize([broken], instance=instance, raise_on_error=False)
        fine = dg.materialize([thing], instance=instance)
        assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
        assert instance.all_logs(failed.run_id)
        assert instance.all_logs(fine.run_id)


def test_a_transaction_that_raises_is_undone_and_the_next_one_works(tmp_path: Path) -> None:
    from sqlalchemy import text

    with open_instance(tmp_path / "home") as instance:
        dg.materialize([thing], instance=instance)
        storage = instance.event_log_storage
        count = text("SELECT count(*) FROM asset_keys")
        with pytest.raises(ZeroDivisionError), storage.index_connection() as connection:  # type: ignore[attr-defined]  # noqa: PT012
            connection.execute(text("DELETE FROM asset_keys"))
            raise ZeroDivisionError
        with storage.index_connection() as connection:  # type: ignore[attr-defined]
            assert connection.execute(count).scalar() == 1


def test_the_home_is_prepared_for_dagsters_own_storage(tmp_path: Path) -> None:
    prepare_home(tmp_path / "home")
    assert "storage" not in (tmp_path / "home" / "dagster.yaml").read_text(), "the UI reads it with the classes that it has"
