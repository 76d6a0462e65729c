"""What changed between two releases, as a person asks: which papers came and went and why, who is cited more, what is core now.

Every table that either release pins is compared, so that a table that is new to the project shows up by itself; papers, citations and
the core have more said about them. What does not belong here: how rows are compared (`lake/changes.py`), how the answer is shown
(`terminal.py`, `changelog.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import polars as pl

from scholarlake.corpus.tombstones import MERGED, REMOVED, fates
from scholarlake.lake import contracts, delta
from scholarlake.lake.changes import AT, AT_BEFORE, FIELDS, Changes, Differing, Version, compare
from scholarlake.lake.contracts import Table
from scholarlake.lake.home import Lake
from scholarlake.lake.releases import Release

KINDS = ("came", "went", "changed")
_PAPER_COLUMNS = ("paper_id", "citing_id", "cited_id")
_MOVE = {"record_id": pl.String, "paper_id": pl.String}
_CITED = {"paper_id": pl.String, "before": pl.Int64, "after": pl.Int64}
Part = tuple[Differing, Changes]


@dataclass(frozen=True)
class RowChange:
    """One row that came, went or changed. fields: the columns that differ. papers: ids of the papers it is about.

    title: what tells a person which row it is. why: of a paper that came or went, what it came of or became.
    in_degree: how often its paper is cited, in the release that has it.
    """

    key: tuple[Any, ...]
    change: str
    fields: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()
    title: str | None = None
    why: str | None = None
    in_degree: int | None = None

    @property
    def name(self) -> str:
        """The key as text: the value itself, or a JSON list where it has several columns."""
        return str(self.key[0]) if len(self.key) == 1 else orjson.dumps(self.key).decode()


@dataclass(frozen=True)
class TableChange:
    """What changed in a table: all of it counted, some of it listed.

    fields: how many changed rows differ in each column, most first. partitions: how many there are in either release;
    compared: those whose files differ, and that were therefore read. rows: the listed changes.
    """

    table: str
    rows_before: int
    rows_after: int
    partitions: int
    compared: int
    came: int
    went: int
    changed: int
    fields: Mapping[str, int]
    rows: tuple[RowChange, ...]

    @property
    def total(self) -> int:
        return self.came + self.went + self.changed

    @property
    def unlisted(self) -> int:
        """Changes that the list is too short for."""
        return self.total - len(self.rows)

    def listed(self, change: str) -> list[RowChange]:
        return [row for row in self.rows if row.change == change]


@dataclass(frozen=True)
class Cited:
    """A paper that is cited more or less often than before."""

    paper_id: str
    before: int
    after: int
    title: str | None = None


@dataclass(frozen=True)
class Fates:
    """Of the papers that went: merged into another, or removed. Of those that came: split from another, or continuing one whose
    own record left; all others are new."""

    merged: int = 0
    removed: int = 0
    split: int = 0
    continued: int = 0


@dataclass(frozen=True)
class Differences:
    """What changed from one release to another. settings: profile setting → its two values. artifacts: asset → how many of its
    partitions are another artifact than before. gained, lost: papers by the change of their citations."""

    before: str
    after: str
    tables: tuple[TableChange, ...]
    papers: Fates = Fates()
    gained: tuple[Cited, ...] = ()
    lost: tuple[Cited, ...] = ()
    settings: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    artifacts: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_nothing(self) -> bool:
        return not (any(table.total for table in self.tables) or self.settings or self.artifacts)

    def table(self, name: str) -> TableChange | None:
        return next((table for table in self.tables if table.table == name), None)


def difference(lake: Lake, before: Release, after: Release, limit: int, tables: Sequence[str] = ()) -> Differences:
    """Compare two releases, in all tables or in some. At most `limit` rows are listed of each table and kind of change.

    Memory: see lake/changes.py; beyond that, the ids of papers and records that moved. Raises NotFound for a table of no name,
    LakeError where a version that a release pins is gone.
    """
    wanted = {contracts.table(name).name for name in tables} or set(contracts.TABLES)
    return _Work(lake, before, after, limit).done(wanted)


@dataclass
class _Top:
    """The rows of one kind of change that are worth listing: the most cited papers, then by key. Bounded."""

    contract: Table
    limit: int
    rows: pl.DataFrame | None = None

    def add(self, rows: pl.DataFrame) -> pl.DataFrame:
        kept = rows if self.rows is None else pl.concat([self.rows, rows], how="diagonal_relaxed")
        order = ["in_degree", *self.contract.key] if "in_degree" in kept.columns else list(self.contract.key)
        self.rows = kept.sort(order, descending=[name == "in_degree" for name in order], nulls_last=True).head(self.limit)
        return self.rows


class _Work:
    """One comparison under way."""

    def __init__(self, lake: Lake, before: Release, after: Release, limit: int) -> None:
        self.lake, self.before, self.after, self.limit = lake, before, after, limit
        self.moves, self.citations = _Moves(), _Citations(limit)

    def done(self, wanted: set[str]) -> Differences:
        needed = wanted | ({"identities"} if "papers" in wanted else set())  # what became of papers is known from there
        pinned = [name for name in contracts.TABLES if name in {*self.before.tables, *self.after.tables}]
        found = [self._table(contracts.TABLES[name]) for name in pinned if name in needed]
        gained, lost = self.citations.gained, self.citations.lost
        titles = self._titles([row for table in found for row in table.rows if row.title is None], [*gained, *lost])
        return Differences(
            before=self.before.name,
            after=self.after.name,
            tables=tuple(_titled(table, titles) for table in found if table.table in wanted),
            papers=self.moves.fates,
            gained=tuple(replace(one, title=titles["changed"].get(one.paper_id)) for one in gained),
            lost=tuple(replace(one, title=titles["changed"].get(one.paper_id)) for one in lost),
            settings=_settings(self.before, self.after),
            artifacts=_artifacts(self.before, self.after),
        )

    def _table(self, contract: Table) -> TableChange:
        compared = compare(contract, self._version(self.before, contract), self._version(self.after, contract))
        parts: Iterable[Part] = ((differing, differing.changes()) for differing in compared.differing)
        if contract.name == "papers":
            parts = self.moves.told(list(parts))  # all of them at once, by their keys: where one went may be any shard
        counts: Counter[str] = Counter()
        fields: Counter[str] = Counter()
        top = {kind: _Top(contract, self.limit) for kind in KINDS}
        for differing, changes in parts:
            if contract.name == "identities":
                self.moves.note(differing, changes)
            elif contract.name == "degrees":
                self.citations.note(differing, changes)
            for kind in KINDS:
                rows = getattr(changes, kind)
                counts[kind] += rows.height
                if rows.height:
                    top[kind].add(self._worth_listing(differing, kind, rows))
            fields.update(dict(changes.changed[FIELDS].explode().drop_nulls().value_counts().iter_rows()))
        rows_before, rows_after = (
            release.tables[contract.name].rows if contract.name in release.tables else 0 for release in (self.before, self.after)
        )
        return TableChange(
            table=contract.name,
            rows_before=rows_before,
            rows_after=rows_after,
            partitions=compared.partitions,
            compared=len(compared.differing),
            came=counts["came"],
            went=counts["went"],
            changed=counts["changed"],
            fields=dict(sorted(fields.items(), key=lambda one: (-one[1], one[0]))),
            rows=tuple(row for kind in KINDS for row in _row_changes(contract, kind, top[kind].rows)),
        )

    def _version(self, release: Release, contract: Table) -> Version | None:
        pin = release.tables.get(contract.name)
        return None if pin is None else Version(self.lake.root / pin.path, pin.version)

    def _scan(self, release: Release, name: str) -> pl.LazyFrame:
        contract = contracts.TABLES[name]
        version = self._version(release, contract)
        return pl.LazyFrame(schema=contract.schema) if version is None else delta.scan_path(version.folder, contract, version.version)

    def _worth_listing(self, differing: Differing, kind: str, rows: pl.DataFrame) -> pl.DataFrame:
        """The first rows of a partition, with what a person is shown of them."""
        contract = differing.contract
        side, release = (differing.before, self.before) if kind == "went" else (differing.after, self.after)
        about = [name for name in _PAPER_COLUMNS if name in contract.columns and name not in rows.columns]
        if contract.partition_by == "shard" or rows.height <= self.limit:  # elsewhere there is no order by citations
            rows = rows.hstack(side.take(rows[AT], about)) if about else rows
        if "paper_id" in rows.columns and contract.partition_by == "shard":
            rows = rows.join(self._in_degrees(release, differing.partition, rows["paper_id"]), on="paper_id", how="left")
        best = _Top(contract, self.limit).add(rows)
        if contract.shown is None:
            return best
        return best.with_columns(side.take(best[AT], [contract.shown]).to_series().cast(pl.String).alias("@title"))

    def _in_degrees(self, release: Release, shard: str | None, papers: pl.Series) -> pl.DataFrame:
        wanted = (pl.col("shard") == shard) & pl.col("paper_id").is_in(papers.unique().implode())
        return self._scan(release, "degrees").filter(wanted).select("paper_id", "in_degree").collect(engine="streaming")

    def _titles(self, rows: Sequence[RowChange], cited: Sequence[Cited]) -> dict[str, dict[str, str]]:
        """Titles by kind of change and paper: those of papers that went from the earlier release, all others from the later."""
        gone = {paper for row in rows if row.change == "went" for paper in row.papers}
        there = {paper for row in rows if row.change != "went" for paper in row.papers} | {one.paper_id for one in cited}
        old, new = self._titles_in(self.before, gone), self._titles_in(self.after, there)
        new |= self._titles_in(self.before, there - new.keys())
        return {"went": old, "came": new, "changed": new}

    def _titles_in(self, release: Release, papers: set[str]) -> dict[str, str]:
        if not papers:
            return {}
        shards = sorted({self.lake.shard_of(paper) for paper in papers})
        wanted = pl.col("shard").is_in(shards) & pl.col("paper_id").is_in(sorted(papers))
        found = self._scan(release, "papers").filter(wanted & pl.col("title").is_not_null()).select("paper_id", "title")
        return dict(found.collect(engine="streaming").iter_rows())


class _Moves:
    """Which papers records were of and are of, where that changed: it tells what became of papers and what they came of."""

    def __init__(self) -> None:
        self.was, self.now = [pl.DataFrame(schema=_MOVE)], [pl.DataFrame(schema=_MOVE)]
        self.fates = Fates()

    def note(self, differing: Differing, changes: Changes) -> None:
        """Take up what changed in `identities`."""
        self.was += [differing.before.take(at, list(_MOVE)) for at in (changes.went[AT], changes.changed[AT_BEFORE])]
        self.now += [differing.after.take(at, list(_MOVE)) for at in (changes.came[AT], changes.changed[AT])]

    def told(self, parts: Sequence[Part]) -> Iterator[Part]:
        """What changed in `papers`, with @why of those that came and went."""
        was, now = (pl.concat(frames).unique("record_id") for frames in (self.was, self.now))
        gone = pl.concat([pl.DataFrame(schema={"paper_id": pl.String}), *(changes.went.select("paper_id") for _, changes in parts)])
        became = fates(gone, was.select("paper_id", "record_id"), now)
        origins = (
            now.join(was.rename({"paper_id": "origin"}), on="record_id")
            .filter(pl.col("origin") != pl.col("paper_id"))
            .group_by("paper_id")
            .agg(pl.col("origin").min())
            .join(became.select(origin="paper_id", became="reason"), on="origin", how="left")
        )
        for differing, changes in parts:
            went = changes.went.join(became, on="paper_id", how="left", maintain_order="left")
            came = changes.came.join(origins, on="paper_id", how="left", maintain_order="left")
            merged = int((went["reason"] == MERGED).sum())
            continued = int((came["became"] == REMOVED).sum())
            self.fates = Fates(
                self.fates.merged + merged,
                self.fates.removed + went.height - merged,
                self.fates.split + int(came["origin"].is_not_null().sum()) - continued,
                self.fates.continued + continued,
            )
            yield (
                differing,
                Changes(
                    came.select("paper_id", AT, _CAME_OF.alias("@why")), went.select("paper_id", AT, _BECAME.alias("@why")), changes.changed
                ),
            )


_BECAME = (
    pl.when(pl.col("reason") == MERGED)
    .then(pl.format("merged into {}", "into"))
    .when(pl.col("into").is_not_null())
    .then(pl.format("its record left; the others are now {}", "into"))
    .otherwise(pl.lit("its records left"))
)
_CAME_OF = (
    pl.when(pl.col("became") == REMOVED)
    .then(pl.format("has the records of {}, whose own left", "origin"))
    .when(pl.col("origin").is_not_null())
    .then(pl.format("split from {}", "origin"))
)


class _Citations:
    """The papers whose in-degree changed most, either way."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.most = {sign: pl.DataFrame(schema=_CITED) for sign in (1, -1)}

    def note(self, differing: Differing, changes: Changes) -> None:
        """Take up what changed in `degrees`."""
        moved = changes.changed.filter(pl.col(FIELDS).list.contains("in_degree"))
        before = differing.before.take(moved[AT_BEFORE], ["in_degree"]).to_series()
        there = differing.after.take(moved[AT], ["paper_id", "in_degree"]).with_columns(before=before)
        new = differing.after.take(changes.came[AT], ["paper_id", "in_degree"]).with_columns(before=pl.lit(0, pl.Int64))
        cited = pl.concat([there, new]).select("paper_id", "before", after="in_degree")
        for sign, most in self.most.items():
            gain = (pl.col("after") - pl.col("before")) * sign
            self.most[sign] = pl.concat([most, cited.filter(gain > 0)]).sort(-gain, "paper_id").head(self.limit)

    @property
    def gained(self) -> list[Cited]:
        return [Cited(*row) for row in self.most[1].iter_rows()]

    @property
    def lost(self) -> list[Cited]:
        return [Cited(*row) for row in self.most[-1].iter_rows()]


def _row_changes(contract: Table, kind: str, rows: pl.DataFrame | None) -> Iterator[RowChange]:
    if rows is None:
        return
    for row in rows.iter_rows(named=True):
        yield RowChange(
            tuple(row[name] for name in contract.key),
            kind,
            tuple(row.get(FIELDS) or ()),
            tuple(row[name] for name in _PAPER_COLUMNS if row.get(name)),
            row.get("@title"),
            row.get("@why"),
            row.get("in_degree"),
        )


def _titled(table: TableChange, titles: Mapping[str, Mapping[str, str]]) -> TableChange:
    rows = (
        row if row.title is not None else replace(row, title=" → ".join(titles[row.change].get(p, p) for p in row.papers) or None)
        for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def _settings(before: Release, after: Release) -> dict[str, tuple[Any, Any]]:
    old = {**dict(_flat(before.profile)), "embedder": before.embedder.get("fingerprint")}
    new = {**dict(_flat(after.profile)), "embedder": after.embedder.get("fingerprint")}
    return {name: (old.get(name), new.get(name)) for name in sorted({*old, *new}) if old.get(name) != new.get(name)}


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _artifacts(before: Release, after: Release) -> dict[str, int]:
    found = {}
    for asset in sorted({*before.artifacts, *after.artifacts}):
        old, new = ({partition: pin.digest for partition, pin in one.artifacts.get(asset, {}).items()} for one in (before, after))
        if moved := sum(old.get(partition) != new.get(partition) for partition in {*old, *new}):
            found[asset] = moved
    return found
