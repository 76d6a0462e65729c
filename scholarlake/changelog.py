"""A release's changelog: what changed since the release before it, as two tables and as a page of Markdown.

What does not belong here: finding out what changed (`differences.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from scholarlake.differences import Cited, Differences, RowChange, TableChange, difference
from scholarlake.lake import delta, releases
from scholarlake.lake.contracts import RECORDS, RELEASE_CHANGE_COUNTS, RELEASE_CHANGES
from scholarlake.lake.home import Lake
from scholarlake.lake.releases import Release

LISTED = 200
"""Changes kept of each table and kind of change."""
_SHOWN = 10  # lines of a list on the page
_FIELDS = 6  # fields that changed most, in the headline
_TITLE = 100  # characters of a title on the page


def write(lake: Lake, release: Release, run: delta.Commit) -> tuple[Differences | None, dict[str, delta.Written]]:
    """Compare a release with the one before it, and keep what differs in `release_changes` and `release_change_counts`.

    None where it is the first, or where the one before it has been dropped: what was kept of that comparison stays. Writing the same
    again makes no version.
    """
    if release.previous not in releases.names(lake):
        return None, {name: _as_it_is(lake, name, release) for name in ("release_changes", "release_change_counts")}
    found = difference(lake, releases.load(lake, release.previous), release, LISTED)
    frames = {"release_changes": _rows(found), "release_change_counts": _counts(found)}
    return found, {name: delta.write_partition(lake, name, release.name, frame, run) for name, frame in frames.items()}


def _as_it_is(lake: Lake, name: str, release: Release) -> delta.Written:
    content = delta.partition_content(lake, name, release.name)
    return delta.Written(delta.version(lake, name), 0, 0, 0, content.rows, 0, content.version)


def _rows(found: Differences) -> pl.DataFrame:
    rows = [
        {
            "release": found.after,
            "previous": found.before,
            "table": table.table,
            "change": row.change,
            "key": row.name,
            "place": place,
            "fields": list(row.fields),
            "title": row.title,
            "why": row.why,
            "in_degree": row.in_degree,
        }
        for table in found.tables
        for change in ("came", "went", "changed")
        for place, row in enumerate(table.listed(change), 1)
    ]
    return pl.DataFrame(rows, schema=RELEASE_CHANGES.schema)


def _counts(found: Differences) -> pl.DataFrame:
    rows = [
        {
            "release": found.after,
            "previous": found.before,
            "table": table.table,
            "rows_before": table.rows_before,
            "rows_after": table.rows_after,
            "came": table.came,
            "went": table.went,
            "changed": table.changed,
            "fields": [{"name": name, "rows": rows} for name, rows in table.fields.items()],
            "listed": len(table.rows),
            "partitions": table.partitions,
            "compared": table.compared,
        }
        for table in found.tables
    ]
    return pl.DataFrame(rows, schema=RELEASE_CHANGE_COUNTS.schema)


# -- the page --------------------------------------------------------------------------------------------------------


def page(found: Differences) -> str:
    """What changed, as Markdown: the sums, then the papers, what is cited more, the core, and every other table in numbers."""
    if found.is_nothing:
        return f"Nothing differs between {found.before} and {found.after}."
    parts = [f"**{found.before} → {found.after}**", *_sums(found), *_settings(found), *_papers(found), *_citations(found), *_core(found)]
    return "\n\n".join(part for part in parts if part)


def nothing_to_compare(release: Release) -> str:
    """Why a release has no changelog of its own."""
    if release.previous is None:
        return f"{release.name} is the first release: there is none to compare it with."
    return f"{release.previous}, the release before {release.name}, has been dropped: what was found when it was there is kept."


def headlines(found: Differences) -> list[str]:
    """The few lines that a person wants first."""
    return [line for line in _headlines(found) if line]


def _headlines(found: Differences) -> Iterator[str]:
    if papers := found.table("papers"):
        fates = found.papers
        came = _because((fates.split, "split from others"), (fates.continued, "continue one whose own record left"))
        went = _because((fates.merged, "merged into others"), (fates.removed, "whose records left"))
        # What a paper has from its records is what a person asks for: who merged is told by numbers of their own.
        told = [f"{name} {count:,}" for name, count in papers.fields.items() if name in RECORDS.columns]
        fields = ", ".join(told[:_FIELDS])
        yield f"papers: {papers.came:,} came{came}, {papers.went:,} went{went}, {papers.changed:,} changed" + (
            f" ({fields})" if fields else ""
        )
    if citations := found.table("citations"):
        yield f"citations: {citations.came:,} came, {citations.went:,} went"
    if core := found.table("core_papers"):
        yield f"core: {core.came:,} papers entered, {core.went:,} left"
    if vectors := found.table("embeddings"):
        anew = max(vectors.fields.get("text_hash", 0), vectors.fields.get("model", 0))
        yield f"embeddings: {vectors.came:,} came, {vectors.went:,} went, {anew:,} made anew"


def _because(*reasons: tuple[int, str]) -> str:
    said = ", ".join(f"{count:,} {why}" for count, why in reasons if count)
    return f" ({said})" if said else ""


def _sums(found: Differences) -> Iterator[str]:
    yield "\n".join(f"- {line}" for line in headlines(found))
    rows = [_sum(table) for table in found.tables if table.total]
    if rows:
        head = "| table | before | after | came | went | changed | fields |\n|---|--:|--:|--:|--:|--:|---|"
        yield "\n".join([head, *rows])
    same = [f"`{table.table}`" for table in found.tables if not table.total]
    if same:
        yield f"Not changed: {', '.join(same)}."
    if found.artifacts:
        yield "Made anew: " + ", ".join(f"`{asset}` ({count:,})" for asset, count in found.artifacts.items()) + "."


def _sum(table: TableChange) -> str:
    fields = ", ".join(f"{name} {count:,}" for name, count in table.fields.items())
    numbers = " | ".join(f"{number:,}" for number in (table.rows_before, table.rows_after, table.came, table.went, table.changed))
    return f"| `{table.table}` | {numbers} | {fields} |"


def _settings(found: Differences) -> Iterator[str]:
    if found.settings:
        yield "**Settings that changed**\n\n" + "\n".join(f"- `{name}`: {old} → {new}" for name, (old, new) in found.settings.items())


def _papers(found: Differences) -> Iterator[str]:
    if (papers := found.table("papers")) is None:
        return
    yield _list("Papers that went", papers.went, papers.listed("went"))
    yield _list("Papers that came", papers.came, papers.listed("came"))
    yield _list("Papers that changed", papers.changed, papers.listed("changed"))


def _citations(found: Differences) -> Iterator[str]:
    yield _cited("Cited more", found.gained)
    yield _cited("Cited less", found.lost)


def _core(found: Differences) -> Iterator[str]:
    if core := found.table("core_papers"):
        yield _list("Entered the core", core.came, core.listed("came"))
        yield _list("Left the core", core.went, core.listed("went"))


def _list(heading: str, total: int, rows: Sequence[RowChange]) -> str:
    if not total:
        return ""
    lines = [f"- {_paper(row.name, row.title)}{_about(row)}" for row in rows[:_SHOWN]]
    if total > len(lines):
        lines.append(
            f"- and {total - len(lines):,} more" + (f", {len(rows):,} of all are in `release_changes`" if total > len(rows) else "")
        )
    return f"**{heading}** ({total:,})\n\n" + "\n".join(lines)


def _about(row: RowChange) -> str:
    said = [*([row.why] if row.why else []), *([", ".join(row.fields)] if row.fields else [])]
    cited = f"; cited by {row.in_degree:,}" if row.in_degree else ""
    return (f": {'; '.join(said)}" if said else "") + cited


def _cited(heading: str, papers: Sequence[Cited]) -> str:
    lines = [f"- {_paper(one.paper_id, one.title)}: {one.before:,} → {one.after:,}" for one in papers[:_SHOWN]]
    return f"**{heading}**\n\n" + "\n".join(lines) if lines else ""


def _paper(paper_id: str, title: str | None) -> str:
    plain = " ".join((title or "").split())
    shown = plain if len(plain) <= _TITLE else f"{plain[:_TITLE].rsplit(' ', 1)[0]} …"
    return f"`{paper_id}`" + (f" {_escaped(shown)}" if shown else "")


def _escaped(text: str) -> str:
    """A title must not become a heading, a link or a picture of the page."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|!~$" else sign for sign in text)
