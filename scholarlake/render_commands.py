"""`scholarlake render`: an answer of an agent as a page that a person reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from scholarlake.console import JsonOption, ReleaseOption, err, out, print_json
from scholarlake.errors import NotFound, SourceError

if TYPE_CHECKING:
    from scholarlake.door import ReleaseReader
    from scholarlake.toolbox.arguments import AnyChart
    from scholarlake.toolbox.page import Page, Reference

_SUFFIXES = (".html", ".htm", ".md")


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command()(render)


def render(
    answer: Annotated[Path, typer.Argument(metavar="ANSWER.md", help="An answer in Markdown, with placeholders of charts.")],
    target: Annotated[
        Path, typer.Option("-o", "--output", help="OUT.html: one page. OUT.md: Markdown, its pictures in OUT.charts beside it.")
    ],
    charts_file: Annotated[
        Path | None, typer.Option("--charts", help="Charts that the answer does not define itself: a file with a payload a line.")
    ] = None,
    lake: Annotated[
        Path | None, typer.Option("--lake", envvar="SCHOLARLAKE_LAKE", help="Lake whose papers are cited: references get their titles.")
    ] = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """Make a page of an answer: charts drawn, citations numbered, references listed. Uses no network, and the page none."""
    from scholarlake.toolbox import page

    require_suffix(target)
    text = _read(answer)
    more = page.read_charts(_read(charts_file), charts_file.name) if charts_file else []
    with _references(lake, release) as reference:
        made = write_page(text, target, more, reference)
    if json:
        folder = _pictures(target)
        print_json({"page": str(target), "pictures": [str(folder / name) for name in made.pictures], "faults": list(made.faults)})
    else:
        for fault in made.faults:
            err.print(Text(f"warning: {fault}", style="yellow"), soft_wrap=True)
        out.print(Text(str(target)), soft_wrap=True)
    if made.faults:
        raise typer.Exit(1)


def require_suffix(target: Path) -> None:
    """Raises SourceError for a file that is no page by its name."""
    if target.suffix.lower() not in _SUFFIXES:
        raise SourceError(f"{target} is neither .html nor .md; name one of them")


def write_page(text: str, target: Path, more: Sequence[AnyChart], reference: Reference | None) -> Page:
    """Write an answer as the page that its name says, with its pictures beside it where it is Markdown."""
    from scholarlake.lake.files import write_atomically
    from scholarlake.toolbox import page

    folder = _pictures(target)
    made = page.markdown(text, folder.name, more, reference) if target.suffix.lower() == ".md" else page.html(text, more, reference)
    if made.pictures:
        folder.mkdir(parents=True, exist_ok=True)
    for name, drawn in made.pictures.items():
        write_atomically(folder / name, drawn.encode())
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, made.text.encode())
    return made


def reference_in(reader: ReleaseReader) -> Reference:
    """What is known of a cited paper in a release: who, what, where and when, in a line."""

    def known(paper_id: str) -> str | None:
        try:
            paper = reader.paper(paper_id, "id")
        except NotFound:
            return None
        names = [author.name for author in paper.authors if author.name]
        by = ", ".join(names[:3]) + (" et al." if len(names) > 3 else "")
        said = ". ".join(part.rstrip(".") for part in (by, paper.title, paper.venue) if part)
        return f"{said}{f' ({paper.year})' if paper.year else ''}{'. Withdrawn.' if paper.withdrawn else ''}"

    return known


def _pictures(target: Path) -> Path:
    return target.parent / f"{target.stem}.charts"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as fault:
        raise SourceError(f"{path} can't be read ({fault.strerror}); name another file") from fault
    except UnicodeDecodeError as fault:
        raise SourceError(f"{path} is no UTF-8 text (byte {fault.start}); name another file") from fault


@contextmanager
def _references(lake: Path | None, release: str) -> Iterator[Reference | None]:
    """What says what is known of a cited paper, where a lake is named."""
    if lake is None:
        yield None
        return
    import scholarlake

    with scholarlake.open(lake, release=release) as reader:
        yield reference_in(reader)
