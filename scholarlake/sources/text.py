"""Text as a reader wants it: entities and markup decoded, invisible characters gone, white space single.

LaTeX stays as it is written: `$\\alpha$` is not `$\\beta$`, and a dollar sign is not markup. What does not belong here:
what a particular field means.
"""

from __future__ import annotations

import html
import re
from typing import Any

#: What exporters write for "nothing". A title may truly be "None", so titles take the first set only.
NULLS = frozenset({"null", "NULL", "Null", "NaN", "nan", "\\N", "undefined"})
NULLS_AND_NONE = NULLS | {"None", "none"}
LONGEST_NULL = max(map(len, NULLS_AND_NONE))

_ENTITY = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});")
_NESTED_ENTITIES = 3  # `&amp;amp;lt;` occurs: exporters that escape what is escaped

# Only names that are known to be markup: `vector<int>`, `a<b` and `<x, y>` are text. A tag that separates words leaves a space.
_INLINE = (
    "a|abbr|acronym|alternatives|b|bdi|bdo|bold|cite|code|em|emph|ext-link|font|i|inf|inline-formula|ital|italic|it|monospace|named-content|"
    "overline|q|roman|s|sans-serif|sc|scp|small|smallcaps|span|strike|strong|styled-content|sub|sup|tex-math|tt|u|ul|underline|xref"
)
_BLOCK = "article-title|blockquote|br|break|disp-formula|div|h[1-6]|hr|label|li|list|list-item|ol|p|para|sec|section|table|td|th|title|tr"
_MATHML = r"mml:\w+|math|m(?:i|o|n|row|sup|sub|subsup|frac|text|over|under|style|space|fenced)"
_PREFIX = r"(?:jats:|ce:|xhtml:|html:)?"
_ATTRIBUTES = r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))*\s*/?>"
_BLOCK_TAG = re.compile(f"</?{_PREFIX}(?:{_BLOCK}){_ATTRIBUTES}", re.IGNORECASE)
_INLINE_TAG = re.compile(f"</?(?:{_PREFIX}(?:{_INLINE})|{_MATHML}){_ATTRIBUTES}", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.{0,10000}?-->", re.DOTALL)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)

# Control characters other than white space, soft hyphens, zero-width spaces, byte-order marks and marks of direction.
# The joiners U+200C and U+200D stay: Persian and Indic scripts spell with them.
_INVISIBLE = dict.fromkeys((
    *range(0x09), *range(0x0E, 0x1C), *range(0x7F, 0x85), *range(0x86, 0xA0), 0xAD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F,
    *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF, *range(0xFFF9, 0xFFFC),
))  # fmt: skip
_SURROGATE = re.compile("[\ud800-\udfff]")


def decode_entities(value: str) -> str:
    """Decode character references that end in a semicolon (`AT&T`, `a&b` and addresses have others), nested ones too."""
    for _ in range(_NESTED_ENTITIES):
        decoded = _ENTITY.sub(lambda found: html.unescape(found.group()), value)
        if decoded == value:
            break
        value = decoded
    return value


def strip_markup(value: str) -> str:
    """Take out known HTML, JATS and MathML tags, keeping what they enclose."""
    value = _COMMENT.sub(" ", _CDATA.sub(r"\1", value))
    return _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", value))


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
    return full_text(str(value))
