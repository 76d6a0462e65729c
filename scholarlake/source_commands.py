"""`scholarlake inspect` and `scholarlake rejects`: what a file holds before it is in a lake, and what a lake refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scholarlake.console import JsonOption, LakeOption, ReleaseOption, bar, err, escaped, lake_path, out, print_json
from scholarlake.errors import ReleaseError, SourceError

if TYPE_CHECKING:
    from scholarlake.door import ReleaseReader

_BLOCK_BYTES = 1 << 20  # where only so many lines are wanted


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command()(inspect)
    app.command()(rejects)


def inspect(
    where: Annotated[str, typer.Argument(metavar="FILE", help="A file, an archive, a folder, or s3://bucket/key, gs://….")],
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Read about so many lines of each file only.", show_default="all of it")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say what a file is: format, records and rejects, the fields that it fills, and three records as they would be stored.

    Full texts are told apart from dumps, and shown by their sections and sentences. Nothing is written.
    """
    from scholarlake import terminal_sources as views
    from scholarlake.inspection import Unread
    from scholarlake.inspection import inspect as look
    from scholarlake.profile import Documents, Reading

    reading = Reading() if limit is None else Reading(block_bytes=_BLOCK_BYTES, workers=1)  # type: ignore[call-arg]
    with bar(where) as report:
        found = list(look(where, reading, Documents(), report, limit))  # type: ignore[call-arg]
    unread = [one for one in found if isinstance(one, Unread)]
    if json:
        print_json([one.to_dict() for one in found])
    elif len(found) == 1 and not unread:
        out.print(views.render_found(found[0]))
    elif len(found) > 1:
        out.print(views.render_folder(found))
    for one in unread[:-1]:
        err.print(f"[bold red]error:[/] {escaped(one.why)}", soft_wrap=True)
    if unread:
        raise SourceError(unread[-1].why)


def rejects(
    part: Annotated[str | None, typer.Option("--part", help="Of this part only: its key, or a pattern such as 'v3.2/*'.")] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Of this reason only.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="How many are listed.")] = 20,
    working: Annotated[
        bool, typer.Option("--working", help="Of the tables at work, where no release holds them yet: what blocks a build.")
    ] = False,
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """The lines of the dump that are no records: how many, by part and reason, then each with its place and how it begins."""
    from scholarlake import terminal_sources as views
    from scholarlake.lake.home import Lake
    from scholarlake.sources.rejected import rejected
    from scholarlake.typeset import to_dict

    if working:
        opened = Lake.open(lake_path(lake))
        found = rejected(opened.scan("rejects"), opened.scan("records"), part, reason, limit)
        said = "the tables at work"
    else:
        with _release_of(lake_path(lake), release) as reader:
            found = rejected(reader.table("rejects"), reader.table("records"), part, reason, limit)
            said = reader.release.name
    if json:
        print_json({"of": said, **to_dict(found)})
    else:
        out.print(views.render_rejected(found, said))


def _release_of(lake: Path, release: str) -> ReleaseReader:
    """The release. Raises ReleaseError, saying how to look without one, where there is none."""
    import scholarlake

    try:
        return scholarlake.open(lake, release=release)
    except ReleaseError as fault:
        raise ReleaseError(f"{fault}; --working lists what the tables at work hold") from fault
