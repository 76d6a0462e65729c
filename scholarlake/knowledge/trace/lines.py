"""A trace on a terminal: a tree from the account to the sentences.

What does not belong here: what is in it (`tree`), the page (`page`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from scholarlake.knowledge.trace.tree import Node, Passage, Source, Trace
from scholarlake.typeset import plain

_ROLES = {"supporting": "green", "opposing": "red", "limiting": "yellow", "evidence": "cyan"}
_MARKS = {
    "supported": "green",
    "current": "green",
    "failed": "red",
    "retracted": "red",
    "disputed": "yellow",
    "unresolved": "yellow",
    "needs_recheck": "yellow",
    "superseded": "yellow",
}


def render(found: Trace) -> RenderableType:
    """The whole trace."""
    one = found.object
    head = Text.assemble(
        (plain(one.title), "bold"), f"\n{one.kind} · ", _marks(found.node), f" · version {one.version}\n", (one.object_id, "dim")
    )
    parts: list[RenderableType] = [head]
    if found.gone:
        parts.append(Text(found.gone, style="bold red"))
    elif one.status == "needs_recheck":
        parts.append(Text(f"to be looked at again: {plain(one.reason)}", style="bold yellow"))
    tree = Tree(Text(_whence(found), style="dim"), guide_style="dim")
    _fill(tree, found.node, {id: number for number, id in enumerate(_numbered(found.node), 1)})
    if len(found.versions) > 1:
        branch = tree.add(Text("versions", style="dim"))
        for version in found.versions:
            reason = f": {plain(version.reason)}" if version.reason else ""
            branch.add(Text(f"{version.version}  {version.status.replace('_', ' ')}, {version.created_at:%Y-%m-%d %H:%M}{reason}"))
    return Group(*parts, tree)


def _whence(found: Trace) -> str:
    one = found.object
    origin = one.stage if one.chain == "pipeline" else f"{one.chain}, {one.stage}"
    where = f" of {one.collection}" if one.collection else ""
    return plain(f"from {origin}{where}, by {one.method}, in {found.release}")


def _numbered(node: Node) -> list[str]:
    return list(dict.fromkeys(below.object.object_id for below in node.basis))


def _fill(branch: Tree, node: Node, numbers: Mapping[str, int]) -> None:
    content = node.object.content
    for entry in content.get("conditions") or content.get("context") or ():
        branch.add(Text.assemble((f"{entry['kind']}: ", "dim"), plain(entry["text"])))
    for claim in content.get("claims") or ():
        cites = "".join(f"[{numbers[id]}]" for id in claim["cites"] if id in numbers)
        branch.add(Text.assemble(plain(claim["text"]), (f" {cites}", "cyan")))
    for name in ("rationale",):
        if content.get(name):
            branch.add(Text(plain(content[name])))
    for below in node.basis:
        number = numbers.get(below.object.object_id)
        role = Text(f"{below.role} " if below.role else "", style=_ROLES.get(below.role or "", ""))
        label = Text.assemble(
            (f"[{number}] " if number else "", "cyan"), role, (f"{below.object.kind} ", "dim"), _title(below), "  ", _marks(below)
        )
        if below.why:
            label.append(f"\n{plain(below.why)}", style="dim")
        under = branch.add(label)
        if below.since:
            under.add(Text(plain(below.since), style="yellow"))
        _fill(under, below, {})
    if node.source is not None:
        at = branch.add(Text.assemble(("in ", "dim"), *_source(node.source)))
        if node.note:
            at.add(Text(node.note, style="yellow"))
        for passage in node.passages:
            at.add(_passage(passage))


def _title(node: Node) -> Text:
    content = node.object.content
    if node.object.kind == "fact":
        return Text.assemble((f"{content['type'].replace('_', ' ')} on {plain(content['subject'])}: ", "dim"), plain(content["statement"]))
    return Text(plain(node.object.title))


def _marks(node: Node) -> Text:
    one = node.object
    found = Text()
    for mark in filter(None, (one.review, one.verification, one.status)):
        found.append(("" if not found else " · ") + mark.replace("_", " "), style=_MARKS.get(mark, "dim"))
    return found


def _source(source: Source) -> Iterator[Text]:
    yield Text(plain(source.title) or source.paper_id, style="italic")
    yield Text(f" ({source.year})" if source.year else "")
    if source.title:
        yield Text(f" {source.paper_id}", style="dim")
    for note in source.notes:
        yield Text(f", {plain(note)}", style="yellow")


def _passage(passage: Passage) -> Text:
    found = Text()
    if passage.section:
        found.append(" › ".join(map(plain, passage.section)) + "\n", style="dim")
    for _, text, cited in passage.sentences:
        found.append(plain(" ".join(text.split())) + " ", style="bold" if cited else "dim")
    return found
