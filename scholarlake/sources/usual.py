"""Papers of the usual shape to the columns of `records`, column by column: what is plain stays, the rest goes through the readers.

Gives exactly what `record` gives for the same texts, many times faster. What does not belong here: which papers are of that shape
(`shape`), which texts are plain (`plain`), and how a column is laid out (`columns`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from scholarlake.lake.contracts import RECORDS
from scholarlake.sources.abstracts import read_abstract
from scholarlake.sources.authors import keys_of_names
from scholarlake.sources.columns import keys_of, list_column, signed
from scholarlake.sources.doi import PLAIN_DOI, read_doi
from scholarlake.sources.identifiers import identifier
from scholarlake.sources.plain import (
    Integers,
    Mask,
    Reader,
    as_arrow,
    as_numpy,
    mended,
    nulls_of,
    odd_identifiers,
    odd_texts,
    texts_of,
    without_empty,
)
from scholarlake.sources.text import full_text
from scholarlake.sources.titles import fingerprints, read_title

_TEXTS = ("lang", "doc_type", "volume", "issue", "page_start", "page_end", "issn", "isbn", "publisher", "pdf")
_ROW_BITS = 32


def usual_columns(papers: pa.RecordBatch) -> dict[str, pl.Series]:
    """The columns that `RecordRow` names, and the keys made of them, of papers of the usual shape, at least one."""
    count, given = papers.num_rows, dict(zip(papers.schema.names, papers.columns, strict=True))
    persons = dict(zip(given["authors"].type.value_type.names, given["authors"].values.flatten(), strict=True))
    places, venue, venue_id = _venues(given["venue"], given["venue_id"])
    flags: list[tuple[int, str]] = []
    title_raw: dict[int, str] = {}

    def title_of(place: int, text: str) -> str | None:
        title, raw = read_title(text)
        if raw is not None:
            title_raw[place] = raw
        return title

    def abstract_of(place: int, text: str) -> str | None:
        abstract, odd = read_abstract({"abstract": text})
        if odd:
            flags.append((place, "abstract_shape"))
        return abstract

    groups = {name: given[name] for name in ("title", "abstract", *_TEXTS)} | {"venue": venue}
    groups |= {"keywords": given["keywords"].values, "urls": given["url"].values, "name": persons["name"], "org": persons["org"]}
    texts = _cleaned(groups, odd_texts, {"title": title_of, "abstract": abstract_of}, lambda _, text: full_text(text))
    groups = {"venue_id": venue_id, "id": persons["id"], "org_id": persons["org_id"], "references": given["references"].values}
    ids = _cleaned(groups, odd_identifiers, {}, lambda _, text: identifier(text))

    columns = {name: pl.Series(texts[name]) for name in ("title", "abstract", "venue", *_TEXTS)}
    columns |= {"venue_id": pl.Series(ids["venue_id"]), "record_id": pl.Series(given["id"]), "record_key": signed(keys_of(given["id"]))}
    columns |= {"title_raw": _sparse(count, title_raw), "title_fingerprint": fingerprints(texts["title"])}
    columns["doi"], columns["doi_raw"] = _dois(given["doi"], flags)
    flags += [(place, "venue_shape") for place in places if not (texts["venue"][place].is_valid or ids["venue_id"][place].is_valid)]
    columns["flags"] = _flags(count, flags)
    for name, field in (("keywords", "keywords"), ("urls", "url")):
        columns[name] = list_column(*_without_nulls(_offsets(given[field]), texts[name]))
    offsets, references = _without_nulls(_offsets(given["references"]), ids["references"])
    columns["references"] = list_column(offsets, references)
    columns["reference_keys"] = list_column(offsets, as_arrow(keys_of(references).view(np.int64)))
    offsets = _offsets(given["authors"])
    columns["authors"] = _authors(offsets, {"id": ids["id"], "name": texts["name"], "org": texts["org"], "org_id": ids["org_id"]})
    columns["author_keys"] = _author_keys(offsets, texts["name"])
    for name in ("year", "n_citation"):
        columns[name] = _whole_numbers(given[name], RECORDS.schema[name])
    columns["year_raw"] = _sparse(count, {})
    return columns


def _cleaned(
    groups: dict[str, pa.LargeStringArray], odd: Callable[[pa.LargeStringArray], Mask], readers: dict[str, Reader], reader: Reader
) -> dict[str, pa.LargeStringArray]:
    """Groups of texts, the odd ones read by the group's reader, empty ones null.

    They are looked at all together: a dozen small looks cost more than a long one.
    """
    whole = without_empty(pa.concat_arrays(list(groups.values())))
    places = np.flatnonzero(odd(whole))
    columns: dict[str, pa.LargeStringArray] = {}
    start = first = 0
    for name, group in groups.items():
        stop = start + len(group)
        last = int(np.searchsorted(places, stop))
        columns[name] = whole.slice(start, len(group))
        if first < last:
            columns[name] = mended(columns[name], places[first:last] - start, readers.get(name, reader))
        start, first = stop, last
    return columns


def _dois(given: pa.LargeStringArray, flags: list[tuple[int, str]]) -> tuple[pl.Series, pl.Series]:
    """DOIs, and those as given that differ."""
    raw: dict[int, str] = {}

    def doi_of(place: int, text: str) -> str | None:
        doi, said, odd = read_doi(text)
        if said is not None:
            raw[place] = said
        if odd:
            flags.append((place, "doi_invalid"))
        return doi

    given = without_empty(given)
    plain = pc.match_substring_regex(given, f"^{PLAIN_DOI}$")
    odd = as_numpy(pc.and_kleene(given.is_valid(), pc.invert(plain)))
    return pl.Series(mended(given, np.flatnonzero(odd), doi_of)), _sparse(len(given), raw)


def _venues(given: pa.Array, keys: pa.LargeStringArray) -> tuple[list[int], pa.LargeStringArray, pa.LargeStringArray]:
    """Where venues are objects, and the names and ids of all. given: texts, or objects as `Place`; keys: never beside an object."""
    if not pa.types.is_struct(given.type):
        return [], given, keys
    inside = dict(zip(given.type.names, given.flatten(), strict=True))
    return np.flatnonzero(~nulls_of(given)).tolist(), inside["raw"], pc.coalesce(inside["id"], keys)


def _authors(offsets: Integers, fields: dict[str, pa.LargeStringArray]) -> pl.Series:
    """Lists of authors; those of whom nothing is said are left out."""
    authors = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    if all(column.null_count for column in fields.values()):
        said = ~np.logical_and.reduce([nulls_of(column) for column in fields.values()])
        return list_column(_kept(offsets, said), authors.filter(as_arrow(said)))
    return list_column(offsets, authors)


def _author_keys(offsets: Integers, names: pa.LargeStringArray) -> pl.Series:
    """The keys of each record's authors, distinct and sorted: `author_keys` for all at once."""
    places, keys = keys_of_names(names)
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[places]
    by_key = np.argsort(keys)
    ranks = np.empty_like(by_key)
    ranks[by_key] = np.arange(len(keys))
    ordered = np.sort(rows << _ROW_BITS | ranks)  # by row, then by key: eight times as fast as lexsort
    rows, keys = ordered >> _ROW_BITS, keys[by_key[ordered & ((1 << _ROW_BITS) - 1)]]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]) | (keys[1:] != keys[:-1])
    counts = np.bincount(rows[first], minlength=len(offsets) - 1)
    return list_column(np.append(0, np.cumsum(counts)), as_arrow(keys[first]))


def _whole_numbers(given: pa.DoubleArray, dtype: pl.DataType) -> pl.Series:
    """Whole numbers that came as floats. Null, and what is no number, is null."""
    values = as_numpy(given)
    said = ~np.isnan(values)
    valid, content = np.packbits(said, bitorder="little"), np.where(said, values, 0).astype(np.int64)
    return pl.Series(pa.Array.from_buffers(pa.int64(), len(values), [pa.py_buffer(valid), pa.py_buffer(content)])).cast(dtype)


def _flags(count: int, flags: list[tuple[int, str]]) -> pl.Series:
    flags.sort()  # by row, and alphabetically as `record` adds them
    counts = np.bincount(np.array([row for row, _ in flags], dtype=np.int64), minlength=count)
    return list_column(np.append(0, np.cumsum(counts)), texts_of([flag for _, flag in flags]))


def _offsets(lists: pa.ListArray) -> Integers:
    """Where each list begins, and the last one ends, among the values. A null is as long as an empty list."""
    offsets: Integers = as_numpy(lists.offsets).astype(np.int64)
    return offsets


def _without_nulls(offsets: Integers, values: pa.Array) -> tuple[Integers, pa.Array]:
    """Lists of which the nulls are left out."""
    if not values.null_count:
        return offsets, values
    return _kept(offsets, ~nulls_of(values)), values.drop_null()


def _kept(offsets: Integers, kept: Mask) -> Integers:
    """Offsets of lists of which only some values are kept."""
    return np.append(0, np.cumsum(kept))[offsets]


def _sparse(count: int, values: dict[int, str]) -> pl.Series:
    column: list[str | None] = [None] * count
    for place, value in values.items():
        column[place] = value
    return pl.Series(column, dtype=pl.String) if values else pl.Series(pa.nulls(count, pa.large_string()))
