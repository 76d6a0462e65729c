"""How a library function becomes an asset: the same receipt, report and settings for every stage.

A stage's file registers one function with `@makes`; its graph, partitions, versions and words come from
`scholarlake.lake.stages`. What does not belong here: anything that knows one particular stage.
"""

import base64
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import dagster as dg
from dagster import AssetKey

from assets import gallery, runs
from assets.partitions import partitions_of
from resources.lake import LakeResource
from resources.pipes import reporting_by_pipes
from scholarlake.errors import ScholarLakeError
from scholarlake.lake import contracts, delta, locks, receipts
from scholarlake.lake.artifacts import Artifact
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from scholarlake.lake.judgement import Judgement, Present
from scholarlake.lake.stages import STAGES, Settings, Stage
from scholarlake.models.chat import Tags
from scholarlake.models.crew import Crew
from scholarlake.profile import Profile

OWNERS = ["team:scholarlake"]
REPORT_EVERY_SECONDS = 5.0
_POOLS = {
    "records": "parsing",
    "document_sources": "parsing",
    "embeddings": "embedding",
}  # what bounds itself by cores or by an endpoint runs one at a time


#: Who else wants to see how far the step of this process has come: the command line, which has no log to look at.
WATCHER: ContextVar[Callable[[int, int | None, str], object] | None] = ContextVar("watcher", default=None)


@dataclass(frozen=True)
class Step:
    """What a stage's function is given: one partition of one asset, to be made now."""

    lake: Lake
    profile: Profile
    settings: Settings
    resource: LakeResource
    stage: Stage
    partition: str | None
    commit: Commit
    progress: Callable[[int, int | None, str], None]
    models: Crew
    instance: dg.DagsterInstance
    is_new_code: bool  # what is there was made by other code or settings: unchanged inputs are no reason to keep it
    previous_artifact: str | None  # path below the lake's root of what this partition's artifact was before

    @property
    def key(self) -> str:
        """The partition's key, for a stage that has partitions."""
        if self.partition is None:
            raise ScholarLakeError(f"{self.stage.name} is made by partition; name one")
        return self.partition


@dataclass(frozen=True)
class Made:
    """What a stage's function made. facts are plain counts; pictures are drawn only once the receipt is written, and, where it is known how
    many rows changed, only if enough did."""

    data_version: str
    rows: int
    tables: Mapping[str, int | None] = field(default_factory=dict)
    bytes: int = 0
    artifact: Artifact | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, Callable[[], gallery.Png]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    changed: int | None = None


Maker = Callable[[Step], Made]
_MAKERS: dict[str, Maker] = {}


def makes(name: str) -> Callable[[Maker], Maker]:
    """Register the function that makes a stage."""

    def register(maker: Maker) -> Maker:
        _MAKERS[STAGES[name].name] = maker
        return maker

    return register


def asset_for(stage: Stage, settings: Settings, automation: dg.AutomationCondition[AssetKey]) -> dg.AssetsDefinition:
    """The Dagster asset of a stage, with its code version under these settings."""
    maker = _MAKERS[stage.name]

    @dg.asset(
        name=stage.name,
        deps=[AssetKey(dep) for dep in stage.deps],
        group_name=stage.group,
        description=f"{stage.about}\n\n{(maker.__doc__ or '').strip()}",
        partitions_def=partitions_of(stage.partitions, settings.profile),
        code_version=stage.code_version(settings),
        automation_condition=automation,
        kinds=set(stage.kinds),
        owners=OWNERS,
        tags={"stage": stage.group},
        pool=_POOLS.get(stage.name, stage.group),
        metadata=_standing_metadata(stage),
    )
    def made(context: dg.AssetExecutionContext, lake: LakeResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
        runs.claim(context.instance, context.run_id)
        key = context.partition_key if context.has_partition_key else ""
        # A second run of it finds what the first one left, and nothing is thrown away meanwhile.
        with locks.hold(lake.open(), f"make-{stage.name}", f"={key}"), locks.at_work(lake.open()):
            return _run(context, lake, stage, maker)

    return made


def spec_for(stage: Stage, settings: Settings) -> dg.AssetSpec:
    """The Dagster spec of an observed stage: nothing computes it, something reports it."""
    return dg.AssetSpec(
        key=AssetKey(stage.name),
        deps=[AssetKey(dep) for dep in stage.deps],
        group_name=stage.group,
        description=stage.about,
        partitions_def=partitions_of(stage.partitions, settings.profile),
        kinds=set(stage.kinds),
        owners=OWNERS,
        tags={"stage": stage.group},
    )


def _run(context: dg.AssetExecutionContext, resource: LakeResource, stage: Stage, maker: Maker) -> dg.MaterializeResult:  # type: ignore[type-arg]
    started = time.monotonic()
    lake, settings = resource.open(), resource.settings()
    partition = context.partition_key if context.has_partition_key else None
    code_version = stage.code_version(settings)
    present = Present(lake)
    inputs = present.inputs(stage.name, partition)
    because = Judgement(present, settings).verdict(stage.name, partition).reason or "asked for, though nothing had changed"
    runs.say_why(context.instance, context.run, because)
    begun = receipts.begin(lake, stage.name, partition, code_version=code_version, inputs=inputs, run_id=context.run_id)
    with ExitStack() as sessions:
        tags = Tags(stage.name, partition or "", runs.work_of(context.run))
        with resource.crew(tags, reporting_by_pipes(context, sessions)) as models:
            step = Step(
                lake,
                settings.profile,
                settings,
                resource,
                stage,
                partition,
                Commit(context.run_id, code_version, inputs),
                _logged_progress(context),
                models,
                context.instance,
                is_new_code=begun.made_by not in (None, code_version),
                previous_artifact=begun.artifact,
            )
            try:
                made = maker(step)
            except ScholarLakeError as fault:  # what a person can mend, a plan and the status are to say, too
                receipts.fail(lake, begun, str(fault))
                raise
            made = replace(made, facts={**made.facts, **models.facts()})
    receipts.finish(
        lake,
        begun,
        data_version=made.data_version,
        tables={name: version for name, version in made.tables.items() if version is not None},
        artifact=made.artifact.path if made.artifact else None,
        rows=made.rows,
        facts=plain(made.facts),
    )
    return dg.MaterializeResult(
        data_version=dg.DataVersion(made.data_version),
        metadata={"because": because, **_metadata(lake, stage, partition, made, code_version, time.monotonic() - started)},
    )


# -- what a person sees ----------------------------------------------------------------------------------------------


def _standing_metadata(stage: Stage) -> dict[str, Any]:
    if not stage.tables:
        return {}
    contract = contracts.table(stage.tables[0])
    columns = [
        dg.TableColumn(
            name,
            type=str(column.dtype),
            description=column.about,
            constraints=dg.TableColumnConstraints(nullable=column.nullable, unique=contract.key == (name,)),
        )
        for name, column in contract.columns.items()
    ]
    known: dict[str, Any] = {"dagster/column_schema": dg.TableSchema(columns=columns), "dagster/table_name": contract.name}
    lineage = _column_lineage(stage)
    return {**known, "dagster/column_lineage": lineage} if lineage else known


def _column_lineage(stage: Stage) -> dg.TableColumnLineage | None:
    """Columns that are taken over under their own name. What is computed afresh has no lineage of columns."""
    sources = {"papers": ("records", "identities"), "core_papers": ("degrees",), "core_citations": ("citations",)}.get(stage.name, ())
    own = contracts.table(stage.tables[0]).columns
    found = {
        column: [
            dg.TableColumnDep(asset_key=AssetKey(source), column_name=column)
            for source in sources
            if column in contracts.table(source).columns
        ]
        for column in own
    }
    known = {column: deps for column, deps in found.items() if deps}
    return dg.TableColumnLineage(known) if known else None


def _metadata(lake: Lake, stage: Stage, partition: str | None, made: Made, code_version: str, seconds: float) -> dict[str, Any]:
    known: dict[str, Any] = {
        ("dagster/partition_row_count" if stage.partitions else "dagster/row_count"): made.rows,
        "seconds": round(seconds, 2),
    }
    known["bytes"] = made.bytes or sum(delta.size(lake, table) for table in stage.tables)
    if stage.tables:
        known["dagster/uri"] = f"file://{lake.table_path(stage.tables[0])}"
    if made.artifact is not None:
        known["artifact"] = dg.MetadataValue.path(str(made.artifact.folder(lake)))
    for name, version in made.tables.items():
        if version is not None:
            known[f"delta_version_{name}"] = version
    known.update({name: _shown(value) for name, value in plain(made.facts).items()})
    known.update({name: dg.MetadataValue.md(text) for name, text in made.texts.items()})
    shown = gallery.drawn(lake, stage.name, partition, code_version, made.pictures, made.rows, made.changed)
    known.update({name: picture(png) for name, png in shown.items()})
    return known


def picture(png: bytes) -> dg.MetadataValue[Any]:
    """A PNG as metadata that the UI shows."""
    return dg.MetadataValue.md(f"![picture](data:image/png;base64,{base64.b64encode(png).decode()})")


def plain(value: Any) -> Any:
    """Numbers as JSON and Dagster can keep them: no numpy types, and null for what is not finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(entry) for entry in value]
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping) and value and all(isinstance(entry, int | float) for entry in value.values()):
        return _counts_table(value)
    return dg.MetadataValue.json(value) if isinstance(value, dict | list) else dg.MetadataValue.null() if value is None else value


def _counts_table(counts: Mapping[str, float]) -> dg.MetadataValue[Any]:
    rows = "\n".join(f"| {name} | {count:,} |" for name, count in sorted(counts.items(), key=lambda entry: -entry[1]))
    return dg.MetadataValue.md(f"| | |\n|---|--:|\n{rows}")


def _logged_progress(context: dg.AssetExecutionContext) -> Callable[[int, int | None, str], None]:
    """Progress as log lines with an estimate of what is left, a line every few seconds at most."""
    started = time.monotonic()
    last = started

    def report(done: int, total: int | None, what: str) -> None:
        nonlocal last
        if (watcher := WATCHER.get()) is not None:
            watcher(done, total, what)
        now = time.monotonic()
        if now - last < REPORT_EVERY_SECONDS:
            return
        last = now
        left = f", about {(now - started) / done * (total - done):.0f} s left" if total and done else ""
        context.log.info(f"{what}: {done:,}{f' of {total:,}' if total else ''}{left}")

    return report


def all_assets(settings: Settings, automation: dg.AutomationCondition[AssetKey]) -> Iterable[dg.AssetsDefinition | dg.AssetSpec]:
    """Every asset of the project, in the order of the graph."""
    for stage in STAGES.values():
        yield spec_for(stage, settings) if stage.observed else asset_for(stage, settings, automation)


def report_observed(
    instance: dg.DagsterInstance,
    lake: Lake,
    name: str,
    partition: str | None,
    data_version: str,
    *,
    run_id: str,
    metadata: Mapping[str, Any],
    silent: Mapping[str, Any] | None = None,
) -> None:
    """Tell Dagster and the lake of an observed partition's content, unless both know it already.

    silent: facts that the lake keeps and Dagster is not told: a change of them alone is no event.
    """
    known = receipts.read(lake, name, partition)
    facts = {**plain(metadata), **(silent or {})}
    if known is not None and known.is_done and known.data_version == data_version:
        if known.facts != facts:
            receipts.finish(lake, known, data_version=data_version, facts=facts)
        return
    begun = receipts.begin(lake, name, partition, code_version=STAGES[name].version, inputs={}, run_id=run_id)
    instance.report_runless_asset_event(
        dg.AssetMaterialization(
            asset_key=AssetKey(name),
            partition=partition,
            metadata=dict(metadata),
            tags={"dagster/data_version": data_version},
        )
    )
    receipts.finish(lake, begun, data_version=data_version, facts=facts)
