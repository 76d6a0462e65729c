"""From the narrow columns of `records` to `identities`: which paper each record belongs to, and the rule that decided; and to
`work_versions` and `withdrawals`: which papers are versions of another, and which a notice says to be withdrawn.

The rules themselves are in clusters.py, versions.py and withdrawal.py. Here records are gathered into nodes (a record id with the keys of
its newest record), clusters get their paper's id, and the decisions are written, shard by shard; before them, what became of papers that
are no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from scholarlake.corpus import preprints
from scholarlake.corpus.clusters import NO_YEAR, Clusters, NodeKeys, decide
from scholarlake.corpus.keys import Indices, run_starts, unsigned
from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.record_files import NARROW_ROWS, RecordFile, record_files
from scholarlake.corpus.shard_writer import ShardWriter, TableReport
from scholarlake.corpus.tombstones import TombstonesReport, bury
from scholarlake.corpus.versions import Nodes, decide_versions
from scholarlake.corpus.withdrawal import decide_withdrawals, may_be_about_withdrawal, named_by
from scholarlake.errors import LakeError
from scholarlake.lake import contracts, delta
from scholarlake.lake.delta import combined
from scholarlake.lake.home import Lake
from scholarlake.sources.editions import edition_ranks

_SEED = 7  # hashes of DOIs and fingerprints live no longer than this process
_NO_KEY = pl.lit(0, pl.UInt64)
_NARROW = (
    pl.col("record_id"),
    pl.col("record_key"),
    pl.col("edition").cast(pl.Categorical),
    pl.col("content_hash"),
    pl.when(pl.col("doi").is_null()).then(_NO_KEY).otherwise(pl.col("doi").hash(_SEED) | 1).alias("doi"),
    pl.when(pl.col("title_fingerprint").is_null()).then(_NO_KEY).otherwise(pl.col("title_fingerprint").hash(_SEED) | 1).alias("title"),
    pl.col("year").fill_null(NO_YEAR),
    pl.col("author_keys"),
    preprints.kind().alias("kind"),
)
_CONTENT = ("record_key", "content_hash")


@dataclass(frozen=True)
class IdentitiesReport:
    """What `build_identities` found and wrote. By shard, every shard of the lake: content_versions, of identities; paper_inputs, of all
    that the shard's papers are made from. versions and withdrawals: of those tables.
    """

    records: int
    distinct_records: int
    record_ids: int
    papers: int
    rules: Mapping[str, int]
    doi_conflicts: int
    inserted: int
    updated: int
    deleted: int
    version: int | None
    content_versions: Mapping[str, str]
    paper_inputs: Mapping[str, str]
    versions_by_rule: Mapping[str, int]
    notices: int
    versions: TableReport
    withdrawals: TableReport
    tombstones: TombstonesReport

    @property
    def changed(self) -> int:
        return self.inserted + self.updated + self.deleted


@dataclass(frozen=True)
class _Decided:
    """Rows of `identities`, `work_versions` and `withdrawals`, and how many notices there are."""

    identities: pl.DataFrame
    versions: pl.DataFrame
    withdrawals: pl.DataFrame
    notices: int


def build_identities(lake: Lake, run: delta.Commit, progress: Progress = silent) -> IdentitiesReport:
    """Decide the paper of every record that `records` holds now, and what is a version or withdrawn; write `tombstones`, `work_versions`,
    `withdrawals`, then `identities`, every shard of them.

    Raises LakeError where two record ids have one 64-bit key, or `records` was never written.
    """
    if not delta.exists(lake, "records"):
        raise LakeError("records has not been built; run `scholarlake build` with a folder of dumps first")
    files = record_files(lake)
    distinct, lines = _distinct_records(files, progress)
    decided = _decide(distinct, files, lake, run.code_version, progress)
    identities, versions, withdrawals = decided.identities, decided.versions, decided.withdrawals
    rules = Counter(dict(identities["rule"].value_counts().iter_rows()))
    conflicts = int((identities["flags"].list.len() > 0).sum())
    record_ids = int(identities["is_current"].sum())
    by_shard = {str(key[0]): frame for key, frame in identities.partition_by("shard", as_dict=True).items()}
    total, notices = identities.height, decided.notices
    del identities, decided
    empty = pl.DataFrame(schema=contracts.IDENTITIES.schema)
    tombstones = bury(lake, by_shard, run)

    def rows(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
        yield frame.sort("record_id", "edition", "content_hash")

    written = {
        name: ShardWriter(lake, name, run, progress).write((shard, [frame.filter(shard=shard)]) for shard in lake.shard_keys)
        for name, frame in (("work_versions", versions), ("withdrawals", withdrawals))
    }
    shards = ((shard, rows(by_shard.pop(shard, empty))) for shard in lake.shard_keys)
    report = ShardWriter(lake, "identities", run, progress).write(shards)
    contents = {"identities": report.content_versions, **{name: one.content_versions for name, one in written.items()}}
    return IdentitiesReport(
        records=lines,
        distinct_records=total,
        record_ids=record_ids,
        papers=rules["representative"],
        rules={rule: rules.get(rule, 0) for rule in contracts.IDENTITY_RULES},
        doi_conflicts=conflicts,
        inserted=report.inserted,
        updated=report.updated,
        deleted=report.deleted,
        version=report.version,
        content_versions=report.content_versions,
        paper_inputs={shard: combined({name: found[shard] for name, found in contents.items()}) for shard in lake.shard_keys},
        versions_by_rule={rule: versions.filter(rule=rule).height for rule in contracts.VERSION_RULES},
        notices=notices,
        versions=written["work_versions"],
        withdrawals=written["withdrawals"],
        tombstones=tombstones,
    )


def _distinct_records(files: list[RecordFile], progress: Progress) -> tuple[pl.DataFrame, int]:
    """Narrow columns of every distinct record, sorted by key, edition and content, and the number of lines there were.

    Adds edition_rank (place in the editions' order) and copies.
    """
    total = sum(file.rows for file in files)
    pieces = []
    done = 0
    for file in files:
        for piece in file.batches(_NARROW, NARROW_ROWS):
            pieces.append(piece)
            done += piece.height
            progress(done, total, "reading keys of records")
    if not pieces:
        columns = {name: contracts.RECORDS.schema[name] for name in ("record_id", "record_key", "content_hash", "year", "author_keys")}
        pieces = [pl.DataFrame(schema={**columns, "edition": pl.Categorical, "doi": pl.UInt64, "title": pl.UInt64, "kind": pl.UInt8})]
    frame = pl.concat(pieces, how="diagonal", rechunk=True)
    del pieces
    editions = edition_ranks(set(frame["edition"].cast(pl.String).unique().to_list()))
    ranks = pl.col("edition").cast(pl.String).replace_strict(editions, return_dtype=pl.Int32)
    frame = frame.with_columns(ranks.alias("edition_rank") if editions else pl.lit(0, pl.Int32).alias("edition_rank"))
    # Unsigned order of keys: what KeyIndex needs later. Shards and papers do not depend on it.
    order = frame.select(pl.arg_sort_by(pl.col("record_key").reinterpret(signed=False), "edition_rank", "content_hash").alias("at"))["at"]
    narrow = frame.select("record_key", "edition_rank", "content_hash")[order]
    starts = run_starts(*(narrow[name].to_numpy() for name in narrow.columns))
    copies = np.diff(np.append(starts, narrow.height))
    frame = frame[order.gather(starts)].with_columns(pl.Series("copies", copies, dtype=pl.Int64))
    _refuse_collisions(frame)
    return frame, total


def _refuse_collisions(frame: pl.DataFrame) -> None:
    """Two record ids of one 64-bit key would silently be one node. Odds are 1 in 2,000 at a hundred million ids, not nil."""
    key = frame["record_key"].to_numpy()
    second = np.flatnonzero(key[1:] == key[:-1]) + 1
    first_id, second_id = frame["record_id"].gather(second - 1), frame["record_id"].gather(second)
    differs = (first_id != second_id).arg_true()
    if len(differs):
        one, other = first_id[int(differs[0])], second_id[int(differs[0])]
        raise LakeError(f"record ids {one!r} and {other!r} have the same 64-bit key; rename one of them in its dump part")


def _decide(distinct: pl.DataFrame, files: list[RecordFile], lake: Lake, code_version: str, progress: Progress) -> _Decided:
    """The identities of all distinct records, the versions and the withdrawals, in the contracts' schemas."""
    key = distinct["record_key"].to_numpy()
    first = run_starts(key)
    last = np.append(first[1:], distinct.height) - 1 if len(first) else first
    current = distinct[last]
    progress(0, None, "deciding which records are one paper")
    keys = _node_keys(current)
    clusters = decide(keys, lambda nodes: _titles(current[nodes], files, progress))

    node_of = np.repeat(np.arange(len(first), dtype=np.int64), np.diff(np.append(first, distinct.height)))
    representative = _representatives(distinct[first], clusters.of_node)  # node, by cluster
    paper_node = representative[clusters.of_node]
    rules = _rules(clusters, paper_node, first, last, node_of)
    paper_key = key[first][paper_node]
    shard = (unsigned(paper_key) % np.uint64(lake.shards)).astype(np.int64)
    flags = pl.Series("flags", [[], ["doi_conflict"]], dtype=pl.List(pl.String))
    names = pl.Series("shard", lake.shard_keys, dtype=pl.String)
    ids = distinct["record_id"].gather(first)
    identities = distinct.select(
        "record_id",
        "record_key",
        pl.col("edition").cast(pl.String),
        "content_hash",
        "copies",
        pl.Series("is_current", np.arange(distinct.height) == last[node_of] if len(first) else [], dtype=pl.Boolean),
        ids.gather(paper_node[node_of]).alias("paper_id"),
        pl.Series("paper_key", paper_key[node_of], dtype=pl.Int64),
        names.gather(shard[node_of]).alias("shard"),
        pl.Series("rule", contracts.IDENTITY_RULES, dtype=pl.String).gather(rules).alias("rule"),
        flags.gather(clusters.conflict[node_of].astype(np.int64)).alias("flags"),
        pl.lit(code_version).alias("code_version"),
    )
    progress(0, None, "looking for preprints and notices")
    nodes = Nodes(keys, current["kind"].to_numpy(), paper_node, ids.gather, _numbered(current, files))
    notices = _notices(current, files)
    found = decide_versions(nodes)
    withdrawn = decide_withdrawals(nodes, notices, found)

    def named(column: str) -> pl.Series:
        return ids.gather((found if column in found.columns else withdrawn)[column])

    def rows(frame: pl.DataFrame, contract: contracts.Table, **columns: pl.Series) -> pl.DataFrame:
        lies_in = names.gather(shard[frame["paper"].to_numpy()])
        facts = {"paper_id": ids.gather(frame["paper"]), "shard": lies_in, **columns}
        return (
            pl.DataFrame(facts)
            .with_columns(pl.lit(code_version).alias("code_version"))
            .cast(contract.schema)
            .select(list(contract.columns))
        )

    rule = pl.Series("rule", contracts.VERSION_RULES, dtype=pl.String).gather(found["rule"])
    return _Decided(
        identities,
        rows(found, contracts.WORK_VERSIONS, version_of=named("version_of"), rule=rule),
        rows(withdrawn, contracts.WITHDRAWALS, notice_id=named("notice")),
        notices.height,
    )


def _numbered(current: pl.DataFrame, files: list[RecordFile]) -> pl.DataFrame:
    """node, stem and number of the newest records whose DOI is that of a numbered version of a preprint."""
    stem, number = preprints.version()
    columns: list[str | pl.Expr] = [*_CONTENT, stem.hash(_SEED).alias("stem"), number.alias("number")]
    return _of_nodes(current, [file.where(preprints.has_version(), columns) for file in files], {"stem": pl.UInt64, "number": pl.Int32})


def _notices(current: pl.DataFrame, files: list[RecordFile]) -> pl.DataFrame:
    """node and title of the newest records that are notices: the hash of the fingerprint that each names."""
    found = _of_nodes(current, [file.where(may_be_about_withdrawal(), [*_CONTENT, "title"]) for file in files], {"title": pl.String})
    named = pl.Series("title", [named_by(title) for title in found["title"]], dtype=pl.String)
    return found.with_columns(named).drop_nulls("title").with_columns(pl.col("title").hash(_SEED) | 1)


def _of_nodes(current: pl.DataFrame, rows: list[pl.DataFrame], columns: Mapping[str, pl.DataType | type[pl.DataType]]) -> pl.DataFrame:
    """node, and the columns, of those of some rows that are the newest record of their id, each once, in the order of the nodes.

    rows: record_key, content_hash and the columns.
    """
    asked = pl.concat([pl.DataFrame(schema={"record_key": pl.Int64, "content_hash": pl.Int64, **columns}), *rows]).unique(list(_CONTENT))
    newest = current.select(*_CONTENT).with_columns(node=pl.int_range(pl.len(), dtype=pl.Int64))
    return newest.join(asked, on=list(_CONTENT), how="inner").sort("node").select("node", *columns)


def _node_keys(current: pl.DataFrame) -> NodeKeys:
    lengths = current["author_keys"].list.len().fill_null(0).to_numpy()
    signed = current["author_keys"].filter(pl.Series(lengths > 0))
    return NodeKeys(
        doi=current["doi"].to_numpy(),
        title=current["title"].to_numpy(),
        year=current["year"].to_numpy(),
        authors=signed.explode().to_numpy(),
        author_starts=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
    )


def _titles(current: pl.DataFrame, files: list[RecordFile], progress: Progress) -> list[str | None]:
    """Titles of the given newest records, read for them alone."""
    wanted = current.select("record_key", pl.col("edition").cast(pl.String), "content_hash")
    keys = wanted["record_key"].unique()
    found = []
    for done, file in enumerate(files):
        progress(done, len(files), "reading titles that share a DOI")
        found.append(file.matching(["record_key", "edition", "content_hash", "title"], keys))
    titles = pl.concat(found).unique(["record_key", "edition", "content_hash"], keep="any")
    joined = wanted.join(titles, on=["record_key", "edition", "content_hash"], how="left", maintain_order="left")
    return joined["title"].to_list()


def _representatives(oldest: pl.DataFrame, cluster: Indices) -> Indices:
    """The node that names each cluster: the smallest (edition, id as text) among its records. 0 for numbers no cluster has.

    oldest: each node's first record.
    """
    ordered = oldest.select("edition_rank", "record_id").with_columns(
        pl.Series("cluster", cluster, dtype=pl.Int64), pl.Series("node", np.arange(len(cluster)), dtype=pl.Int64)
    )
    sizes = np.bincount(cluster) if len(cluster) else np.empty(0, dtype=np.int64)
    representative = np.zeros(len(sizes), dtype=np.int64)
    representative[cluster] = np.arange(len(cluster))
    several = ordered.filter(pl.Series(sizes[cluster] > 1, dtype=pl.Boolean)).sort("cluster", "edition_rank", "record_id")
    smallest = several.unique("cluster", keep="first", maintain_order=True)
    representative[smallest["cluster"].to_numpy()] = smallest["node"].to_numpy()
    return representative


def _rules(clusters: Clusters, paper_node: Indices, first: Indices, last: Indices, node_of: Indices) -> Indices:
    """Index into IDENTITY_RULES for every distinct record.

    Exactly one record of a paper is its representative: the oldest of the id that names it. Other records that are not the newest
    of their id, and the rest of the representative's, are there by their id; the newest of every other id by what joined the node.
    """
    same_id = contracts.IDENTITY_RULES.index("same_id")
    rules = np.full(len(node_of), same_id, dtype=np.int64)
    rules[last] = clusters.join
    names_paper = paper_node == np.arange(len(paper_node))
    rules[last[names_paper]] = same_id
    rules[first[names_paper]] = contracts.IDENTITY_RULES.index("representative")
    return rules
