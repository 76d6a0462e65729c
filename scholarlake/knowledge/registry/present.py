"""What the tables of the three layers hold now, as objects that can be registered, and what rests on what among them.

Wide content is read kind by kind and only for objects that are asked for. What does not belong here: what is registered already, and
which new object continues which (`matching`).
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from scholarlake.lake.hashing import digest, text_hash
from scholarlake.lake.home import Lake

LAYERS = {"fact": 1, "taxonomy": 2, "entity": 2, "assignment": 2, "relation": 2, "synthesis": 3, "hypothesis": 3, "note": 3}
#: Kinds that stages make, bases before what rests on them.
KINDS = ("fact", "taxonomy", "entity", "assignment", "relation", "synthesis")
TAXONOMY = "taxonomy-"

OBJECTS = pl.Schema(
    {
        "object_id": pl.String,
        "kind": pl.String,
        "collection": pl.String,
        "title": pl.String,
        "content": pl.String,
        "content_hash": pl.String,
        "verification": pl.String,
        "review": pl.String,
        "stage": pl.String,
        "method": pl.String,
    }
)
RESTING = pl.Schema({"dependent": pl.String, "basis": pl.String, "role": pl.String})

# Where a row lies or what code made it is nothing that it says.
_SILENT = ("code_version", "shard", "n")
_ID = {"entity": "entity_id", "assignment": "assignment_id", "relation": "relation_id", "synthesis": "synthesis_id"}
_STAGE = {"taxonomy": "taxonomies", "entity": "entities", "assignment": "assignments", "relation": "relations", "synthesis": "syntheses"}
_TITLE = {
    "fact": pl.col("statement"),
    "entity": pl.format("{} ({})", "name", "type"),
    "assignment": pl.format("{}: {}", "subject", "category_id"),
    "relation": pl.format(
        "{} {} {}",
        pl.coalesce("source", "source_id"),
        pl.col("relation").str.replace_all("_", " "),
        pl.coalesce("target", "target_id"),
    ),
    "synthesis": pl.col("title"),
}


def objects(lake: Lake, kind: str, ids: Iterable[str] | None = None) -> pl.DataFrame:
    """The present objects of a kind, by id; all of them, or those of some ids. Schema: OBJECTS."""
    rows = _there(lake, _taxonomies(lake) if kind == "taxonomy" else _of_table(lake, kind))
    if ids is not None:
        rows = rows.filter(pl.col("object_id").is_in(pl.Series("ids", list(ids), dtype=pl.String).implode()))
    found = rows.collect().unique("object_id", keep="first", maintain_order=True)
    hashes = pl.Series("content_hash", [text_hash(one) for one in found["content"]], dtype=pl.String)
    return found.with_columns(hashes).select([pl.col(name).cast(dtype) for name, dtype in OBJECTS.items()]).sort("object_id")


def resting(lake: Lake) -> pl.DataFrame:
    """Which present object rests on which, by their ids, and what the basis is to it. Schema: RESTING."""
    taxonomies = (
        lake.scan("taxonomies").group_by("collection").agg(pl.col("taxonomy").first()).select("collection", taxonomy_id=_TAXONOMY_ID)
    )
    mentions = _there(lake, lake.scan("entity_mentions")).select(dependent="entity_id", basis="fact_id", role=pl.lit("mention"))
    assignments = _there(lake, lake.scan("assignments"))
    relations = _there(lake, _worth_registering(lake))
    bases = _there(lake, lake.scan("syntheses")).select("synthesis_id", "basis").explode("basis", empty_as_null=True).unnest("basis")
    frames = [
        mentions,
        _evidence(assignments, "assignment_id"),
        assignments.filter(pl.col("subject_kind") == "entity").select(
            dependent="assignment_id", basis="subject_id", role=pl.lit("subject")
        ),
        assignments.join(taxonomies, on="collection").select(dependent="assignment_id", basis="taxonomy_id", role=pl.lit("category")),
        _evidence(relations, "relation_id"),
        *(
            relations.filter(pl.col(f"{end}_kind") == "entity").select(dependent="relation_id", basis=f"{end}_id", role=pl.lit("subject"))
            for end in ("source", "target")
        ),
        bases.select(dependent="synthesis_id", basis="object_id", role="role"),
    ]
    return pl.concat([frame.drop_nulls().unique() for frame in frames]).unique().collect()


_TAXONOMY_ID = pl.struct("collection", "taxonomy").map_elements(
    lambda one: f"{TAXONOMY}{digest([one['collection'], one['taxonomy']])}", return_dtype=pl.String
)


def _there(lake: Lake, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Without what is left of collections that are gone. A fact is of no collection."""
    there = lake.scan("collections").select("collection").unique()
    return pl.concat([rows.filter(pl.col("collection").is_null()), rows.join(there, on="collection", how="semi")])


def _of_table(lake: Lake, kind: str) -> pl.LazyFrame:
    if kind == "fact":
        facts = lake.scan("facts").select(_object("fact", "fact_id", list(lake.scan("facts").collect_schema()), "facts"))
        attended = lake.scan("attended_facts")
        columns = [name for name in attended.collect_schema() if name != "collection"]  # one fact, whichever collections asked for it
        return pl.concat([facts, attended.select(_object("fact", "fact_id", columns, "attended_facts"))])
    rows = _worth_registering(lake) if kind == "relation" else lake.scan(_STAGE[kind])
    return rows.select(_object(kind, _ID[kind], list(rows.collect_schema()), _STAGE[kind]))


def _object(kind: str, key: str, columns: list[str], stage: str) -> list[pl.Expr]:
    """A row as an object: OBJECTS but for the hash of its content."""
    nothing = pl.lit(None, pl.String)
    return [
        pl.col(key).alias("object_id"),
        pl.lit(kind).alias("kind"),
        (pl.col("collection") if "collection" in columns else nothing).alias("collection"),
        _TITLE[kind].alias("title"),
        pl.struct([name for name in columns if name not in _SILENT]).struct.json_encode().alias("content"),
        (pl.col("verification") if "verification" in columns else nothing).alias("verification"),
        (pl.col("review") if "review" in columns else nothing).alias("review"),
        pl.lit(stage).alias("stage"),
        pl.col("method"),
    ]


def _taxonomies(lake: Lake) -> pl.LazyFrame:
    """The whole taxonomy of a collection as one object."""
    shared = ("collection", "taxonomy")
    categories = [name for name in lake.scan("taxonomies").collect_schema() if name not in (*shared, "code_version")]
    whole = (
        lake.scan("taxonomies")
        .sort("collection", "n", "category_id")
        .group_by(shared, maintain_order=True)
        .agg(pl.struct(categories).alias("categories"), pl.col("method").first())
    )
    return whole.select(
        _TAXONOMY_ID.alias("object_id"),
        pl.lit("taxonomy").alias("kind"),
        "collection",
        pl.format("taxonomy of {}", "collection").alias("title"),
        pl.struct(*shared, "categories").struct.json_encode().alias("content"),
        pl.lit(None, pl.String).alias("verification"),
        pl.lit(None, pl.String).alias("review"),
        pl.lit("taxonomies").alias("stage"),
        "method",
    )


def _worth_registering(lake: Lake) -> pl.LazyFrame:
    """Relations that rest on facts: that one paper cites another is no judgement of anybody."""
    return lake.scan("relations").filter((pl.col("relation") != "cites") | (pl.col("basis").list.len() > 0))


def _evidence(rows: pl.LazyFrame, key: str) -> pl.LazyFrame:
    return rows.select(dependent=key, basis="basis").explode("basis", empty_as_null=True).with_columns(role=pl.lit("evidence"))
