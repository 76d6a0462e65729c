"""Jobs: one for each asset, over any of its partitions, and the refresh of the whole corpus."""

from collections.abc import Iterable

import dagster as dg

from pipelines.refresh import refresh
from pipelines.runner import Listener, Runner
from resources.lake import LakeResource
from scholarlake.lake.stages import STAGES, Stage
from scholarlake.sources.watch import AT_ONCE, THOROUGH, Attention


def job_name(stage: Stage) -> str:
    return f"make_{stage.name}"


def stage_jobs() -> Iterable[dg.JobDefinition]:
    """A job for every asset that something computes: the asset and its checks."""
    for stage in STAGES.values():
        if not stage.observed:
            yield dg.define_asset_job(  # type: ignore[misc]
                job_name(stage),
                selection=dg.AssetSelection.assets(stage.name),
                description=f"Makes `{stage.name}` and checks it. {stage.about}",
                tags={"stage": stage.group},
            )


def _refresh(context: dg.OpExecutionContext, lake: LakeResource, attention: Attention) -> None:
    outcome = refresh(Runner(context.repository_def, context.instance, lake, Listener(say=context.log.info)), attention=attention)
    if outcome.failed:
        raise dg.Failure(description="; ".join(f"{failure.where}: {failure.why}" for failure in outcome.failed))
    context.add_output_metadata({"runs": len(outcome.ran), "release": outcome.release or ""})


@dg.op(description="Looks at the dump folder and makes what is stale, in the order of the graph, to a release.")
def refresh_what_is_stale(context: dg.OpExecutionContext, lake: LakeResource) -> None:
    _refresh(context, lake, AT_ONCE)


@dg.op(description="Reads every byte of the sources again and makes what was made from anything else than what is there.")
def reconcile_what_is_there(context: dg.OpExecutionContext, lake: LakeResource) -> None:
    _refresh(context, lake, THOROUGH)


@dg.job(description="The main job: from the dump folder to a release, running only what is stale. Each asset it makes is a run of its own.")
def corpus_refresh() -> None:
    refresh_what_is_stale()


@dg.job(description="The main job without trust in what was seen before: finds what no sensor saw, and tries again what failed.")
def reconcile() -> None:
    reconcile_what_is_there()
