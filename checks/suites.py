"""Great Expectations suites, run on one table or one partition of it.

The expectations come from the contract (`scholarlake.lake.expectations.suite_for`); here they are put into Great
Expectations' words. Tables of more rows than WHOLE, and those of which few rows changed since all had passed, go to the same
expectations in Polars: at a million rows Great Expectations takes some ten seconds a suite, and edges come by the hundred
million. Great Expectations is imported at the first suite, not with the module: the import takes five seconds and more, and
every process that only loads the definitions would pay it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import polars as pl

from scholarlake.lake.contracts import table
from scholarlake.lake.delta import changed_since
from scholarlake.lake.expectations import Expectation, Failure, Verdict, evaluate, projected, read, suite_for, table_failures
from scholarlake.lake.findings import EXAMPLES, rows_of
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake

WHOLE = 1_000_000  # rows
FEW = 0.1  # of a partition's rows: no more than these may have changed, for Polars to look at them in the place of Great Expectations
IN_POLARS = frozenset({"citations", "core_citations", "document_sources", "documents"})  # of many rows, or of wide ones

_lock = threading.Lock()  # the context is one a process, and not made for several threads


def verdict(lake: Lake, name: str, partition: str | None = None, passed_at: int | None = None) -> Verdict:
    """What the contract's suite says of a table, or of one of its partitions.

    passed_at: version of the table at which all its rows had passed this suite. Where few have come or changed since, the same expectations
    are put to these alone, with all that share a key with them: cost follows change. They go to Polars: Great Expectations takes a third of
    a second for a single row, and its import three, which is most of what the checks of a small refresh would take.
    """
    frame = read(lake, name, partition)
    rows = rows_of(frame)
    few = None if passed_at is None or not rows else touched(lake, name, passed_at, partition)
    if few is not None:
        said = evaluate(few, table(name), partition)
        return replace(said, rows=rows, looked_at=said.rows)
    # An empty one has nothing to put to Great Expectations but its columns, and most shards have no failures to list.
    if name in IN_POLARS or not 0 < rows <= WHOLE:
        return evaluate(frame, table(name), partition)
    return validated(frame, name, partition)


def touched(lake: Lake, name: str, version: int, partition: str | None = None) -> pl.LazyFrame | None:
    """The rows of a table, or of a partition, that came or changed since a version, with all that have the first column of their key in
    common with one. None where they are more than FEW of them, or nothing tells which they are."""
    fed = changed_since(lake, name, partition, version)
    frame = read(lake, name, partition)
    if fed is None or fed.height > FEW * rows_of(frame):
        return None
    key = table(name).key[0]
    return frame.filter(pl.col(key).is_in(fed[key].unique().implode())) if fed.height else frame.clear()


def claims_of(name: str) -> str:
    """Digest of all that the suite of a table expects."""
    return digest(map(str, suite_for(table(name))))


def validated(frame: pl.LazyFrame, name: str, partition: str | None = None) -> Verdict:
    """Run the suite of a table in Great Expectations on a frame that fits in memory, projected to what the suite looks at."""
    contract = table(name)
    suite = suite_for(contract)
    schema = frame.collect_schema()
    rows = projected(frame, schema, suite).collect()
    failures = table_failures(schema, [claim for claim in suite if claim.kind == "type"])
    # Arrow-backed columns: without them a nullable integer becomes a float, and a year is shown as 2007.0.
    batch_of_rows = {"dataframe": rows.to_pandas(use_pyarrow_extension_array=True)}
    claims = [claim for claim in suite if claim.kind != "type"]
    with _lock:
        import great_expectations as gx

        batch = _batch_definition().get_batch(batch_parameters=batch_of_rows)
        said = batch.validate(
            gx.ExpectationSuite(name=contract.name, expectations=[_expectation(claim, place) for place, claim in enumerate(claims)]),
            result_format={"result_format": "SUMMARY", "partial_unexpected_count": EXAMPLES},
        )
    answers = {int(result.expectation_config.meta["claim"]): result for result in said.results}
    for place, claim in enumerate(claims):
        # Great Expectations answers in an order of its own; an expectation that it never answered has not passed.
        failure = _failure(claim, answers[place]) if place in answers else Failure(str(claim), 1, error="no answer")
        if failure is not None:
            failures.append(failure)
    return Verdict(contract.name, partition, "great_expectations", rows.height, len(suite), tuple(failures))


@cache
def _batch_definition() -> Any:
    """The one in-memory context of this process, reduced to what takes a frame."""
    # Both must be said before the import: it reads them once.
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("TQDM_DISABLE", "1")
    import great_expectations as gx

    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    context = gx.get_context(mode="ephemeral")
    variables: Any = context.variables
    variables.progress_bars = {"globally": False}
    return context.data_sources.add_pandas("lake").add_dataframe_asset("rows").add_batch_definition_whole_dataframe("all")


def _expectation(claim: Expectation, place: int) -> Any:
    """A claim in Great Expectations' words. `place` comes back with the answer."""
    import great_expectations.expectations as module

    gxe: Any = module  # it exports its classes without saying so
    meta = {"claim": place}
    column = claim.columns[0]
    match claim.kind:
        case "columns":
            return gxe.ExpectTableColumnsToMatchSet(column_set=list(claim.columns), exact_match=True, meta=meta)
        case "complete":
            return gxe.ExpectColumnValuesToNotBeNull(column=column, meta=meta)
        case "unique" if len(claim.columns) > 1:
            return gxe.ExpectCompoundColumnsToBeUnique(column_list=list(claim.columns), ignore_row_if="never", meta=meta)
        case "unique":
            return gxe.ExpectColumnValuesToBeUnique(column=column, meta=meta)
        case "between":
            return gxe.ExpectColumnValuesToBeBetween(column=column, min_value=claim.minimum, max_value=claim.maximum, meta=meta)
        case "one_of":
            return gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(claim.values), meta=meta)
        case "matches":
            return gxe.ExpectColumnValuesToMatchRegex(column=column, regex=claim.pattern, meta=meta)
        case _:
            raise AssertionError(f"{claim.kind} is tested on the schema, not by Great Expectations")


def _failure(claim: Expectation, result: Any) -> Failure | None:
    """What Great Expectations answered, None where the claim holds. An expectation that raised has failed, whatever it says."""
    error = raised(result.exception_info)
    if result.success and error is None:
        return None
    said: Mapping[str, Any] = result.result or {}
    values = said.get("partial_unexpected_list") or ([said["observed_value"]] if "observed_value" in said else [])
    return Failure(str(claim), int(said.get("unexpected_count") or 1), tuple(_plain(value) for value in values[:EXAMPLES]), error)


def raised(info: Any) -> str | None:
    """The message of an expectation that raised. `exception_info` is one record of it, or one for each metric that raised."""
    if not info:
        return None
    if "raised_exception" in info:
        return (str(info.get("exception_message") or "raised")) if info["raised_exception"] else None
    messages = [raised(entry) if isinstance(entry, Mapping) else str(entry) for entry in info.values()]
    return "; ".join(dict.fromkeys(message for message in messages if message)) or None


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(str(part) for part in value.values())
    return str(value)
