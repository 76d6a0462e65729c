"""Papers as Markdown, as converters of arXiv's HTML and LaTeX write them, and as plain text.

Markdown: `#` headings, front matter between `---`, formulas between `$$`, tables of bars, images whose text is a caption, lists.
Plain text: paragraphs parted by blank lines, numbered or known headings on a line of their own. In both, what stands between the title
and the heading "Abstract" (names, addresses) is left out, and so are references, acknowledgements and what stands under them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scholarlake.documents.document import About, Document, Kind, Writer
from scholarlake.errors import SourceError

MARKDOWN, TEXT = "markdown", "text"

_HEADING = re.compile(r"(#{1,6})\s+(.*)\Z")
_NUMBERED = re.compile(r"((?:\d+|[A-Z]|[IVX]+)(?:\.\d+)*\.?)\s+(\S.*)\Z")
_KNOWN = re.compile(
    r"(?:abstract|summary|introduction|background|related work|(?:materials and )?methods?|results?(?: and discussion)?|discussion|"
    r"conclusions?|limitations|appendix|references|bibliography|acknowledge?ments?|funding)\Z",
    re.IGNORECASE,
)
_UNREAD = re.compile(
    r"(?:references?(?: and notes)?|bibliography|works cited|literature cited|acknowledge?ments?|funding|author contributions?|"
    r"competing interests?|"
    r"conflicts? of interests?|data availability(?: statement)?|supplementary (?:materials?|information|data)|supporting information)\Z",
    re.IGNORECASE,
)
_FIELD = re.compile(r"([A-Za-z_]+):\s*(.*)\Z")
_DOI = re.compile(r"\b10\.\d{4,9}/\S+")
_ARXIV = re.compile(r"\barXiv:\s?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE)
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
# Each of these gives up after a while: a mark that nothing closes must not be looked for through a whole book, from every place anew.
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^)]{0,2000}\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]{0,2000}(?:\([^()]{0,500}\)[^()\s]{0,500}){0,9})(?:\s+\"[^\"]{0,500}\")?\)")
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*\*\*|\*\*|\*|__)(?=\S)(.{1,300}?)(?<=\S)\1(?![\w*])")
_MARKED = re.compile(r"[*_$`]|\]\(")  # what has none of these has no marks
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\d{1,3}[.)]|\([a-z]\))\s+")
_CAPTION = re.compile(r"\**((?:Figure|Fig\.|Table|Algorithm)\s+[A-Z]?\d+(?:\.\d+)*)\s*[:.|]\**\s*", re.IGNORECASE)
_RULE = re.compile(r"[\s|:-]*\Z")
_LONGEST_HEADING = 120


_Heading = tuple[int, str | None, str]  # level, number, words


def is_markdown(head: str) -> bool:
    """Whether a text has headings or front matter of Markdown."""
    return bool(re.search(r"(?m)^#{1,6}\s+\S", head) or (head.startswith("---\n") and re.search(r"(?m)^[A-Za-z_]+:\s", head)))


def read_markdown(data: bytes) -> Iterator[Document]:
    """The one document of a file. Raises SourceError where it is no UTF-8."""
    yield _Reading(list(_decoded(data)), is_markdown=True).document()


def read_text(data: bytes) -> Iterator[Document]:
    """The one document of a file. Raises SourceError where it is no UTF-8."""
    yield _Reading(list(_decoded(data)), is_markdown=False).document()


def _decoded(data: bytes) -> Iterator[str]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise SourceError(f"no UTF-8 text (byte {fault.start})") from None
    if "\x00" in text:
        raise SourceError("no text: it holds NUL bytes")
    return iter(text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n").split("\n"))


@dataclass
class _Reading:
    """One text under way, line by line."""

    lines: list[str]
    is_markdown: bool
    writer: Writer = field(default_factory=Writer)
    facts: dict[str, str] = field(default_factory=dict)
    title: str = ""
    levels: list[int] = field(default_factory=list)
    kind: Kind = "paragraph"
    unread: int | None = None  # level of the heading under which nothing is read
    paragraph: list[str] = field(default_factory=list)

    def document(self) -> Document:
        start = self._front_matter() if self.is_markdown else 0
        self.title = self.facts.get("title", "")
        body = self.lines[start:]
        head = "\n".join(body[:60])
        body = self._take_title(body)
        self.writer.add("title", _plain(self.title, is_markdown=self.is_markdown))
        body = _from_abstract(body, self._heading)
        place = 0
        while place < len(body):
            place = self._line(body, place)
        self._flush()
        return self.writer.document(self._about(head))

    def _front_matter(self) -> int:
        if not self.lines or self.lines[0].strip() != "---":
            return 0
        for place, line in enumerate(self.lines[1:200], 1):
            if line.strip() in ("---", "..."):
                return place + 1
            if found := _FIELD.match(line):
                self.facts[found.group(1).lower()] = found.group(2).strip().strip("\"'")
        self.facts.clear()
        return 0

    def _take_title(self, body: list[str]) -> list[str]:
        """The first heading of Markdown, unless the front matter has another title; the first paragraph of plain text, where it reads
        like a title."""
        first = next((place for place, line in enumerate(body) if line.strip()), None)
        if first is None:
            return body
        found = _HEADING.match(body[first]) if self.is_markdown else None
        if found is not None and not _KNOWN.match(words := _without_closing(found.group(2))) and self.title in ("", words):
            self.title = words
            return body[first + 1 :]
        if self.is_markdown:
            return body
        end = next((place for place in range(first, len(body)) if not body[place].strip()), len(body))
        title = " ".join(" ".join(body[first:end]).split())
        if end < len(body) and len(title) <= 300 and not title.endswith((".", ";", ",")) and self._heading(title) is None:
            self.title = title
            return body[end:]
        return body

    def _about(self, head: str) -> About:
        written, arxiv = _DOI.search(head), _ARXIV.search(head)
        ids = [self.facts[key] for key in ("id", "paper_id", "arxiv", "arxiv_id", "pmid") if self.facts.get(key)]
        year = _YEAR.search(self.facts.get("year") or self.facts.get("date") or "")
        authors = self.facts.get("authors") or self.facts.get("author") or ""
        return About(
            self.title or None,
            self.facts.get("doi") or (written.group() if written else None),
            tuple(ids + ([arxiv.group(1)] if arxiv else [])),
            int(year.group()) if year else None,
            tuple(name.strip(" []\"'") for name in re.split(r";|,| and ", authors) if name.strip(" []\"'")),
        )

    def _heading(self, line: str) -> _Heading | None:
        """Level, number and words of a line that is a heading."""
        text = line.strip()
        if self.is_markdown:
            found = _HEADING.match(text)
            if found is None:
                return None
            words = _plain(_without_closing(found.group(2)), is_markdown=True)
            numbered = _NUMBERED.match(words)
            return len(found.group(1)), numbered.group(1) if numbered else None, numbered.group(2) if numbered else words
        if not text or len(text) > _LONGEST_HEADING or text.endswith((".", ",", ";", ":")):
            return None
        numbered = _NUMBERED.match(text)
        if numbered is not None and numbered.group(2)[0].isupper() and len(numbered.group(2).split()) <= 12:
            return numbered.group(1).rstrip(".").count(".") + 2, numbered.group(1), numbered.group(2)
        return (2, None, text) if _KNOWN.match(text) else None

    def _line(self, body: list[str], place: int) -> int:
        """Take in what begins in this line; returns the place of what follows it."""
        line = body[place]
        text = line.strip()
        if not text:
            self._flush()
            return place + 1
        alone = self.is_markdown or not self.paragraph
        if alone and (found := self._heading(line)) is not None:
            self._flush()
            self._enter(*found)
            return place + 1
        if not self.is_markdown:
            self.paragraph.append(text)
            return place + 1
        if text.startswith(("```", "~~~")):
            end = next((at for at in range(place + 1, len(body)) if body[at].strip().startswith(text[:3])), len(body) - 1)
            self._flush()
            return end + 1
        if text.startswith(("$$", "\\[")):
            return self._formula(body, place)
        if text.startswith("|") and "|" in text[1:]:
            return self._table(body, place)
        if _IMAGE.fullmatch(text):
            self._flush()
            self._add("caption", _IMAGE.sub(r"\1", text))
            return place + 1
        if _ITEM.match(line):
            self._flush()
            self.paragraph.append(line)
            return place + 1
        self.paragraph.append(text)
        return place + 1

    def _enter(self, level: int, number: str | None, words: str) -> None:
        if self.unread is not None and level > self.unread:
            return
        self.unread = level if _UNREAD.match(words) else None
        while self.levels and self.levels[-1] >= level:
            self.levels.pop()
            self.writer.sections.pop()
        self.kind = "abstract" if words.lower() == "abstract" else "paragraph"
        if self.unread is not None or self.kind == "abstract":
            return
        self.levels.append(level)
        self.writer.sections.append(words)
        self.writer.heading(words, number)

    def _formula(self, body: list[str], place: int) -> int:
        opening = body[place].strip()[:2]
        closing = "$$" if opening == "$$" else "\\]"
        text = body[place].strip()[2:]
        end = place
        while closing not in text and end + 1 < min(len(body), place + 60):
            end += 1
            text += " " + body[end].strip()
        if closing not in text:
            self.paragraph.append(body[place].strip())
            return place + 1
        formula, _, rest = text.partition(closing)
        self._flush()
        self._add("formula", formula)
        if rest.strip(" .,;"):
            self.paragraph.append(rest.strip())
        return end + 1

    def _table(self, body: list[str], place: int) -> int:
        end = place
        while end < len(body) and body[end].strip().startswith("|"):
            end += 1
        rows = [
            " | ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
            for line in body[place:end]
            if "--" not in line or not _RULE.match(line)
        ]
        self._flush()
        if self.unread is None:
            self.writer.add_lines("table", [_plain(row, is_markdown=True) for row in rows])
        return end

    def _flush(self) -> None:
        """End the paragraph under way."""
        if not self.paragraph:
            return
        first = self.paragraph[0]
        text, self.paragraph = _unbroken(self.paragraph) if not self.is_markdown else " ".join(self.paragraph), []
        item = _ITEM.match(first)
        if item is not None and self.is_markdown:
            self._add("list_item" if self.kind == "paragraph" else self.kind, text[item.end() :])
        elif caption := _CAPTION.match(text):
            if self.unread is None:
                self.writer.add("caption", _plain(text[caption.end() :], is_markdown=self.is_markdown), label=caption.group(1))
        else:
            self._add(self.kind, text)

    def _add(self, kind: Kind, text: str) -> None:
        if self.unread is None:
            self.writer.add(kind, text if kind == "formula" else _plain(text, is_markdown=self.is_markdown))


def _from_abstract(body: list[str], heading_of: Callable[[str], _Heading | None]) -> list[str]:
    """The text from its heading "Abstract" on, where it has one near its beginning: names and addresses stand before it."""
    for place, line in enumerate(body[:200]):
        found = heading_of(line)
        if found is not None:
            return body[place:] if found[2].lower() == "abstract" else body
    return body


def _without_closing(heading: str) -> str:
    """The words of a heading that may be closed by number signs, too."""
    return heading.rstrip().rstrip("#").rstrip()


def _unbroken(lines: list[str]) -> str:
    """Lines of plain text as one, words that were broken at a line's end joined."""
    pieces = [lines[0]]
    for line in lines[1:]:
        last = pieces[-1]
        if last.endswith("-") and last[-2:-1].isalpha() and line[:1].islower():
            pieces[-1] = last[:-1]
        else:
            pieces.append(" ")
        pieces.append(line)
    return "".join(pieces)


def _plain(text: str, *, is_markdown: bool) -> str:
    """Markdown's marks of links, images and emphasis taken out, formulas left as they are."""
    if not is_markdown or not _MARKED.search(text):
        return text
    parts = re.split(r"(\$[^$]{1,1000}\$|`[^`]{1,1000}`)", text)
    for place in range(0, len(parts), 2):
        part = parts[place]
        if "](" in part:
            part = _LINK.sub(r"\1", _IMAGE.sub(r"\1", part))
        if "*" in part or "__" in part:
            part = _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", part))
        parts[place] = part
    return "".join(parts)
