"""The text format of DBLP's citation network V1 to V9 and of AMiner's network: paragraphs of lines, each with a tag.

`#*` title, `#@` authors, `#t` or `#year` year, `#c` or `#conf` venue, `#index` id, `#%` id of a reference, `#!` abstract, `#citation`
count (-1 for none), `#o` organisations of the authors, in their order. A line without tag goes on with the one before it.
Source: the descriptions of the data sets at aminer.org/citation and aminer.org/aminernetwork.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from scholarlake.sources.record import NoRecord, RecordRow, read_record

NAME = "dblp-text"
UTF8, GBK = "utf-8", "gb18030"  # GB 18030 holds GBK and GB 2312

# The longer ones first: `#conf` and `#citation` are no venues.
_TAG = re.compile(r"#(\*|@|%|!|index|year|conf|citation|arnetid|t|c|o)\s*(.*)", re.DOTALL)
_NAMES = {
    "*": "title",
    "index": "id",
    "t": "year",
    "year": "year",
    "c": "venue",
    "conf": "venue",
    "!": "abstract",
    "citation": "n_citation",
}
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv)\.?", re.IGNORECASE)
_TOLD_BY = 200  # lines beyond ASCII that tell the encoding of a part
_STEP_BYTES = 1 << 20
_TAGGED_LINE = re.compile(rb"#(?:\*|@|%|!|index|t|c|year)")
_HIGH = re.compile(rb"[\x80-\xff]+")


def recognise(head: bytes) -> str | None:
    """The encoding of a part that begins like this, as far as that tells it, where it is of the format; None where it is not.

    UTF-8 or GBK is decided by what most lines beyond ASCII are: all of UTF-8, or double bytes as GB 2312 has them.
    """
    lines = head.removeprefix(b"\xef\xbb\xbf").splitlines()
    said = [line for line in lines if line.strip()]
    if said and said[0].strip().isdigit():  # the number of papers
        said = said[1:]
    if not said or not said[0].startswith((b"#*", b"#index")):
        return None
    if not (any(line.startswith(b"#index") for line in said) or all(map(_TAGGED_LINE.match, said))):
        return None
    evidence = Evidence()
    evidence.add(said)
    return evidence.encoding


class Evidence:
    """What the lines of a part that lie beyond ASCII say of its encoding: UTF-8, unless more of them are of GBK."""

    def __init__(self) -> None:
        self._utf8 = self._gbk = self._lines = 0

    def add(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            if not line.isascii():
                self._lines += 1
                if _is_utf8(line):
                    self._utf8 += 1
                else:
                    self._gbk += _is_gbk(line)

    @property
    def encoding(self) -> str:
        return GBK if self._gbk > self._utf8 else UTF8

    @property
    def is_enough(self) -> bool:
        return self._lines >= _TOLD_BY


def encoding_of(read: Callable[[int], bytes]) -> str:
    """The encoding of a part of the format, by its first lines beyond ASCII, however late they come. read(n) gives at most n bytes, none
    at the end."""
    evidence, rest = Evidence(), b""
    while not evidence.is_enough and (data := read(_STEP_BYTES)):
        data = rest + data
        cut = data.rfind(b"\n") + 1 or len(data)  # a line of more than a step is taken in pieces
        whole, rest = data[:cut], data[cut:]
        if not whole.isascii():
            evidence.add(whole.split(b"\n"))
    evidence.add([rest])
    return evidence.encoding


def read_text(text: bytes, last_year: int, encoding: str) -> RecordRow:
    """Read one paragraph. Raises NoRecord where it is no record."""
    if b"\x00" in text:
        raise NoRecord("nul_byte", f"a NUL at byte {text.index(0)}")
    try:
        said = text.decode(encoding)
    except UnicodeDecodeError as fault:
        raise NoRecord("invalid_utf8" if encoding == UTF8 else "invalid_gbk", f"{fault.reason} at byte {fault.start}") from None
    record: dict[str, Any] = {}
    references: list[str] = []
    for name, value in _tagged(said):
        if name == "%":
            references.append(value)
        elif name == "@":
            record["authors"] = _people(value)
        elif name == "o":
            record["orgs"] = [org.strip() for org in value.split(";")]
        elif field := _NAMES.get(name):
            if field == "id" and "id" in record:
                raise NoRecord("not_one_record", "two #index in one paragraph")
            record[field] = value
    if orgs := record.pop("orgs", None):
        people = record.get("authors", [])
        record["authors"] = [{"name": name, "org": org} for name, org in zip(people, [*orgs, *[None] * len(people)], strict=False)]
    if record.get("n_citation") == "-1":
        del record["n_citation"]
    return read_record({**record, "references": references}, last_year)


def _tagged(text: str) -> list[tuple[str, str]]:
    """Tags and what each says. Raises NoRecord where the paragraph begins with none."""
    found: list[tuple[str, str]] = []
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if tag := _TAG.match(line):
            found.append((tag[1], tag[2].rstrip()))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            raise NoRecord("no_tag", "a paragraph that begins with no tag of the format")
    return found


def _people(value: str) -> list[str]:
    """Names, parted by semicolons, or else by commas, where a suffix belongs to the name before it."""
    if ";" in value:
        return [name.strip() for name in value.split(";")]
    names: list[str] = []
    for name in value.split(","):
        if names and _SUFFIX.fullmatch(name.strip()):
            names[-1] = f"{names[-1]}, {name.strip()}"
        else:
            names.append(name.strip())
    return names


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_gbk(line: bytes) -> bool:
    """Whether a line is of GB 2312 beyond ASCII: double bytes, both high. An accent of Latin-1 is a single high byte."""
    if any(len(run) % 2 for run in _HIGH.findall(line)):
        return False
    try:
        line.decode(GBK)
    except UnicodeDecodeError:
        return False
    return True
