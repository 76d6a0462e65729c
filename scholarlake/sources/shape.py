"""The usual shape of a paper in dumps v2.1, v3.1 and v3.2, and the texts that have it.

Texts of that shape are parsed many at once, straight into columns, several times faster than into dictionaries. One that is not (another
type, another spelling of a field, bad JSON) is left to `record`, which takes every shape.

Arrow's parser is quick, but takes more than JSON: several objects in a line or one over several lines, blank lines, infinities by
another name. So it is asked only where that can't be, and its answer is taken only where there are as many objects as texts. It refuses
all texts where it refuses one; which one is then found out by a parser that takes each alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.json
from msgspec import Struct, field, inspect

from scholarlake.sources.fields import MIN_YEAR
from scholarlake.sources.identifiers import identifier
from scholarlake.sources.plain import Integers, Mask, as_arrow, as_numpy, bounds_of, nulls_of, odd_identifiers

_MOST_CITATIONS = 10**15 - 1  # `record` takes floats below 1e15 for whole numbers, and all of those are exact
_FEW = 16  # texts that are not worth another attempt of the parser


# A field typed None may be absent or null: said otherwise, `record` would take its value, so that the text is not usual.
class Person(Struct, gc=False):
    """An author."""

    id: str | None = None
    name: str | None = None
    org: str | None = None
    org_id: str | None = None
    other_id: None = field(default=None, name="_id")
    name_zh: None = None
    orgs: None = None
    orgid: None = None


class Place(Struct, gc=False):
    """A venue as v2.1 has it."""

    id: str | None = None
    raw: str | None = None
    other_id: None = field(default=None, name="_id")
    name: None = None
    raw_zh: None = None
    display_name: None = field(default=None, name="DisplayName")
    name_d: None = None
    title: None = None


class Paper(Struct, gc=False):
    """A paper. Fields that `record` does not read may be there too."""

    id: str
    title: str
    abstract: str | None = None
    year: float | None = None
    doi: str | None = None
    venue: str | Place | None = None
    venue_id: str | None = None
    authors: list[Person] | None = None
    keywords: list[str] | None = None
    lang: str | None = None
    doc_type: str | None = None
    volume: str | None = None
    issue: str | None = None
    page_start: str | None = None
    page_end: str | None = None
    issn: str | None = None
    isbn: str | None = None
    publisher: str | None = None
    pdf: str | None = None
    url: list[str] | None = None
    n_citation: float | None = None
    references: list[str] | None = None
    other_id: None = field(default=None, name="_id")
    indexed_abstract: None = None
    abstract_inverted_index: None = None
    page_stat: None = None
    urls: None = None


@dataclass(frozen=True)
class Papers:
    """Papers of the usual shape. places: where they stand among the texts; fields: a column for each field of `Paper`."""

    places: Integers
    fields: pa.RecordBatch


def usual_papers(texts: Sequence[memoryview], together: bytes, last_year: int) -> list[Papers]:
    """The papers of the usual shape among texts of which each begins and ends with a brace.

    together: all of them, with JSON's white space between. What is not in the answer must be read with care.
    """
    everywhere = np.arange(len(texts))
    safe, valid_utf8 = _judged(together)
    found = _parsed(together, len(texts)) if safe else None
    if found is not None:
        taken = [Papers(everywhere, found)]
    else:
        taken = [papers for places in _by_form(texts, valid_utf8) for papers in _parsed_by_halves(texts, places)]
    return [papers for given in taken if len((papers := usual_only(given, last_year)).places)]


def is_utf8(data: bytes) -> bool:
    """Whether bytes are valid UTF-8. Polars looks at many at a time, and makes no text of them as decoding does."""
    return _as_text(data) is not None


def _as_text(data: bytes) -> pl.Series | None:
    """The bytes as one text, not copied; None where they are not valid UTF-8."""
    bounds = pa.py_buffer(np.array([0, len(data)]))
    bytes_as_they_lie = pa.LargeBinaryArray.from_buffers(pa.large_binary(), 1, [None, bounds, pa.py_buffer(data)])
    try:
        text = pl.Series(bytes_as_they_lie).cast(pl.String)
    except pl.exceptions.PolarsError:
        return None
    return None if text.null_count() else text


def _judged(together: bytes) -> tuple[bool, bool]:
    """Whether Arrow's parser may be asked, and whether the bytes are valid UTF-8."""
    text = _as_text(together)
    return text is not None and not text.str.contains(_MISTAKEN).item(), text is not None


def _parsed(together: bytes, count: int) -> pa.RecordBatch | None:
    """The fields of so many objects, None where they are not, or one is not of the usual shape."""
    reading = pa.json.ReadOptions(use_threads=False, block_size=len(together) + 1)
    for parsing in _FORMS:
        try:
            table = pa.json.read_json(pa.BufferReader(together), reading, parsing)
        except pa.ArrowInvalid:
            continue
        return table.combine_chunks().to_batches()[0] if table.num_rows == count else None
    return None


def _parsed_by_halves(texts: Sequence[memoryview], places: Integers) -> list[Papers]:
    """The fields of the texts at those places, each known to be an object of the usual shape, but for what Arrow's parser refuses."""
    if not len(places):
        return []
    found = _parsed(b"\n".join([texts[place] for place in places.tolist()]), len(places))
    if found is not None:
        return [Papers(places, found)]
    if len(places) <= _FEW:
        return []
    middle = len(places) // 2
    return _parsed_by_halves(texts, places[:middle]) + _parsed_by_halves(texts, places[middle:])


def _by_form(texts: Sequence[memoryview], valid_utf8: bool) -> list[Integers]:
    """Places of the texts of the usual shape: with a venue that is a text, or none; and with one that is an object."""
    forms = np.zeros(len(texts), dtype=np.uint8)
    rest, place = iter(texts), 0
    while place < len(texts):
        papers: list[Paper] = []
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            papers.extend(map(_decode, rest))  # on a fault, what came before it stays, and the text at fault is used up
        forms[place : place + len(papers)] = [2 if type(paper.venue) is Place else 1 for paper in papers]
        place += len(papers) + 1
    if not valid_utf8:  # the decoder looks at it only where it makes text
        for place in np.flatnonzero(forms).tolist():
            forms[place] *= _is_utf8_alone(texts[place])
    return [np.flatnonzero(forms == 1), np.flatnonzero(forms == 2)]


def papers_of(places: Integers, columns: Mapping[str, pa.Array]) -> Papers:
    """Papers of which only some fields are said, by their names: texts, and numbers as floats."""
    schema = _FORMS[0].explicit_schema
    fields = [columns[one.name] if one.name in columns else pa.nulls(len(places), one.type) for one in schema]
    return Papers(places, pa.RecordBatch.from_arrays(fields, schema=schema))


def usual_only(papers: Papers, last_year: int) -> Papers:
    """The papers without those whose values, not only their types, ask for care."""
    said = {name: papers.fields.column(place) for place, name in enumerate(papers.fields.schema.names)}
    odd = nulls_of(said["title"]) | _not_in(said["year"], MIN_YEAR, last_year) | _not_in(said["n_citation"], 0, _MOST_CITATIONS)
    odd |= nulls_of(said["id"]) | _empty(said["id"])
    for place in np.flatnonzero(odd_identifiers(said["id"])).tolist():
        odd[place] |= identifier(key := said["id"][place].as_py()) != key
    if pa.types.is_struct(said["venue"].type):
        inside = [nulls_of(said["venue"].field(name)) | _empty(said["venue"].field(name)) for name in ("id", "raw")]
        odd |= ~nulls_of(said["venue"]) & (~nulls_of(said["venue_id"]) | (inside[0] & inside[1]))
    if not odd.any():
        return papers
    return Papers(papers.places[~odd], papers.fields.filter(as_arrow(~odd)))


def _empty(texts: pa.LargeStringArray) -> Mask:
    mask: Mask = np.diff(bounds_of(texts)[0]) == 0
    return mask


def _not_in(numbers: pa.DoubleArray, least: float, most: float) -> Mask:
    """Which are no whole numbers between the two, both included. Null is none of them, and what is no number reads as null."""
    values = as_numpy(numbers)
    mask: Mask = ~(np.isnan(values) | ((values >= least) & (values <= most) & (values == np.floor(values))))
    return mask


def _is_utf8_alone(text: memoryview) -> bool:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _arrow_type(kind: inspect.Type, venue: type[inspect.Type]) -> pa.DataType:
    """What Arrow's parser shall read a field as. venue: which of its two forms a venue has."""
    match kind:
        case inspect.UnionType(types):
            said = [one for one in types if not isinstance(one, inspect.NoneType)]
            return _arrow_type(next(one for one in said if len(said) == 1 or isinstance(one, venue)), venue)
        case inspect.StructType():
            return pa.struct(_arrow_fields(kind, venue))
        case inspect.ListType():
            return pa.list_(_arrow_type(kind.item_type, venue))
    return {inspect.StrType: pa.large_string(), inspect.FloatType: pa.float64(), inspect.NoneType: pa.null()}[type(kind)]


def _arrow_fields(kind: inspect.Type, venue: type[inspect.Type]) -> list[pa.Field]:
    assert isinstance(kind, inspect.StructType)
    return [pa.field(one.encode_name, _arrow_type(one.type, venue)) for one in kind.fields]


_decode = msgspec.json.Decoder(Paper).decode
_FORMS = [
    pa.json.ParseOptions(explicit_schema=pa.schema(_arrow_fields(inspect.type_info(Paper), venue)), unexpected_field_behavior="ignore")
    for venue in (inspect.StrType, inspect.StructType)
]
# What Arrow's parser takes and JSON does not have: a second document on a line (and it may crash on null alone), infinity as Inf, and -NaN.
_MISTAKEN = r"\}[ \t\r\n]*null|-NaN|Inf[,\]} \t\r\n]"
