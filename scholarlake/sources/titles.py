"""Titles: the fingerprint under which equal ones meet, and which titles are no key at all."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from scholarlake.sources.plain import bounds_of, not_ascii
from scholarlake.sources.text import NULLS, clean, strip_invisible

MIN_CHARACTERS = 10
# No security hangs on it. Saying so costs half a microsecond a call, so it is said only where the machine insists.
try:
    hashlib.md5(b"")
    _md5 = hashlib.md5
except ValueError:
    _md5 = partial(hashlib.md5, usedforsecurity=False)
_LONGEST_NULL = max(map(len, NULLS))
#: A character of Han, kana or Hangul says as much as two letters: five of them are enough.
_WIDE = re.compile(
    "[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)

# Punctuation, separators, controls and surrogates all lie in these planes; the table is made at import, in some 20 ms.
_DELETED = {
    code: None
    for code in (*range(0x20000), *range(0xE0000, 0xE0080))
    if (category := unicodedata.category(chr(code)))[0] in "PZ" or category in ("Cc", "Cf", "Cs") or chr(code).isspace()
}
_ASCII_DELETED = bytes(code for code in range(128) if code in _DELETED)
_ASCII_DELETED_IN_LINE = _ASCII_DELETED.replace(b"\n", b"")
_ASCII_LOWER = bytes.maketrans(bytes(range(65, 91)), bytes(range(97, 123)))

# Headings that stand on thousands of works. Compared folded, and without a number behind them ("Editorial 12").
_GENERIC = """
abstract; abstracts; abstracts of papers; acknowledgement; acknowledgements; acknowledgment; acknowledgments;
acknowledgement to reviewers; acknowledgement of reviewers; acknowledgment of reviewers; addendum; advertisement;
advertisements; announcement; announcements; appendix; author index; authors index; authors reply; author reply; author
response; author's reply; authors' response; authors response; reply from the authors; back cover; back matter;
backmatter; bibliography; biographies; book review; book reviews; books received; briefly noted; calendar; calendar of
events; call for papers; chairman's message; message from the chair; message from the chairs; message from the program
chairs; message from the general chair; chapter; comment; comments; commentary; committees; conference committee;
conclusion; conclusions; conference program; conference report; contents; contributors; notes on contributors;
copyright; copyright notice; copyright page; correction; corrections; correction to; corrigenda; corrigendum;
correspondence; cover; cover image; cover picture; front cover; inside front cover; inside back cover; outside back
cover; dedication; discussion; editor's note; editors' note; editor's choice; editorial; editorial board; editorial
comment; editorial introduction; editorial note; editorials; editor's introduction; editors' introduction; guest
editorial; guest editors' introduction; from the editor; from the editors; letter from the editor; epilogue; errata;
erratum; executive summary; expression of concern; focus; foreword; forthcoming articles; forthcoming papers; front
matter; frontmatter; full text; glossary; graphical abstract; highlights; images; in brief; in memoriam; in this issue;
index; subject index; issue information; information for authors; instructions for authors; instructions to authors;
guide for authors; introduction; introductory remarks; general introduction; introduction and overview; introduction to
the special issue; special issue; letter; letter to the editor; letters; letters to the editor; list of contributors;
list of figures; list of participants; list of referees; list of reviewers; masthead; meeting report; meetings; message
from the editor; miscellanea; miscellaneous; news; news and notes; news and views; newsletter; no title; not available;
note; notes; notes and news; notice; notices; obituary; obituaries; opening remarks; closing remarks; organizing
committee; program committee; technical program committee; overview; panel discussion; poster session; poster sessions;
posters; preface; presidential address; president's message; proceedings; program; programme; prologue; publisher's
note; publication information; publications received; question and answer; questions and answers; recent publications;
references; rejoinder; reply; reply to; report; reports; reprint; response; retraction; retraction notice; retracted
article; review; reviews; reviewer acknowledgement; reviewers; selected abstracts; short communication; short
communications; session; society news; summary; supplement; supplementary material; supporting information; table of
contents; tables of contents; thank you to reviewers; the authors reply; title; title page; title pages; unknown;
unknown title; untitled; upcoming events; volume index; welcome; welcome message; workshop; none; null; nan; n a; na;
einleitung; einführung; inhalt; inhaltsverzeichnis; vorwort; nachwort; buchbesprechung; buchbesprechungen;
buchbesprechungen und anzeigen; literatur; literaturverzeichnis; mitteilungen; rezension; rezensionen; zusammenfassung;
avant propos; avant-propos; bibliographie; compte rendu; comptes rendus; conclusion générale; éditorial; liste des
auteurs; préface; remerciements; table des matières; sommaire; bibliografía; conclusiones; contenido; índice;
introducción; prefacio; presentación; prólogo; reseñas; resumen; carta al editor; cartas al editor; apresentação;
introdução; conclusão; sumário; resumo; expediente; introduzione; indice; prefazione; recensioni; введение; предисловие;
содержание; заключение; рецензии; от редакции; хроника; 目录; 前言; 编者按;
 卷首语; 序言; 引言; 绪论; 摘要; 结论; 参考文献; 編集後記; 目次; はじめに;
おわりに; 巻頭言; 会告; 머리말; 편집후기
"""


def fold(title: str) -> str:
    """NFKC, case-folded; punctuation, white space and invisible characters out; letters, marks, digits and symbols kept."""
    if title.isascii():
        return title.encode().translate(_ASCII_LOWER, _ASCII_DELETED).decode()
    return unicodedata.normalize("NFKC", title).casefold().translate(_DELETED)


GENERIC = frozenset(folded for heading in _GENERIC.split(";") if (folded := fold(clean(heading))))
_LONGEST_GENERIC = max(map(len, GENERIC)) + 6  # a number may stand behind


def fingerprint(title: str | None) -> str | None:
    """MD5 of the folded title in hexadecimal; None where the title is no key: too short, generic or empty once folded.

    title: as `read_title` gives it, markup and entities decoded.
    """
    if title is None:
        return None
    if title.isascii():
        if len(title) < MIN_CHARACTERS:
            return None
        folded = title.encode().translate(_ASCII_LOWER, _ASCII_DELETED)
        return None if not folded or is_generic(folded.decode()) else _md5(folded).hexdigest()
    normal = unicodedata.normalize("NFKC", title)
    text = normal.casefold().translate(_DELETED)
    if not text or len(normal) + len(_WIDE.findall(normal)) < MIN_CHARACTERS or is_generic(text):
        return None
    return _md5(text.encode("utf-8", "replace")).hexdigest()


def fingerprints(titles: pa.StringArray) -> pl.Series:
    """`fingerprint` of every title. Those in ASCII are folded as one text. No title holds a line feed (`read_title` leaves none)."""
    wide = not_ascii(titles)
    long = ~wide & (np.diff(bounds_of(titles)[0]) >= MIN_CHARACTERS)
    found: list[str | None] = [None] * len(titles)
    for place in np.flatnonzero(wide).tolist():
        found[place] = fingerprint(titles[place].as_py())
    lines = pa.ListArray.from_arrays([0, np.count_nonzero(long)], titles.filter(pa.array(long)))
    together = pc.binary_join(lines, "\n")[0].as_buffer().to_pybytes()
    folded = together.translate(_ASCII_LOWER, _ASCII_DELETED_IN_LINE).split(b"\n") if together else []
    for place, text in zip(np.flatnonzero(long).tolist(), folded, strict=True):
        if text and (len(text) > _LONGEST_GENERIC or not is_generic(text.decode())):
            found[place] = _md5(text).hexdigest()
    return pl.Series(found, dtype=pl.String)


def is_generic(folded: str) -> bool:
    """Whether a folded title is a heading that stands on many works, numbered or not."""
    if len(folded) > _LONGEST_GENERIC:
        return False
    return folded in GENERIC or folded.strip("0123456789") in GENERIC or folded.isdigit()


def read_title(value: Any) -> tuple[str | None, str | None]:
    """Title as plain text, and the title as given where it differs."""
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, str) and item.strip()), None)
    if value is None or isinstance(value, (bool, dict)):
        return None, None
    given = value if isinstance(value, str) else str(value)
    title = clean(given)
    if not title or (len(title) <= _LONGEST_NULL and title in NULLS):
        return None, (strip_invisible(given) or None) if given.strip() else None
    return title, None if title == given else strip_invisible(given)
