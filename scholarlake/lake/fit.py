"""Whether a frame fits its table's contract: refused, not cast, before anything is written."""

from __future__ import annotations

import polars as pl

from scholarlake.errors import ContractError
from scholarlake.lake.contracts import Table


def require_fit(contract: Table, partition: str | None, frame: pl.DataFrame) -> None:
    if dict(frame.schema) != dict(contract.schema) or frame.columns != list(contract.columns):
        wrong = [
            f"{name} is {frame.schema.get(name, 'missing')}, not {dtype}"
            for name, dtype in contract.schema.items()
            if frame.schema.get(name) != dtype
        ]
        wrong += [f"{name} is not in the contract" for name in frame.columns if name not in contract.columns]
        raise ContractError(f"{contract.name}: {'; '.join(wrong) or 'the columns are in another order'}")
    by = contract.partition_by
    if (by is None) != (partition is None):
        raise ContractError(f"{contract.name} is partitioned by {by}; a write names {'one' if by else 'no'} partition")
    if by is not None and frame.height and frame.select((pl.col(by) != partition).fill_null(True).any()).item():
        raise ContractError(f"{contract.name}: rows of another {by} than {partition!r}")


def require_unique_keys(contract: Table, frame: pl.DataFrame) -> None:
    key = list(contract.key)
    if frame.select(pl.any_horizontal(pl.col(key).is_null()).any()).item():
        raise ContractError(f"{contract.name}: a row without a key ({', '.join(key)})")
    if frame.select(pl.struct(key).n_unique()).item() != frame.height and frame.height:
        raise ContractError(f"{contract.name}: two rows of one key ({', '.join(key)})")
