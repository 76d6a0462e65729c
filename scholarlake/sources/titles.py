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

from scholarlake.sources.folding import fold, fold_lines
from scholarlake.sources.marks import ASCII_SIGNS, SIGNS, bare
from scholarlake.sources.plain import as_arrow, as_numpy, bounds_of, not_ascii
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

# Headings that stand on thousands of works. Compared folded, and without numbers and months behind them ("Editorial 12").
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


GENERIC = frozenset(folded for heading in _GENERIC.split(";") if (folded := fold(clean(heading))))
_HEAD_BYTES = 5
# What a title begins with that may be one of them, as UTF-8: few others do.
_HEADS = {(heading + sign).encode()[:_HEAD_BYTES] for heading in GENERIC for sign in ("", *"0123456789adfijmnopsvw")}
# What tells one "Editorial" from the next: numbers, months and seasons, folded like the title.
_NUMBERING = re.compile(
    "(?:[0-9]+|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter|"
    "volume|vol|number|no|issue|part)+$"
)
_LONGEST_GENERIC = max(map(len, GENERIC)) + 30
# What holds one of these is folded by itself; in the syntax of RE2.
_ASCII_SIGNS, _SIGNS = ("(?i)" + "|".join(map(re.escape, ("\\", *signs))) for signs in (ASCII_SIGNS, SIGNS))


def fingerprint(title: str | None) -> str | None:
    """MD5 of the folded title, without its marks, in hexadecimal; None where it is no key: too short, generic or empty once folded.

    title: as `read_title` gives it, markup and entities decoded.
    """
    if title is None:
        return None
    if not title.isascii():
        title = unicodedata.normalize("NFC", title)
    title = bare(title)
    return _digest(fold(title), title)


def fingerprints(titles: pa.LargeStringArray) -> pl.Series:
    """`fingerprint` of every title. Those without marks and TeX are folded as one text, what is in ASCII apart from the rest.
    No title holds a line feed (`read_title` leaves none)."""
    found: list[str | None] = [None] * len(titles)
    wide, said = not_ascii(titles), np.diff(bounds_of(titles)[0]) > 0
    for chosen, signs, short in ((said & ~wide, _ASCII_SIGNS, MIN_CHARACTERS), (wide, _SIGNS, 4 * MIN_CHARACTERS)):
        places = np.flatnonzero(chosen)
        if not len(places):
            continue
        group = titles.take(as_arrow(places))
        marked = as_numpy(pc.match_substring_regex(group, signs))
        for place, title in zip(places[marked].tolist(), group.filter(as_arrow(marked)).to_pylist(), strict=True):
            found[place] = fingerprint(title)
        text: str = pl.Series(group.filter(as_arrow(~marked))).str.join("\n").item()
        for place, folded in zip(places[~marked].tolist(), fold_lines(text).split(b"\n") if text else (), strict=True):
            if len(folded) < short or folded[:_HEAD_BYTES] in _HEADS or folded[:1].isdigit():
                found[place] = _digest(folded.decode("utf-8", "surrogatepass"), titles[place].as_py())
            else:
                found[place] = _md5(folded).hexdigest()
    return pl.Series(found, dtype=pl.String)


def _digest(folded: str, title: str) -> str | None:
    """MD5 of a folded title; None where it is no key. title: the same before it was folded."""
    if not folded or (len(folded) < MIN_CHARACTERS and _length(title) < MIN_CHARACTERS) or is_generic(folded):
        return None
    return _md5(folded.encode("utf-8", "replace")).hexdigest()


def _length(title: str) -> int:
    """Characters of a title, those of dense scripts twice."""
    normal = title if title.isascii() else unicodedata.normalize("NFKC", title)
    return len(normal) + len(_WIDE.findall(normal))


def is_generic(folded: str) -> bool:
    """Whether a folded title is a heading that stands on many works, numbered or not."""
    heading = folded.strip("0123456789")
    return folded.isdigit() or heading in GENERIC or (len(heading) < _LONGEST_GENERIC and _NUMBERING.sub("", heading) in GENERIC)


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
