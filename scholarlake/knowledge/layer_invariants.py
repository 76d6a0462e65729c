"""What must hold of the index of a collection: it has every object of the layers as its table has it, and no other; nothing that it names
is missing; its vectors are sound and of one model.

Read from the files themselves, as `layer/index.py` lays them down.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import numpy as np
import polars as pl

from scholarlake.dense.invariants import LENGTH_TOLERANCE
from scholarlake.knowledge.layer.contents import IDS, contents
from scholarlake.knowledge.layer.index import FILE, VECTORS, as_json
from scholarlake.lake.artifacts import open_artifact
from scholarlake.lake.findings import Finding, from_offenders, rows_of
from scholarlake.lake.hashing import text_hash
from scholarlake.lake.home import Lake

_ABOUT_PAPERS = {"facts": "fact", "sentences": "sentence"}
_OF_COLLECTION = {
    "attended_facts": "fact",
    "entities": "entity",
    "assignments": "assignment",
    "relations": "relation",
    "syntheses": "synthesis",
}


def every_object_is_indexed(lake: Lake, collection: str, folder: Path) -> Finding:
    """The index has the objects of the collection, and no other, each as its table has it, and words for all that is searched."""
    held = _rows(folder, "SELECT object_id, kind, coalesce(text_hash, '') AS text, content FROM item").with_columns(
        content=pl.col("content").map_elements(text_hash, pl.String)
    )
    entries = contents(lake, collection).entries
    as_it_is = pl.LazyFrame(
        {
            "object_id": [entry.object_id for entry in entries],
            "text": ["" if entry.text is None else text_hash(entry.text) for entry in entries],
            "content": [text_hash(as_json(entry.content)) for entry in entries],
        },
        {"object_id": pl.String, "text": pl.String, "content": pl.String},
    )
    wanted = _objects(lake, collection)
    words = _rows(
        folder, "SELECT i.object_id FROM item i LEFT JOIN keyword k ON k.rowid = i.at WHERE (i.text_hash IS NULL) = (k.rowid IS NULL)"
    )
    offenders = pl.concat(
        [
            wanted.join(held, on=["object_id", "kind"], how="anti").select("object_id", fault=pl.lit("is not in the index")),
            held.join(wanted, on=["object_id", "kind"], how="anti").select("object_id", fault=pl.lit("is no object of the collection")),
            held.join(wanted, on=["object_id", "kind"], how="semi")
            .join(as_it_is, on=["object_id", "text", "content"], how="anti")
            .select("object_id", fault=pl.lit("is not as its table has it")),
            held.join(words, on="object_id", how="anti").select(
                "object_id", fault=pl.lit("has no words, or words though it is not searched")
            ),
        ]
    )
    return from_offenders(
        "every_object_is_indexed",
        f"the index of {collection} has every object of its layers as its table has it, and no other",
        rows_of(wanted),
        offenders,
        {"indexed": rows_of(held)},
    )


def every_link_resolves(lake: Lake, collection: str, folder: Path) -> Finding:
    """Whatever an object is said to rest on is in the index too: an object, a paper of the collection, or a category."""
    links = _rows(folder, "SELECT i.object_id, l.basis, l.role FROM link l JOIN item i ON i.at = l.dependent")
    known = _rows(folder, "SELECT object_id AS basis FROM item UNION SELECT paper_id FROM paper UNION SELECT category_id FROM category")
    offenders = links.join(known, on="basis", how="anti")
    return from_offenders("every_link_resolves", f"all that objects of {collection} rest on is in its index", rows_of(links), offenders)


def vectors_are_those_of_the_objects(folder: Path) -> Finding:
    """What is searched has one vector or is listed without one; vectors are finite and of unit length, as many as there are rows."""
    facts = open_artifact(folder, verify=False)["facts"]
    matrix = np.load(folder / VECTORS, mmap_mode="r" if facts["vectors"] else None)
    items = _rows(folder, "SELECT i.object_id, i.vector, i.text_hash, n.reason FROM item i LEFT JOIN not_embedded n USING (at)", "vector")
    lengths = np.linalg.norm(np.asarray(matrix, np.float64), axis=1) if len(matrix) else np.empty(0)
    sound = np.isfinite(lengths) & (np.abs(lengths - 1) <= LENGTH_TOLERANCE)
    rows = pl.LazyFrame({"vector": np.arange(len(matrix), dtype=np.int64), "sound": sound})
    searched = items.filter(pl.col("text_hash").is_not_null())
    offenders = pl.concat(
        [
            searched.filter(pl.col("vector").is_null() == pl.col("reason").is_null()).select(
                "object_id", fault=pl.lit("has neither a vector nor a reason, or both")
            ),
            searched.filter(pl.col("vector").is_not_null())
            .join(rows.filter("sound"), on="vector", how="anti")
            .select("object_id", fault=pl.lit("has no sound vector")),
            rows.join(items, on="vector", how="anti").select(
                pl.col("vector").cast(pl.String).alias("object_id"), fault=pl.lit("row of no object")
            ),
        ]
    )
    return from_offenders(
        "vectors_are_those_of_the_objects",
        "every object that is searched has a sound vector or is listed without one",
        rows_of(searched),
        offenders,
        {"vectors": len(matrix), "not_embedded": int(facts["not_embedded"])},
    )


def index_is_of_the_model(lake: Lake, folder: Path) -> Finding:
    """The index is of the model that the papers' vectors are of: a query is embedded once for both."""
    facts = open_artifact(folder, verify=False)["facts"]
    model = str(facts["model"])
    models = lake.scan("embeddings").select("model").unique()
    offenders = models.filter(pl.col("model") != model)
    return from_offenders(
        "index_is_of_the_model", "the index and the vectors of papers are of one model", int(facts["vectors"]), offenders, {"model": model}
    )


def _objects(lake: Lake, collection: str) -> pl.LazyFrame:
    """Ids and kinds of the collection's objects, table by table."""
    members = lake.scan("collections").filter(pl.col("collection") == collection).select("paper_id")
    found = [
        lake.scan(table).join(members, on="paper_id", how="semi").select(object_id=IDS[kind], kind=pl.lit(kind))
        for table, kind in _ABOUT_PAPERS.items()
    ]
    found += [
        lake.scan(table).filter(pl.col("collection") == collection).select(object_id=IDS[kind], kind=pl.lit(kind))
        for table, kind in _OF_COLLECTION.items()
    ]
    return pl.concat(found)


def _rows(folder: Path, query: str, *numbers: str) -> pl.LazyFrame:
    """The rows of a query; columns are text unless named as numbers."""
    with _opened(folder) as index:
        cursor = index.execute(query)
        schema: Mapping[str, type[pl.DataType]] = {
            column[0]: pl.Int64 if column[0] in numbers else pl.String for column in cursor.description
        }
        return pl.DataFrame(cursor.fetchall(), schema=schema, orient="row").lazy()


@contextmanager
def _opened(folder: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"file:{quote(str(folder / FILE))}?mode=ro&immutable=1", uri=True)
    try:
        yield connection
    finally:
        connection.close()
