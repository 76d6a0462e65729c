"""Every format that is known: how a part of it is cut, and what reads what was cut out.

Which of them a part is of is told by its first bytes (`recognition`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import polars as pl

from scholarlake.sources.dialects import aminer, dblptext, entities, mag, magtable, openalex, publications, s2orc
from scholarlake.sources.framing import LINES, OBJECTS, PARAGRAPHS, Fits, Framing
from scholarlake.sources.units import Origin, ReadObject, Reject, Units, json_reader, read_each, read_many, read_papers

ReadUnits = Callable[[Units, Origin, list[Reject]], list[pl.DataFrame]]


@dataclass(frozen=True)
class Dialect:
    """Papers as JSON objects, as one family of dumps spells them. fits: whether an object is of it."""

    name: str
    about: str
    fits: Fits
    read: ReadUnits


@dataclass(frozen=True)
class PassedOver:
    """What lies beside the papers of a dump as JSON objects: known for what it is, and not read. fits: whether an object is of it."""

    name: str
    about: str
    fits: Fits


@dataclass(frozen=True)
class Reader:
    """What reads one format. name: the format, and the method of its rows; fits: whether an object is a record of it by itself;
    encoding: of its text."""

    name: str
    about: str
    framing: Framing
    read: ReadUnits
    fits: Fits
    encoding: str = "UTF-8"


Format = Reader | PassedOver


def _by_keys(name: str, about: str, fits: Fits, read: ReadObject) -> Dialect:
    return Dialect(name, about, fits, partial(read_each, read=json_reader(read)))


#: What JSON objects may be, in the order in which they are asked: who asks for less comes later.
KINDS: tuple[Dialect | PassedOver, ...] = (
    _by_keys(openalex.NAME, "OpenAlex works", openalex.fits, openalex.read),
    PassedOver("openalex-other", "authors, institutions, sources or topics of OpenAlex", entities.is_openalex),
    _by_keys(s2orc.NAME, "S2ORC metadata", s2orc.fits, s2orc.read),
    _by_keys(mag.NAME, "papers with the capitalised names of MAG", mag.fits, mag.read),
    PassedOver("oag-linking", "pairs of ids that OAG links", entities.is_pair),
    PassedOver("oag-author", "authors of OAG", entities.is_author),
    PassedOver("oag-venue", "venues of OAG", entities.is_venue),
    PassedOver("oag-affiliation", "affiliations of OAG", entities.is_affiliation),
    PassedOver("oag-entity", "named things of OAG that are no papers", entities.is_named),
    Dialect(aminer.NAME, "OAG v1 to v3.2, AMiner papers, DBLP V10 to V18", aminer.fits, read_papers),
    _by_keys(publications.NAME, "publications without ids", publications.fits, publications.read),
)


def _in_lines(dialect: Dialect) -> Reader:
    return Reader(f"{dialect.name}-jsonl", dialect.about, LINES, dialect.read, dialect.fits)


def _in_array(dialect: Dialect) -> Reader:
    return Reader(f"{dialect.name}-json", dialect.about, OBJECTS, dialect.read, dialect.fits)


def _text(name: str, shown: str, encoding: str) -> Reader:
    read = partial(read_each, read=partial(dblptext.read_text, encoding=encoding))
    return Reader(name, "DBLP V1 to V9 and AMiner's network", PARAGRAPHS, read, fits=lambda _: False, encoding=shown)


DBLP_TEXT = {
    dblptext.UTF8: _text(dblptext.NAME, "UTF-8", dblptext.UTF8),
    dblptext.GBK: _text(f"{dblptext.NAME}-gbk", "GBK (read as GB 18030)", dblptext.GBK),
}
MAG_TABLE = Reader(
    "mag-table",
    "MAG's table of papers, without authors and references",
    LINES,
    partial(read_many, many=magtable.read_rows, read=mag.read_row),
    fits=lambda _: False,
)
LINE_READERS = {kind.name: _in_lines(kind) for kind in KINDS if isinstance(kind, Dialect)}
ARRAY_READERS = {kind.name: _in_array(kind) for kind in KINDS if isinstance(kind, Dialect)}
_KNOWN: tuple[Format, ...] = (
    *(*LINE_READERS.values(), *ARRAY_READERS.values(), *DBLP_TEXT.values(), MAG_TABLE),
    *(kind for kind in KINDS if isinstance(kind, PassedOver)),
)
#: Every format by its name.
FORMATS = {known.name: known for known in _KNOWN}
