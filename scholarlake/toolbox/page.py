"""An answer as a page: one HTML file, or Markdown with its pictures beside it.

An answer is Markdown in which `<chart id="…"/>` stands for a chart, `\\cite{id, id}` for papers, and a fenced block `charts` holds the
definitions of the charts, a payload a line. Whatever else it holds is text: HTML in it is shown, not obeyed, pictures of others are not
loaded, and the page asks no network for anything. What does not belong here: how a chart is drawn (`pictures`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

import orjson
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pydantic import ValidationError

from scholarlake.errors import SourceError
from scholarlake.html_page import document
from scholarlake.toolbox import charts, pictures
from scholarlake.toolbox.arguments import AnyChart

_CITE = re.compile(r"\\cite\{([^{}]{1,2000})\}")
_CODE_OR_MARK = re.compile(rf"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))|{charts.PLACEHOLDER.pattern}|{_CITE.pattern}")
_LINE_END = re.compile(r"\r\n?|\n")  # what ends a line in Markdown
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")

Reference = Callable[[str], str | None]
"""What is known of the paper of an id, in a line; None where there is none of that id."""


@dataclass
class Page:
    """A rendered answer. pictures: file names and SVG that go beside it. faults: what could not be shown, a line each."""

    text: str
    pictures: Mapping[str, str] = field(default_factory=dict)
    faults: Sequence[str] = ()


def html(answer: str, more: Sequence[AnyChart] = (), reference: Reference | None = None) -> Page:
    """The answer as one HTML page that needs nothing else. more: charts that it does not define itself."""
    parser = _parser()
    tokens = parser.parse(answer)
    work = _Work.of(tokens, more)
    kept = [token for token in tokens if not _is_definitions(token)]
    body = parser.renderer.render(kept, parser.options, {"work": work})
    title = next((tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"), "Answer")
    listed = "".join(f'<li id="ref-{at}">{said}</li>\n' for at, said in enumerate(work.references(reference, escape), start=1))
    references = f"<section><h2>References</h2>\n<ol>\n{listed}</ol></section>\n" if listed else ""
    return Page(document(title, body, references), faults=work.faults)


def markdown(answer: str, folder: str, more: Sequence[AnyChart] = (), reference: Reference | None = None) -> Page:
    """The answer as Markdown with links to pictures in a folder beside it."""
    work = _Work.of(_parser().parse(answer), more)
    drawn: dict[str, str] = {}

    def shown(chart_id: str | None, cited: str | None) -> str:
        if cited:
            return "".join(f"[{number}]" for number in work.cite(cited))
        chart = work.charts.get(chart_id or "")
        if chart is None:
            return work.lacks(chart_id or "")
        drawn[f"{chart_id}.svg"] = pictures.svg(chart)
        return f"![{_as_text(chart.title)}]({quote(folder)}/{chart_id}.svg)"

    text = replaced(without_definitions(answer)[1], shown).rstrip() + "\n"
    listed = work.references(reference, _as_text)
    if listed:
        text += "\n## References\n\n" + "".join(f"{at}. {said}\n" for at, said in enumerate(listed, start=1))
    return Page(text, drawn, work.faults)


@dataclass(frozen=True)
class Marks:
    """What an answer refers to, in the order in which it does first: ids of papers, and of charts."""

    cited: tuple[str, ...]
    charts: tuple[str, ...]


def marks(answer: str) -> Marks:
    """The papers that an answer cites and the charts that it holds, as a page of it would show them: what stands in code is neither."""
    cited: dict[str, None] = {}
    placed: dict[str, None] = {}
    for token in _parser().parse(answer):
        for child in token.children or ():
            if child.type == "cite":
                cited.update(dict.fromkeys(ids_of(child.content)))
            elif child.type == "chart":
                placed[child.content] = None
    return Marks(tuple(cited), tuple(placed))


def replaced(answer: str, put: Callable[[str | None, str | None], str]) -> str:
    """An answer with something else in the place of every mark that is not in code. put: given a chart's id, or the ids of a citation."""

    def of(found: re.Match[str]) -> str:
        return found[0] if found["code"] else put(found[3], found[4])

    lines: list[str] = []
    fence = ""
    for line in answer.splitlines():
        mark = _FENCE.fullmatch(line)
        if not fence and mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        elif fence and mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        elif not fence:
            line = _CODE_OR_MARK.sub(of, line)
        lines.append(line)
    return "\n".join(lines)


def without_definitions(answer: str) -> tuple[int, str]:
    """How many definitions of charts an answer holds, and the answer without the blocks of them."""
    lines = _LINE_END.split(answer)
    found = 0
    for token in reversed(_parser().parse(answer)):
        if _is_definitions(token) and token.map:
            found += sum(bool(line.strip()) for line in token.content.splitlines())
            del lines[token.map[0] : token.map[1]]
    return found, "\n".join(lines).strip() if found else answer


@dataclass
class _Work:
    """What an answer defines, and what was met so far while it is rendered."""

    charts: dict[str, AnyChart]
    faults: list[str]
    cited: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, tokens: Sequence[Token], more: Sequence[AnyChart]) -> _Work:
        faults: list[str] = []
        defined = {charts.chart_id(chart): chart for chart in more}
        for token in tokens:
            if _is_definitions(token):
                for number, line in enumerate(token.content.splitlines(), start=1):
                    if line.strip():
                        chart = _defined(line, f"definition {number}", faults)
                        defined.update({charts.chart_id(chart): chart} if chart else {})
        return cls(defined, faults)

    def cite(self, ids: str) -> list[int]:
        """Numbers of the papers of a citation, in the order in which papers are first cited."""
        return [self.cited.setdefault(one, len(self.cited) + 1) for one in ids_of(ids)]

    def lacks(self, chart_id: str) -> str:
        """Notes that a chart is not defined; what is shown in its place."""
        self.faults.append(f"chart {chart_id} is not defined; append its definition in a block ```{charts.FENCE}")
        return f"[chart {chart_id} is missing]"

    def references(self, reference: Reference | None, plain: Callable[[str], str]) -> list[str]:
        """A line for each paper that is cited, in order."""
        lines = []
        for paper_id in self.cited:
            known = reference(paper_id) if reference else ""
            if known is None:
                self.faults.append(f"{paper_id} is cited and no paper of the release")
                known = "(no paper of this release)"
            lines.append(f"{plain(known)} [{plain(paper_id)}]" if known else plain(paper_id))
        return lines


def read_charts(text: str, source: str) -> list[AnyChart]:
    """Charts of a file with a payload a line. Raises SourceError for one that is not sound."""
    faults: list[str] = []
    found = [_defined(line, f"{source}, line {at}", faults) for at, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if faults:
        raise SourceError(faults[0])
    return [chart for chart in found if chart]


def _defined(line: str, where: str, faults: list[str]) -> AnyChart | None:
    try:
        return charts.sound(orjson.loads(line))
    except ValidationError as fault:
        first = fault.errors()[0]
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except (ValueError, TypeError, KeyError) as fault:
        why = f"{type(fault).__name__}: {fault}"
    faults.append(f"{where} is no sound chart ({why})")
    return None


def ids_of(cited: str) -> list[str]:
    """The ids of a citation."""
    return [one for one in map(str.strip, cited.split(",")) if one]


def _as_text(text: str) -> str:
    """Text that Markdown shows as it stands."""
    return re.sub(r"([\\`*_\[\]<>$|])", r"\\\1", text)


def _is_definitions(token: Token) -> bool:
    return token.type == "fence" and token.info.strip() == charts.FENCE


# -- Markdown that knows charts and citations ----------------------------------------------------------------------------


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"]).disable("image")
    parser.inline.ruler.before("escape", "marks", _marks)
    parser.core.ruler.push("figures", _figures)
    parser.add_render_rule("chart", _chart)
    parser.add_render_rule("cite", _cite)
    return parser


def _marks(state: StateInline, silent: bool) -> bool:
    """Placeholders and citations, anywhere but in code."""
    for name, pattern in (("chart", charts.PLACEHOLDER), ("cite", _CITE)):
        found = pattern.match(state.src, state.pos)
        if found:
            if not silent:
                state.push(name, "", 0).content = found[1]
            state.pos = found.end()
            return True
    return False


def _figures(state: StateCore) -> None:
    """A paragraph that is nothing but charts is none: a figure stands by itself."""
    for at, token in enumerate(state.tokens):
        if token.type == "inline" and state.tokens[at - 1].type == "paragraph_open":
            children = token.children or []
            if any(child.type == "chart" for child in children) and all(
                child.type in ("chart", "softbreak") or not child.content.strip() for child in children
            ):
                state.tokens[at - 1].hidden = state.tokens[at + 1].hidden = True


def _chart(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    work: _Work = env["work"]
    chart = work.charts.get(tokens[at].content)
    if chart is None:
        return f'<span class="missing">{escape(work.lacks(tokens[at].content))}</span>'
    head, *body = pictures.rows(chart)
    cells = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in body)
    table = f"<table><thead><tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr></thead><tbody>{cells}</tbody></table>"
    return f"\n<figure>{pictures.svg(chart)}<details><summary>The numbers</summary>{table}</details></figure>\n"


def _cite(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    work: _Work = env["work"]
    return "".join(f'<a class="cite" href="#ref-{number}">[{number}]</a>' for number in work.cite(tokens[at].content))
