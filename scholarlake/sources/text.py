"""Text as a reader wants it: entities and markup decoded, invisible characters gone, white space single.

LaTeX stays as it is written: `$\\alpha$` is not `$\\beta$`, and a dollar sign is not markup. What does not belong here:
what a particular field means.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

#: What exporters write for "nothing". A title may truly be "None", so titles take the first set only.
NULLS = frozenset({"null", "NULL", "Null", "NaN", "nan", "\\N", "undefined"})
NULLS_AND_NONE = NULLS | {"None", "none"}
_MOST_DIGITS = 400  # of a number that is written out
LONGEST_NULL = max(map(len, NULLS_AND_NONE))

_AMPERSANDS = re.compile("&(?:(?:amp|#0{0,6}38|#x0{0,5}26);)+", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});")

# Only names that are known to be markup: `vector<int>`, `a<b` and `<x, y>` are text. A tag that separates words leaves a space.
_INLINE = (
    "a|abbr|acronym|alternatives|b|bdi|bdo|big|bold|cite|code|em|emph|emphasis|equationsource|ext-link|fn|font|formula|hi|i|inf|"
    "inline-formula|inline-graphic|inlineequation|ital|italic|it|monospace|named-content|overline|q|roman|s|sans-serif|sc|scp|small|"
    "smallcaps|span|strike|strong|styled-content|sub|sup|tex|tex-math|tt|u|ul|underline|xref"
)
_BLOCK = "article-title|blockquote|br|break|disp-formula|div|h[1-6]|hr|label|li|list|list-item|ol|p|para|sec|section|table|td|th|title|tr"
_MATHML = (
    r"mml:[\w-]+|math|m(?:i|o|n|row|sup|sub|subsup|frac|sqrt|root|text|over|under|underover|style|space|fenced|enclose|padded|phantom|"
    r"table|tr|td|multiscripts)|semantics"
)
_PREFIX = r"(?:jats:|ce:|xhtml:|html:)?"
_ATTRIBUTES = r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))*\s*/?>"
_BLOCK_TAG = re.compile(f"</?{_PREFIX}(?:{_BLOCK}){_ATTRIBUTES}", re.IGNORECASE)
_INLINE_TAG = re.compile(f"</?(?:{_PREFIX}(?:{_INLINE})|{_MATHML}){_ATTRIBUTES}", re.IGNORECASE)
_COMMENT = re.compile("<!--"), re.compile("-->")
_CDATA = re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")
# A formula that is given twice is read once: as TeX, where it is there, without the document that some publishers wrap it in.
_ANNOTATION = re.compile(r"<(?:mml:)?annotation\b[^<>]*>"), re.compile(r"</(?:mml:)?annotation\s*>")
_ALTERNATIVES = re.compile(r"<(?:jats:)?alternatives\b[^<>]*>"), re.compile(r"</(?:jats:)?alternatives\s*>")
_TEX = re.compile(r"<(?:jats:)?tex-math\b[^<>]*>([^<]*)</(?:jats:)?tex-math\s*>")
_TEX_DOCUMENT = re.compile(r"\\documentclass\b"), re.compile(r"\\end\s*\{document\}")
_TEX_BEGINS = re.compile(r"\\begin\s*\{document\}")
_NESTED_TAGS = 3  # `<<i>b>` is a tag once another is out

# Control characters other than white space, soft hyphens, zero-width spaces, byte-order marks and marks of direction.
# The joiners U+200C and U+200D stay: Persian and Indic scripts spell with them.
_INVISIBLE = dict.fromkeys((
    *range(0x09), *range(0x0E, 0x1C), *range(0x7F, 0x85), *range(0x86, 0xA0), 0xAD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F,
    *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF, *range(0xFFF9, 0xFFFC),
))  # fmt: skip
_SURROGATE = re.compile("[\ud800-\udfff]")


def decode_entities(value: str) -> str:
    """Decode character references that end in a semicolon (`AT&T`, `a&b` and addresses have others).

    `&amp;amp;lt;` occurs, from exporters that escape what is escaped: it is `<`.
    """
    value = _AMPERSANDS.sub("&", value)
    while (decoded := _ENTITY.sub(lambda found: html.unescape(found.group()), value)) != value:  # a name is short: a few times at most
        value = decoded
    return value


def strip_markup(value: str) -> str:
    """Take out known HTML, JATS and MathML tags, keeping what they enclose."""
    value = _replaced(_replaced(value, *_CDATA, str), *_COMMENT, lambda _: " ")
    if "annotation" in value:
        value = _replaced(value, *_ANNOTATION, lambda _: "")
    if "tex-math" in value:
        value = _replaced(value, *_ALTERNATIVES, lambda inside: tex[1] if (tex := _TEX.search(inside)) else inside)
    if "\\documentclass" in value:
        value = _replaced(value, *_TEX_DOCUMENT, lambda inside: _TEX_BEGINS.split(inside)[-1].strip().replace("$$", "$"))
    return _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", value))


def _replaced(value: str, opening: re.Pattern[str], closing: re.Pattern[str], instead: Callable[[str], str]) -> str:
    """A text with something else in place of each opening, what it encloses, and its closing. Linear, however many are never closed."""
    pieces: list[str] = []
    at = 0
    while (first := opening.search(value, at)) and (last := closing.search(value, first.end())):
        pieces += (value[at : first.start()], instead(value[first.end() : last.start()]))
        at = last.end()
    return "".join((*pieces, value[at:])) if pieces else value


def strip_invisible(value: str) -> str:
    """Drop control and zero-width characters; a lone surrogate, which no table can hold, becomes U+FFFD."""
    if value.isprintable():  # none of these is
        return value
    if _SURROGATE.search(value):
        value = _SURROGATE.sub("\ufffd", value)
    return value.translate(_INVISIBLE)


def clean(value: str) -> str:
    """The text itself, without markup, entities, invisible characters and repeated white space. May be empty."""
    if "<" not in value and "&" not in value and value.isprintable():  # most texts; no-break spaces are not printable
        return " ".join(value.split()) if "  " in value else value.strip()
    for _ in range(_NESTED_TAGS):
        given, value = value, _cleaned(value)
        if value == given or ("<" not in value and "&" not in value):
            break
    return value


def _cleaned(value: str) -> str:
    if "&" in value:
        value = decode_entities(value)
    if "<" in value:
        value = strip_markup(value)
    return " ".join(strip_invisible(value).split())


def full_text(value: Any) -> str | None:
    """A text field of any shape as clean text: numbers as written, lists joined by `; `, objects and nothing as None."""
    if value is None:
        return None
    if type(value) is str:
        value = clean(value)
        return None if not value or (len(value) <= LONGEST_NULL and value in NULLS_AND_NONE) else value
    return _odd_text(value)


def _odd_text(value: Any) -> str | None:
    if isinstance(value, (bool, dict)):
        return None
    if isinstance(value, list):
        return "; ".join(found for found in map(full_text, value) if found) or None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Decimal) and value.is_finite() and value.adjusted() < _MOST_DIGITS and value == value.to_integral_value():
        return str(int(value))
    return full_text(str(value))
