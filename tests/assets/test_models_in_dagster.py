"""Models in a Dagster step: what they did is in the run's metadata and in the ledger, and an engine in a child process is heard."""

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.runs import BUILD_TAG, work_of
from resources.lake import LakeResource
from resources.pipes import reporting_by_pipes
from scholarlake.lake.home import Lake
from scholarlake.models.chat import Tags
from scholarlake.models.ledger import Ledger
from tests.unit.models.asking import request, results

ROOT = Path(__file__).parents[2]


@pytest.fixture
def resource(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LakeResource:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "tests" / "stand_ins"), str(ROOT)]))
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    endpoints: dict[str, Any] = {
        "engine": {"backend": "vllm", "model": "model", "vllm": {"python": sys.executable}},
        "hashing": {"backend": "hashing", "model": "w", "dimension": 8},
    }
    (tmp_path / "models.yaml").write_text(json.dumps({"roles": {"embedder": "hashing", "extractor": "engine"}, "endpoints": endpoints}))
    (tmp_path / "one.yaml").write_text("shards: 1\nspending: {per_run: 1.0}")
    profile, models = str(tmp_path / "one.yaml"), str(tmp_path / "models.yaml")
    return LakeResource(lake=str(tmp_path / "lake"), dumps=str(tmp_path), profile_name=profile, profiles=str(tmp_path), models=models)


def test_an_engine_in_a_child_process_reports_to_the_step_that_uses_it(resource: LakeResource) -> None:
    @dg.asset
    def asked(context: dg.AssetExecutionContext, lake: LakeResource) -> dg.MaterializeResult:
        with ExitStack() as sessions, lake.crew(Tags("asked", "", work_of(context.run)), reporting_by_pipes(context, sessions)) as models:
            model = models.chat("extractor")
            assert model is not None
            found = results(model, [request("one"), request("two")])
            facts = models.facts()
        return dg.MaterializeResult(metadata={"answers": [one.text for one in found], "work": facts})

    with dg.DagsterInstance.ephemeral() as instance:
        done = dg.materialize([asked], instance=instance, resources={"lake": resource}, tags={BUILD_TAG: "build-7"})
        logged = [entry.user_message for entry in instance.all_logs(done.run_id)]
    (made,) = done.asset_materializations_for_node("asked")
    assert made.metadata["answers"].value == ["re: one", "re: two"]
    assert made.metadata["work"].value["models"]["extractor"]["requests"] == 2  # type: ignore[index,call-overload]
    assert any("vLLM has loaded" in line for line in logged)
    ledger = Ledger.of(Lake.open(Path(resource.lake)))
    assert [line.group for line in ledger.costs(["asset", "run"])] == [{"asset": "asked", "run": "build-7"}]
    ledger.close()


def test_a_model_bound_to_a_role_is_part_of_what_a_build_is_configured_with(resource: LakeResource) -> None:
    settings = resource.settings()
    assert set(settings.roles) == {"extractor"}
    path = Path(resource.models)
    path.write_text(path.read_text().replace('"model": "model"', '"model": "model", "revision": "2"'))
    assert resource.settings().roles["extractor"] != settings.roles["extractor"]
