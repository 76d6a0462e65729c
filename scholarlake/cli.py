"""The command line: `scholarlake`.

Every command prints for a person, or with --json for a program, and ends with 1 and one line where something is wrong.
What runs Dagster (build, status) is found in the project's checkout when it is asked for: the library by itself reads.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from scholarlake import (
    ask_commands,
    knowledge_commands,
    mcp_commands,
    model_commands,
    registry_commands,
    render_commands,
    source_commands,
    tool_commands,
    trace_commands,
)
from scholarlake.console import (
    DocumentsOption,
    DumpsOption,
    JsonOption,
    LakeOption,
    ProfileOption,
    ReleaseOption,
    err,
    lake_path,
    out,
    print_json,
    progress_columns,
)
from scholarlake.console import bar as _bar
from scholarlake.console import escaped as _plain
from scholarlake.errors import NotFound, ScholarLakeError

app = typer.Typer(
    name="scholarlake",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Open Academic Graph dumps as layered, evidence-linked research assets.",
)
_NEIGHBOURS = 10  # papers shown on either side of one


def main() -> None:
    """Entry point: a fault of the user's is one line and exit code 1, anything else a traceback."""
    try:
        app()
    except ScholarLakeError as fault:
        err.print(f"[bold red]error:[/] {_plain(str(fault))}", soft_wrap=True)
        sys.exit(1)
    except OSError as fault:  # the disk is full, a folder can't be written…: the system's own words, and where
        where = f" ({fault.filename})" if fault.filename else ""
        err.print(f"[bold red]error:[/] {_plain(fault.strerror or str(fault))}{_plain(where)}", soft_wrap=True)
        sys.exit(1)


def _project(module: str) -> Any:
    """A module of the project's checkout. The wheel holds the library alone."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as fault:
        if fault.name is None or not module.startswith(fault.name):
            raise
        raise ScholarLakeError("this command needs the project's checkout, not only the library; run it there") from None


def _end_of(outcome: Any) -> None:
    """End with 1 where something failed. What, was said above."""
    if outcome.failed:
        raise typer.Exit(1)


# -- making ----------------------------------------------------------------------------------------------------------


@app.command()
def sample(
    out_dir: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write: dumps/, documents/ and truth.json.")],
    papers: Annotated[int, typer.Option(min=1, help="Number of papers.")] = 1_200,
    parts: Annotated[int, typer.Option(min=1, help="Number of files.")] = 4,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 7,
    clean: Annotated[bool, typer.Option(help="No malformed lines, no compression.")] = False,
    json: JsonOption = False,
) -> None:
    """Generate a sample dump: topics, citations, duplicates of every kind, malformed lines, full texts, and the true answers."""
    from scholarlake.sample import facts_as_json, generate

    with _bar("records") as report:
        facts = generate(out_dir, papers, parts, seed, compression="none" if clean else "mixed", faults=not clean, progress=report)
    if json:
        print_json(facts_as_json(facts))
    else:
        out.print(
            f"{facts.lines:,} lines, {facts.papers:,} papers, in {out_dir / 'dumps'}; {facts.documents} files in {out_dir / 'documents'}; "
            f"the answers in {out_dir / 'truth.json'}"
        )


@app.command()
def build(
    lake: LakeOption = None,
    dumps: DumpsOption = None,
    documents: DocumentsOption = None,
    profile: ProfileOption = None,
    to: Annotated[str, typer.Option("--to", help="Stop at this asset.")] = "release_diff",
    json: JsonOption = False,
) -> None:
    """Build the lake: run what is stale, from the dump folder to a release. The runs show in the Dagster UI."""
    from scholarlake.terminal import render_build

    builder = _project("pipelines.build")
    with _build_progress(quiet=json) as listener:
        outcome = builder.run(lake=lake, dumps=dumps, documents=documents, profile=profile, to=to, **listener)
    if json:
        print_json(outcome.to_dict())
    else:
        out.print(render_build(outcome.to_dict()))
    _end_of(outcome)


@app.command()
def plan(
    lake: LakeOption = None,
    dumps: DumpsOption = None,
    documents: DocumentsOption = None,
    profile: ProfileOption = None,
    to: Annotated[str, typer.Option("--to", help="Plan up to this asset.")] = "release_diff",
    json: JsonOption = False,
) -> None:
    """What a build would do and what it would take, before anything runs. Changes nothing."""
    from scholarlake.terminal import render_plan

    found = _project("pipelines.build").planned(lake=lake, dumps=dumps, documents=documents, profile=profile, to=to).to_dict()
    if json:
        print_json(found)
    else:
        out.print(render_plan(found))


@app.command()
def backfill(
    asset: Annotated[str, typer.Argument(help="Which asset.")],
    partitions: Annotated[list[str] | None, typer.Argument(help="Keys, ranges (03-07), patterns (*.gz); all if none is given.")] = None,
    shards: Annotated[str | None, typer.Option("--shards", help="Shards as a range or a list: 03-07, 01,05.")] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Start over where the same backfill was begun and not ended.")] = False,
    lake: LakeOption = None,
    dumps: DumpsOption = None,
    documents: DocumentsOption = None,
    profile: ProfileOption = None,
    json: JsonOption = False,
) -> None:
    """Make partitions of an asset again, stale or not. Interrupted, it goes on where it stopped when it is asked for again."""
    from scholarlake.terminal import render_build

    wanted = [*(partitions or ()), *(shards.split(",") if shards else ())]
    with _build_progress(quiet=json) as listener:
        outcome = _project("pipelines.build").run_backfill(
            asset, wanted, lake=lake, dumps=dumps, documents=documents, profile=profile, anew=anew, **listener
        )
    if json:
        print_json(outcome.to_dict())
    else:
        out.print(render_build(outcome.to_dict()))
    _end_of(outcome)


@app.command()
def status(lake: LakeOption = None, dumps: DumpsOption = None, profile: ProfileOption = None, json: JsonOption = False) -> None:
    """What the lake holds, what is stale and why, and which release readers read."""
    from scholarlake.terminal import render_status

    state = _project("pipelines.build").status(lake=lake, dumps=dumps, profile=profile)
    if json:
        print_json(state)
    else:
        out.print(render_status(state))


# -- reading ---------------------------------------------------------------------------------------------------------


@app.command()
def releases(lake: LakeOption = None, json: JsonOption = False) -> None:
    """The releases of a lake, and how to read the newest one's tables from other engines."""
    from scholarlake.lake.home import Lake
    from scholarlake.lake.releases import load, names, snippets
    from scholarlake.terminal import render_releases, to_dict

    opened = Lake.open(lake_path(lake))
    found = [load(opened, name) for name in names(opened)] or [load(opened)]
    reading = {table: snippets(opened, found[-1], table) for table in found[-1].tables}
    if json:
        print_json({"releases": [to_dict(one) for one in found], "snippets": reading})
    else:
        out.print(render_releases(found, reading), soft_wrap=True)  # lines to be pasted stay whole


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, max=1_000, help="How many results.")] = 10,
    mode: Annotated[str, typer.Option(help="dense, keyword, relevance or fused.")] = "dense",
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """Search the papers of a release."""
    import scholarlake
    from scholarlake import terminal

    if not query.strip():
        raise NotFound("there is nothing to look for in an empty query; name some words")
    with scholarlake.open(lake_path(lake), release=release) as reader:
        hits = reader.search(query, k=k, mode=mode)
    if json:
        print_json([terminal.to_dict(hit) for hit in hits])
    else:
        out.print(terminal.render_hits(hits))


@app.command()
def paper(
    name: Annotated[str, typer.Argument(metavar="ID", help="Id, merged id or exact title.")],
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """One paper: what is known of it, what it cites and what cites it."""
    import scholarlake
    from scholarlake import terminal

    with scholarlake.open(lake_path(lake), release=release) as reader:
        found = reader.paper(name)
        gone = reader.tombstone(name)
        cites, cited_by = (walk(found.paper_id, limit=_NEIGHBOURS) for walk in (reader.references, reader.citations))
    if json:
        around = {"references": terminal.to_dict(cites), "citations": terminal.to_dict(cited_by)}
        print_json({**terminal.to_dict(found), **around, "tombstone": terminal.to_dict(gone)})
    else:
        if gone:
            out.print(terminal.render_tombstone(gone))
        out.print(terminal.render_paper(found, cites, cited_by))


@app.command()
def diff(
    before: Annotated[
        str | None, typer.Argument(metavar="A", help="The earlier release.", show_default="the one before the latest")
    ] = None,
    after: Annotated[str, typer.Argument(metavar="B", help="The later release.")] = "latest",
    table: Annotated[list[str] | None, typer.Option("--table", help="Compare this table alone; may be given again.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Changes listed of each table and kind of change.")] = 10,
    lake: LakeOption = None,
    json: JsonOption = False,
) -> None:
    """What changed between two releases: papers, citations, the core, and every other table."""
    from scholarlake import terminal
    from scholarlake.differences import difference
    from scholarlake.lake.home import Lake
    from scholarlake.lake.releases import load, predecessor

    opened = Lake.open(lake_path(lake))
    later = load(opened, after)
    earlier = load(opened, before) if before else predecessor(opened, later)
    if earlier is None:
        said = f"{later.name} is the first release of {opened.root}: there is nothing to compare it with yet"
        if json:
            print_json({"before": None, "after": later.name, "said": said})
        else:
            out.print(said)
        return
    found = difference(opened, earlier, later, limit, table or ())
    if json:
        print_json(terminal.to_dict(found))
    else:
        out.print(terminal.render_differences(found, tables=table or ()))


@app.command()
def vacuum(
    keep: Annotated[int | None, typer.Option(min=1, help="Keep so many of the newest releases.", show_default="the profile's")] = None,
    keep_release: Annotated[list[str] | None, typer.Option("--keep-release", help="Keep this one too; may be given again.")] = None,
    older_than: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Drop only releases older than so many days.", show_default="the profile's")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be freed, and change nothing.")] = False,
    lake: LakeOption = None,
    json: JsonOption = False,
) -> None:
    """Drop old releases, and every file that no kept release and no table as it is now needs."""
    from scholarlake import terminal
    from scholarlake.lake.home import Lake
    from scholarlake.lake.vacuum import look, retention, sweep

    opened = Lake.open(lake_path(lake))
    found = (look if dry_run else sweep)(opened, retention(opened, keep, tuple(keep_release or ()), older_than))
    if json:
        print_json({**found.to_dict(), "dry_run": dry_run})
    else:
        out.print(terminal.render_sweep(found, is_done=not dry_run))


@app.command()
def collections(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A collection whose papers to show.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=100_000, help="How many of its papers.")] = 20,
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """The collections of a release, or the papers of one: which were chosen, and why."""
    import scholarlake
    from scholarlake import terminal
    from scholarlake.corpus.selection.listing import catalog, members

    with scholarlake.open(lake_path(lake), release=release) as reader:
        listed = catalog(reader.table("collection_catalog"), name)
        papers = members(reader.table("collections"), reader.table("papers"), name, k) if name else []
    if json:
        print_json({**listed[0], "papers": papers} if name else listed)
    else:
        out.print(terminal.render_collection(listed[0], papers) if name else terminal.render_collections(listed))


model_commands.register(app)
source_commands.register(app)
tool_commands.register(app)
knowledge_commands.register(app)
registry_commands.register(app)
render_commands.register(app)
ask_commands.register(app)
mcp_commands.register(app)
trace_commands.register(app)


# -- progress --------------------------------------------------------------------------------------------------------


@contextmanager
def _going_on_later() -> Iterator[None]:
    """Whoever stops a build hears that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        err.print("stopped; what was finished is kept: the same command goes on from there")
        raise typer.Exit(130) from None


@contextmanager
def _build_progress(*, quiet: bool) -> Iterator[dict[str, Any]]:
    """Listeners for a build: a bar an asset with an estimate on a terminal, a line a partition elsewhere."""
    if quiet:
        with _going_on_later():
            yield {}
        return
    with _going_on_later(), Progress(*progress_columns(), console=err, transient=True, disable=not err.is_terminal) as progress:
        tasks: dict[str, Any] = {}
        current: Any = None

        def before(step: Any) -> None:
            nonlocal current
            current = step
            if step.stale.asset not in tasks:
                tasks[step.stale.asset] = progress.add_task(step.stale.asset, total=step.of)
            show(0.0, "")

        def during(done: int, total: int | None, what: str) -> None:
            show(min(done / total, 1.0) if total else 0.0, f"{what}: {done:,}" + (f" of {total:,}" if total else ""))

        def after(step: Any, outcome: Any) -> None:
            show(1.0, "")

        def show(part: float, what: str) -> None:
            stale = current.stale
            where = stale.asset if stale.partition is None else f"{stale.asset} [{stale.partition}]"
            progress.update(tasks[stale.asset], completed=current.number - 1 + part, description=_plain(f"{where} {what}".strip()))

        def say(line: str) -> None:
            progress.console.print(_plain(line), style="dim", soft_wrap=True)

        yield {"before": before, "during": during, "after": after, "say": say}


if __name__ == "__main__":
    main()
