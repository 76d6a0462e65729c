"""What the command line shows a person (rich renderables) and a program (plain values for JSON). Pure functions of results.

What does not belong here: reading anything, printing anything, options (`cli.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scholarlake.changelog import headlines
from scholarlake.corpus.tombstones import Tombstone
from scholarlake.differences import KINDS, Cited, Differences, RowChange, TableChange
from scholarlake.lake.releases import Release
from scholarlake.lake.vacuum import Sweep
from scholarlake.search.paper import Hit, Paper
from scholarlake.typeset import bytes_in_words as _bytes
from scholarlake.typeset import counted as _counted
from scholarlake.typeset import cut as _cut
from scholarlake.typeset import duration as _duration
from scholarlake.typeset import plain as _plain
from scholarlake.typeset import table as _table
from scholarlake.typeset import to_dict as to_dict

_AUTHORS_SHOWN = 4
_IDS_SHOWN = 12
_SNIPPET = 240  # characters of an abstract under a hit
_ROWS_SHOWN = 40


# -- papers ----------------------------------------------------------------------------------------------------------


def render_hits(hits: Sequence[Hit]) -> RenderableType:
    """Search results, the best first."""
    if not hits:
        return Text("nothing found", style="dim")
    scored = any(hit.score is not None for hit in hits)
    table = Table(box=None, show_header=False, padding=(0, 2, 1, 0), pad_edge=False)
    table.add_column(justify="right", style="dim")
    table.add_column(overflow="fold", max_width=110)
    table.add_column(justify="right", no_wrap=True)
    for hit in hits:
        paper = hit.paper
        about = Text.assemble(
            *((("withdrawn ", "bold red"),) if paper.withdrawn else ()),
            (_plain(paper.title) or "(no title)", "bold"),
            "\n",
            *((byline, "\n") if (byline := _byline(paper)) else ()),
            (_plain(paper.paper_id), "cyan"),
            *(((f"  a version of {_plain(paper.version_of)}", "dim"),) if paper.version_of else ()),
        )
        if paper.abstract:
            about.append("\n" + _cut(paper.abstract, _SNIPPET), style="dim")
        right = Text(f"cited {paper.in_degree:,}", style="green")
        if scored and hit.score is not None:
            right.append(f"\n{hit.score:.3f}", style="dim")
        if len(hit.found_by) > 1:
            right.append("\n" + " + ".join(hit.found_by), style="dim")
        table.add_row(str(hit.place), about, right)
    return table


def render_paper(paper: Paper, references: Sequence[Paper] = (), citations: Sequence[Paper] = ()) -> RenderableType:
    """A paper's page; below it, where given, the first of what it cites and of what cites it."""
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in _facts(paper):
        if value:
            facts.add_row(name, Text(value))
    parts: list[RenderableType] = [
        Text(_plain(paper.title) or "(no title)", style="bold"),
        *([Text(_withdrawal(paper), style="bold red")] if paper.withdrawn else []),
        *([Text(names)] if (names := _names(paper, len(paper.authors))) else []),
        Text(""),
        facts,
    ]
    if paper.abstract:
        parts += [Text(""), Text(_plain(paper.abstract))]
    for heading, papers, total in (("cites", references, paper.out_degree), ("cited by", citations, paper.in_degree)):
        if papers:
            parts += [Text(""), Text(f"{heading} {total:,}", style="bold"), *(_line(other) for other in papers[:_IDS_SHOWN])]
            if total > len(papers[:_IDS_SHOWN]):
                parts.append(Text(f"  and {total - len(papers[:_IDS_SHOWN]):,} more", style="dim"))
    return Group(*parts)


def render_tombstone(gone: Tombstone) -> RenderableType:
    """That an id was once a paper of its own."""
    return Text(_plain(f"{gone.paper_id} {gone.said}"), style="yellow")


def _facts(paper: Paper) -> Iterable[tuple[str, str]]:
    pages = "–".join(page for page in (paper.page_start, paper.page_end) if page)
    others = [record for record in paper.record_ids if record != paper.paper_id]
    yield "id", _plain(paper.paper_id)
    yield "published", ", ".join(_plain(part) for part in (paper.venue, str(paper.year or "")) if part)
    yield "volume", " ".join(_plain(part) for part in (paper.volume, f"({paper.issue})" if paper.issue else "", pages) if part)
    yield "doi", _plain(paper.doi)
    yield "type", " · ".join(_plain(part) for part in (paper.doc_type, paper.lang) if part)
    yield "keywords", _plain(", ".join(paper.keywords))
    outside = f" (and {paper.unresolved_references:,} outside the corpus)" if paper.unresolved_references else ""
    yield "citations", f"cited by {paper.in_degree:,}, cites {paper.out_degree:,}{outside}{', in the core' if paper.is_core else ''}"
    yield "merged from", _listed(others)
    yield "version of", _plain(paper.version_of)
    yield "versions", _listed(paper.versions)
    yield "same title", _listed(paper.same_title)
    yield "flags", _plain(", ".join(paper.flags))
    yield "pdf", _plain(paper.pdf)
    yield "address", _listed(paper.urls[:3])


def _withdrawal(paper: Paper) -> str:
    """That a paper was withdrawn, and what says so."""
    said = {"title": "its title says", "doc_type": "its document type says", "abstract": "its abstract says"}.get(paper.withdrawn_by or "")
    notice = f"the notice {_plain(paper.withdrawal_notice)} says" if paper.withdrawal_notice else None
    return f"withdrawn, as {' and '.join(part for part in (said, notice) if part)}"


def _line(paper: Paper) -> RenderableType:
    return Padding(
        Text.assemble((_plain(paper.paper_id), "cyan"), "  ", _plain(paper.title) or "(no title)", (f"  {paper.year or ''}", "dim")),
        (0, 0, 0, 2),
        expand=False,
    )


def _byline(paper: Paper) -> str:
    return " · ".join(part for part in (_names(paper, _AUTHORS_SHOWN), _plain(paper.venue), str(paper.year or "")) if part)


def _names(paper: Paper, shown: int) -> str:
    names = [_plain(author.name) for author in paper.authors if author.name]
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _IDS_SHOWN:,} more" if len(ids) > _IDS_SHOWN else ""
    return ", ".join(_plain(name) for name in ids[:_IDS_SHOWN]) + more


# -- collections -----------------------------------------------------------------------------------------------------


def render_collections(listed: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Collections, one a line: rows of `collection_catalog`."""
    if not listed:
        return Text("no collection; put a file that defines one into the folder of collections and build", style="dim")
    table = _table("collection", numbers=("papers",), last=("method", "title"))
    for one in listed:
        title = Text(_plain(one["title"]))
        if one["shortfall"]:
            title.append(f"\n{_plain(one['shortfall'])}", style="yellow")
        if one["unknown_ids"]:
            title.append(f"\nunknown ids: {_listed(one['unknown_ids'])}", style="yellow")
        if one.get("withdrawn_ids"):
            title.append(f"\nleft out, withdrawn: {_listed(one['withdrawn_ids'])}", style="yellow")
        table.add_row(Text(_plain(one["collection"]), style="bold"), f"{one['chosen']:,}", one["method"], title)
    return table


def render_collection(one: Mapping[str, Any], papers: Sequence[Mapping[str, Any]]) -> RenderableType:
    """A collection and the first of its papers: a row of `collection_catalog`, rows of `collections` with title and year."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(justify="right", style="dim")
    table.add_column(overflow="fold", max_width=110)
    table.add_column()
    for paper in papers:
        about = Text.assemble(
            (_plain(paper["title"]) or "(no title)", ""), (f"  {paper['year'] or ''}", "dim"), "\n", (_plain(paper["paper_id"]), "cyan")
        )
        about.append(f"  {_plain(paper['rule'])}", style="dim")
        table.add_row(str(paper["rank"]), about, Text(paper["topic"] or paper["role"], style="green"))
    shown = f"{len(papers):,} of {one['chosen']:,} papers, chosen from {one['matched']:,}"
    return Group(Text(_plain(one["title"]), style="bold"), Text(_plain(one["about"])), Text(shown, style="dim"), Text(""), table)


# -- releases and builds ---------------------------------------------------------------------------------------------


def render_releases(releases: Sequence[Release], reading: Mapping[str, Mapping[str, str]] | None = None) -> RenderableType:
    """Releases, oldest first, and how to read the tables of the newest.

    reading: table → engine → a line of code (`releases.snippets`).
    """
    table = _table("release", "made (UTC)", numbers=("papers", "citations", "core", "vectors", "indices"))
    for release in releases:
        counts = [
            f"{release.tables[name].rows:,}" if name in release.tables else "–"
            for name in ("papers", "citations", "core_papers", "embeddings")
        ]
        indices = sum(len(parts) for parts in release.artifacts.values())
        made = release.created_at.replace("T", " ")[:16]
        table.add_row(Text(release.name, style="bold"), made, *counts, str(indices))
    if not reading:
        return table
    parts: list[RenderableType] = [table, Text("")]
    for name, lines in reading.items():
        if name == "papers" or len(reading) == 1:
            parts.append(Text(f"to read {name} of {releases[-1].name} (every other table alike: --json lists them)", style="dim"))
            parts += [Text.assemble((f"  {engine:<8}", "dim"), line) for engine, line in lines.items()]
    return Group(*parts)


def render_build(outcome: Mapping[str, Any]) -> RenderableType:
    """What a build did, an asset a line.

    outcome: "ran" (asset, partition, reason, seconds, rows), "failed" (where, why), "release", "seconds".
    """
    ran, failed = outcome.get("ran", []), outcome.get("failed", [])
    parts: list[RenderableType] = []
    if ran:
        table = _table("asset", numbers=("partitions", "rows", "seconds"), last=("because",))
        assets = dict.fromkeys(step["asset"] for step in ran)
        for asset in assets:
            steps = [step for step in ran if step["asset"] == asset]
            reasons = list(dict.fromkeys(str(step.get("reason", "")) for step in steps))
            why = _cut(reasons[0], 60) + (f" (and {len(reasons) - 1} other reasons)" if len(reasons) > 1 else "")
            numbers = (
                f"{len(steps):,}",
                f"{sum(step.get('rows') or 0 for step in steps):,}",
                f"{sum(step.get('seconds') or 0 for step in steps):.1f}",
            )
            table.add_row(asset, *numbers, Text(why, style="dim"))
        parts.append(table)
    parts += [Text(f"failed: {_plain(str(one['where']))}: {_plain(str(one['why']))}", style="red") for one in failed]
    seconds = float(outcome.get("seconds") or 0)
    release = outcome.get("release")
    said = (
        "nothing was stale"
        if not ran and not failed
        else f"{_counted(len(ran), 'partition')} made" + (f", {len(failed)} failed" if failed else "")
    )
    parts.append(Text(f"{said} in {_duration(seconds)}" + (f"; readers read {release}" if release else ""), style="bold"))
    return Group(*parts)


def render_plan(plan: Mapping[str, Any]) -> RenderableType:
    """What a build would do.

    plan: "parts" (new, changed, gone, unreadable), "planned" (asset, partition, state, reason, estimate), "total" (an estimate).
    """
    parts: list[RenderableType] = []
    for word, keys in plan["parts"].items():
        if keys:
            parts.append(Text.assemble((f"{word:<11}", "dim"), f"{len(keys):,}: ", _listed(keys)))
    planned = plan["planned"]
    if planned:
        table = _table("asset", numbers=("partitions", "rows", "texts", "prompts", "tokens", "cost"), last=("because",))
        for asset in dict.fromkeys(one["asset"] for one in planned):
            for state in ("stale", "waits"):
                its = [one for one in planned if one["asset"] == asset and one["state"] == state]
                if its:
                    reasons = list(dict.fromkeys(str(one["reason"]) for one in its))
                    why = _cut(reasons[0], 60) + (f" (and {len(reasons) - 1} other reasons)" if len(reasons) > 1 else "")
                    count = f"{len(its):,}" if state == "stale" else "?"
                    table.add_row(asset, count, *_summed([one["estimate"] for one in its if one["estimate"]]), Text(why, style="dim"))
        parts += [table, Text("~ guessed, not counted; ? known once what it waits for is made", style="dim")]
    stale = sum(one["state"] == "stale" for one in planned)
    parts.append(
        Text(
            f"{_counted(stale, 'partition is', 'partitions are')} stale; `scholarlake build` makes {'it' if stale == 1 else 'them'}"
            if stale
            else "nothing is stale",
            style="bold",
        )
    )
    return Group(*parts)


def _summed(estimates: Sequence[Mapping[str, Any]]) -> list[str]:
    """Rows, texts, prompts, tokens and cost of estimates together, empty where they say nothing."""
    guess = "" if all(one["exact"] for one in estimates) else "~"
    totals = [sum(one[name] for one in estimates) for name in ("rows", "texts", "prompts", "tokens")]
    cells = [f"{guess}{total:,}" if total else "" for total in totals]
    costs = [one["cost"] for one in estimates if one["cost"] is not None]
    return [*cells, f"{guess}{sum(costs):.2f}" if costs else ""]


def render_status(state: Mapping[str, Any]) -> RenderableType:
    """What a lake holds and what is stale.

    state: "lake", "release", "assets" (asset, partitions, rows, made_at), "stale" (asset, partition, reason, state).
    """
    parts: list[RenderableType] = [
        Text.assemble(("lake     ", "dim"), _plain(str(state.get("lake", "")))),
        Text.assemble(("release  ", "dim"), (_plain(str(state.get("release") or "none yet: `scholarlake build` makes one")), "bold")),
        Text(""),
    ]
    stale = [dict(to_dict(one)) for one in state.get("stale", [])]
    assets = [dict(to_dict(one)) for one in state.get("assets", [])]
    if assets:
        table = _table("asset", numbers=("partitions", "rows"), last=("made (UTC)", "state"))
        for one in assets:
            its = [other.get("state", "stale") for other in stale if other.get("asset") == one.get("asset")]
            rows = f"{one['rows']:,}" if isinstance(one.get("rows"), int) else ""
            known = [f"{its.count('stale')} stale"] if "stale" in its else []
            look = (
                Text(", ".join([*known, *(["waits"] if "waits" in its else [])]), style="yellow") if its else Text("current", style="green")
            )
            made = str(one.get("made_at") or "").replace("T", " ")[:16]
            table.add_row(str(one.get("asset")), str(one.get("partitions") or ""), rows, made, look)
        parts += [table, Text("")]
    for one in stale[:_ROWS_SHOWN]:
        where = str(one.get("asset")) + (f" [{one['partition']}]" if one.get("partition") else "")
        parts.append(
            Text.assemble(
                (f"{one.get('state', 'stale'):<7}", "yellow"), _plain(where), ("  " + _plain(str(one.get("reason") or "")), "dim")
            )
        )
    if len(stale) > _ROWS_SHOWN:
        parts.append(Text(f"and {len(stale) - _ROWS_SHOWN:,} more", style="dim"))
    count = sum(one.get("state", "stale") == "stale" for one in stale)
    said = Text(f"{count:,} stale; `scholarlake build` makes them", style="yellow") if stale else Text("nothing is stale", style="green")
    parts.append(said)
    return Group(*parts)


# -- what changed ----------------------------------------------------------------------------------------------------


def render_differences(found: Differences, tables: Sequence[str] = ()) -> RenderableType:
    """What changed between two releases: the sums, then what is listed of the papers and the core, or of the tables asked for."""
    heading = Text(f"{found.before} → {found.after}", style="bold")
    if found.is_nothing:
        return Group(heading, Text("nothing differs", style="dim"))
    parts: list[RenderableType] = [heading, *(Text(line) for line in headlines(found)), Text(""), _sums(found)]
    parts += [Text(f"{name}: {old} → {new}", style="yellow") for name, (old, new) in found.settings.items()]
    if found.artifacts:
        parts.append(Text("made anew: " + ", ".join(f"{asset} ({count:,})" for asset, count in found.artifacts.items()), style="dim"))
    for name in tables or ("papers", "core_papers"):
        if table := found.table(name):
            # Of the core, who entered and who left is what is asked, unless it is asked for by name.
            for change in KINDS if tables or name == "papers" else ("came", "went"):
                parts += _changes(table, change)
    for heading_, papers in (("cited more", found.gained), ("cited less", found.lost)):
        if papers:
            parts += [Text(""), Text(heading_, style="bold"), *(_cited(one) for one in papers)]
    return Group(*parts)


def _sums(found: Differences) -> RenderableType:
    table = _table("table", numbers=("before", "after", "came", "went", "changed", "partitions read"), last=("fields",))
    for one in found.tables:
        fields = ", ".join(f"{name} {count:,}" for name, count in one.fields.items())
        numbers = (f"{number:,}" for number in (one.rows_before, one.rows_after, one.came, one.went, one.changed))
        read = f"{one.compared:,} of {one.partitions:,}"
        table.add_row(one.table, *numbers, read, Text(_cut(fields, 80), style="dim"), style="" if one.total else "dim")
    return table


def _changes(table: TableChange, change: str) -> list[RenderableType]:
    total, rows = {"came": table.came, "went": table.went, "changed": table.changed}[change], table.listed(change)
    if not total:
        return []
    lines: list[RenderableType] = [Text(""), Text(f"{table.table} that {change}: {total:,}", style="bold"), *(_change(row) for row in rows)]
    return [*lines, Text(f"  and {total - len(rows):,} more", style="dim")] if total > len(rows) else lines


def _change(row: RowChange) -> RenderableType:
    about = "; ".join([*([row.why] if row.why else []), *([", ".join(row.fields)] if row.fields else [])])
    cited = f"  cited {row.in_degree:,}" if row.in_degree else ""
    title = _cut(row.title or "", 90)
    return Padding(
        Text.assemble(
            (_plain(row.name), "cyan"), f"  {title}" if title else "", (f"  {_plain(about)}" if about else "", "dim"), (cited, "green")
        ),
        (0, 0, 0, 2),
        expand=False,
    )


def _cited(paper: Cited) -> RenderableType:
    counts = (f"{paper.before:,} → {paper.after:,}", "green")
    return Padding(
        Text.assemble((_plain(paper.paper_id), "cyan"), f"  {_cut(paper.title or '', 90)}  ", counts), (0, 0, 0, 2), expand=False
    )


def render_sweep(found: Sweep, *, is_done: bool) -> RenderableType:
    """What a vacuum took away, or would."""
    parts: list[RenderableType] = [Text.assemble(("kept     ", "dim"), ", ".join(found.kept) or "no release yet")]
    if found.dropped:
        parts.append(Text.assemble(("dropped  " if is_done else "to drop  ", "dim"), ", ".join(found.dropped)))
    if found.waste:
        table = _table("what", "of", numbers=("count", "bytes"))
        for one in found.sums():
            table.add_row(one["what"], one["of"], f"{one['count']:,}", _bytes(one["bytes"]))
        parts += [Text(""), table]
    verb = "freed" if is_done else "would be freed"
    parts.append(Text(f"{_bytes(found.bytes)} {verb}" if found.waste else "nothing to take away", style="bold"))
    return Group(*parts)
