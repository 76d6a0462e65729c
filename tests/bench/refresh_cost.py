"""What a small change costs: one part in sixteen replaced by itself with one record in a hundred edited.

    python -m tests.bench.refresh_cost [--papers N] [--keep FOLDER]

A first build of a generated dump with the hashing embedder, then the change, then a refresh by the same main job. Three ratios in
one run: wall of the refresh to wall of the first build, texts embedded to texts changed, rows in the change feeds to rows changed.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import orjson
import polars as pl
from deltalake import DeltaTable

from pipelines.build import run
from scholarlake.dense.text import embedding_text
from scholarlake.lake import contracts, delta, receipts
from scholarlake.lake.home import Lake
from scholarlake.sample import generate

PARTS = 16
EDITED_EVERY = 100
PROFILE = "shards: 16\ncore: {min_total: 40, min_in: 10}\ndense: {centroids: 1024}\n"
MODELS = (
    'roles: {embedder: h}\nendpoints:\n  h: {backend: hashing, model: word-and-trigram, revision: "1", dimension: 128, batch_size: 4096}\n'
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path, help="folder for the dump and the lake; a temporary one where it is not given")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="refresh-cost-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        measure(folder, options.papers)
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def measure(folder: Path, papers: int) -> None:
    """Build, change, refresh, and print what each took."""
    import os

    (folder / "bench.yaml").write_text(PROFILE)
    (folder / "models.yaml").write_text(MODELS)
    os.environ["SCHOLARLAKE_MODELS"] = str(folder / "models.yaml")
    dumps = generate(folder, papers, PARTS, seed=1, compression="none", faults=False).dumps
    first = _timed(folder, dumps, "first build")
    lake = Lake.open(folder / "lake")
    before = {name: delta.version(lake, name) for name in contracts.TABLES}
    edited = _edit(sorted(path for path in dumps.rglob("*") if path.is_file())[0])
    print(f"edited {edited:,} records of one part in {PARTS}")
    again = _timed(folder, dumps, "refresh")

    texts = _changed_texts(lake, before["papers"] or 0)
    embedded = sum(int(receipt.facts.get("embedded", 0)) for receipt in receipts.read_all(lake, "embeddings") if _moved(receipt, before))
    print(f"wall of the refresh to the first build: {again / first:.3f} (wanted: at most 0.35)")
    print(f"texts embedded {embedded:,}, changed {texts:,}: {embedded / max(1, texts):.3f} (wanted: at most 1.05)")
    fed = changed = 0
    for name, contract in contracts.TABLES.items():
        version = before[name]
        if contract.feed and version is not None and delta.version(lake, name) != version:
            rows, differing = _fed(lake, name, version), _differing(lake, name, version)
            print(f"  {name}: {rows:,} rows in the feed, {differing:,} differ")
            fed, changed = fed + rows, changed + differing
    print(f"rows in the change feeds {fed:,}, changed {changed:,}: {fed / max(1, changed):.3f} (wanted: at most 1.05)")


def _timed(folder: Path, dumps: Path, what: str) -> float:
    began = time.monotonic()
    steps: dict[str, float] = {}
    outcome = run(lake=folder / "lake", dumps=dumps, profile=str(folder / "bench.yaml"))
    if outcome.failed:
        raise SystemExit("; ".join(f"{failure.where}: {failure.why}" for failure in outcome.failed))
    for ran in outcome.ran:
        steps[ran.asset] = steps.get(ran.asset, 0.0) + ran.seconds
    wall = time.monotonic() - began
    print(f"{what}: {wall:.1f} s, {len(outcome.ran)} partitions; " + ", ".join(f"{name} {spent:.1f}" for name, spent in steps.items()))
    return wall


def _edit(part: Path) -> int:
    """Give every hundredth record of a part another title."""
    lines = part.read_bytes().splitlines()
    count = 0
    for place in range(0, len(lines), EDITED_EVERY):
        record = orjson.loads(lines[place])
        if record.get("title"):
            record["title"] = f"{record['title']} revised"
            lines[place] = orjson.dumps(record)
            count += 1
    part.write_bytes(b"\n".join(lines) + b"\n")
    return count


def _moved(receipt: receipts.Receipt, before: dict[str, int | None]) -> bool:
    version = before["embeddings"]
    return version is None or receipt.tables.get("embeddings", 0) > version


def _changed_texts(lake: Lake, version: int) -> int:
    """Distinct embedding texts that were not there before."""
    old, new = (
        delta.scan(lake, "papers", at).select(text=embedding_text(8_000).hash()).unique().collect(engine="streaming")
        for at in (version, None)
    )
    return new.join(old, on="text", how="anti").height


def _fed(lake: Lake, name: str, version: int) -> int:
    """Rows in the change feed since a version, an update being two: what was and what is."""
    feed = DeltaTable(str(lake.table_path(name))).load_cdf(starting_version=version + 1)
    return sum(batch.num_rows for batch in feed)


def _differing(lake: Lake, name: str, version: int) -> int:
    """Rows that came or went between a version and now, an edited one being two."""
    columns = contracts.table(name).compared_columns
    old, new = (delta.scan(lake, name, at).select(row=pl.struct(columns).hash()).collect(engine="streaming") for at in (version, None))
    return old.join(new, on="row", how="anti").height + new.join(old, on="row", how="anti").height


if __name__ == "__main__":
    main()
