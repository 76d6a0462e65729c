"""`scholarlake trace`: from an object to the sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from scholarlake.console import JsonOption, LakeOption, ReleaseOption, lake_path, out, print_json
from scholarlake.errors import SourceError

_PAGES = (".html", ".htm")


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command()(trace)


def trace(
    id: Annotated[str | None, typer.Argument(metavar="ID", help="A fact, assignment, relation, account, or what a task made.")] = None,
    target: Annotated[Path | None, typer.Option("-o", "--output", help="OUT.html: a page of it.")] = None,
    every: Annotated[Path | None, typer.Option("--all", metavar="DIR", help="A page of every account, and one that leads to them.")] = None,
    collection: Annotated[str | None, typer.Option(help="With --all: the accounts of this collection.")] = None,
    version: Annotated[int | None, typer.Option(min=1, help="An earlier version of it.")] = None,
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """What an object says, what it rests on, down to the sentences, and what became of any of it since."""
    import scholarlake
    from scholarlake.knowledge.trace import lines, page
    from scholarlake.knowledge.trace.tree import Tracer
    from scholarlake.lake.files import write_atomically
    from scholarlake.typeset import to_dict

    if (id is None) == (every is None):
        raise SourceError("name an id, or a folder for all accounts with --all DIR")
    if target is not None and target.suffix.lower() not in _PAGES:
        raise SourceError(f"{target} is no .html; name one")
    with scholarlake.open(lake_path(lake), release=release) as reader:
        tracer = Tracer(reader, many=every is not None)
        if id is not None:
            found = tracer.trace(id, version)
            if target is not None:
                write_atomically(target, page.html(found).encode())
            if json:
                print_json(to_dict(found))
            else:
                out.print(Text(str(target)) if target else lines.render(found), soft_wrap=target is not None)
            return
        assert every is not None
        pages = []
        for one in tracer.accounts(collection):
            found = tracer.trace(one)
            pages.append((f"{found.object.object_id}.html", found))
            write_atomically(every / pages[-1][0], page.html(found).encode())
        title = f"Accounts of {collection}" if collection else "Accounts"
        write_atomically(every / "index.html", page.index(pages, title).encode())
    if json:
        print_json({"index": str(every / "index.html"), "pages": [str(every / name) for name, _ in pages]})
    else:
        out.print(Text(f"{every / 'index.html'}: {len(pages)} accounts"), soft_wrap=True)
