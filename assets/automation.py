"""When assets run by themselves: the one condition that all of them share.

What is stale is judged as `scholarlake build` judges it, by the lake's receipts: a change that lands while a run is at work,
new code, another setting, a run that died are all seen, and equal data is not a change. What is added here is the latch: what
was asked for is not asked for again until what it would be made from is another. What does not belong here: what makes a
partition stale (`scholarlake.lake.judgement`), when sources are looked at (`pipelines/sensors.py`).
"""

from collections.abc import Sequence
from typing import Any

import orjson
from dagster import AssetKey, AutomationCondition, AutomationContext, AutomationResult
from dagster._core.asset_graph_view.entity_subset import EntitySubset
from dagster._core.definitions.events import AssetKeyPartitionKey

from resources.lake import LakeResource
from scholarlake.lake.hashing import digest
from scholarlake.lake.judgement import Judgement, Present, State
from scholarlake.lake.stages import STAGES

ATTEMPTS = 3  # of making a partition from the same inputs: a run can die of what has nothing to do with them, but not for ever
_Keys = set[str | None]
_Latch = dict[str, list[Any]]  # partition → what it was asked to be made from, how often


class Latched(AutomationCondition[AssetKey]):
    """True for a partition that is stale, that nothing is making, all of whose inputs are fresh and have passed their blocking
    checks, and that was not asked for already with just these inputs, code and settings.

    Where the run that was asked for failed, it is asked for again, up to `ATTEMPTS` times in all; what a check refused is not, until
    something changes.
    """

    def __init__(self, resource: LakeResource) -> None:
        self._resource = resource

    @property
    def name(self) -> str:
        return "stale_and_not_asked_for"

    @property
    def description(self) -> str:
        return "Stale by the lake's receipts, inputs fresh and checked, not being made, and not asked for yet with these inputs"

    @property
    def children(self) -> Sequence[AutomationCondition[Any]]:
        return [AutomationCondition.in_progress(), AutomationCondition.execution_failed()]

    async def evaluate(self, context: AutomationContext[AssetKey]) -> AutomationResult[AssetKey]:  # type: ignore[override]
        being_made, failed = [
            await context.for_child_condition(child, [place], context.candidate_subset).evaluate_async()
            for place, child in enumerate(self.children)
        ]
        latch: _Latch = dict(orjson.loads(context.cursor)) if context.cursor else {}
        wanted = self._wanted(
            context.key.to_user_string(), _keys(context.candidate_subset), _keys(being_made.true_subset), _keys(failed.true_subset), latch
        )
        keys = {AssetKeyPartitionKey(context.key, partition) for partition in wanted}
        true = context.asset_graph_view.get_asset_subset_from_asset_partitions(context.key, keys)
        return AutomationResult(context, true, cursor=orjson.dumps(latch).decode(), child_results=[being_made, failed])

    def _wanted(self, name: str, candidates: _Keys, being_made: _Keys, failed: _Keys, latch: _Latch) -> _Keys:
        """The partitions to ask for now. The latch comes to hold these too, and loses those that are no longer stale."""
        settings = self._resource.settings()
        present = Present(self._resource.open())
        judgement = Judgement(present, settings)
        wanted: _Keys = set()
        for gone in set(latch) - {_key(partition) for partition in candidates}:
            del latch[gone]
        for partition in (candidates & set(present.partitions(name))) - being_made:
            verdict = judgement.verdict(name, partition)
            asked, times = latch.pop(_key(partition), ["", 0])
            if verdict.state is not State.STALE:
                continue
            inputs = present.inputs(name, partition)
            basis = digest([STAGES[name].code_version(settings), *(f"{dep}={inputs[dep]}" for dep in sorted(inputs))])
            times = times if asked == basis else 0
            if not verdict.refused and (times == 0 or (partition in failed and times < ATTEMPTS)):
                wanted.add(partition)
                times += 1
            latch[_key(partition)] = [basis, times]
        return wanted


def _keys(subset: EntitySubset[AssetKey]) -> _Keys:
    return {key.partition_key for key in subset.expensively_compute_asset_partitions()}


def _key(partition: str | None) -> str:
    return "" if partition is None else f"={partition}"
