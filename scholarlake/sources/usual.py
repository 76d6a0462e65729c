"""Papers of the usual shape to the columns of `records`, column by column: what is plain stays, the rest goes through the readers.

Gives exactly what `record` gives for the same lines, at a third of the time or less. What does not belong here: which papers
are of that shape (`shape`), and how a column is laid out (`columns`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import astuple

from scholarlake.lake.contracts import RECORDS
from scholarlake.sources.abstracts import read_abstract
from scholarlake.sources.authors import author_key
from scholarlake.sources.columns import Integers, keys_of, list_column, offsets_of, signed
from scholarlake.sources.doi import read_doi
from scholarlake.sources.identifiers import identifier
from scholarlake.sources.plain import identifier_column, text_column
from scholarlake.sources.shape import Paper, Person, Place
from scholarlake.sources.text import full_text
from scholarlake.sources.titles import fingerprints, read_title

# A reader takes a text's place in its column and the text, and gives it as it should be.
Reader = Callable[[int, str], str | None]

_TEXTS = ("venue", "lang", "doc_type", "volume", "issue", "page_start", "page_end", "issn", "isbn", "publisher", "pdf")
_NOTHING: tuple[Any, ...] = ()


def usual_columns(papers: Sequence[Paper]) -> dict[str, pl.Series]:
    """The columns that `RecordRow` names, and the keys made of them. papers: at least one."""
    flags: list[tuple[int, str]] = []
    given = _fields(papers, Paper)
    places = _take_out_places(given)
    people, keywords, urls, references = (
        [said or _NOTHING for said in given[name]] for name in ("authors", "keywords", "url", "references")
    )
    persons = _fields(list(chain.from_iterable(people)), Person)
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

    groups = {name: given[name] for name in ("title", "abstract", *_TEXTS)} | {name: persons[name] for name in ("name", "org")}
    groups |= {"keywords": list(chain.from_iterable(keywords)), "urls": list(chain.from_iterable(urls))}
    columns, texts = _cleaned(groups, text_column, {"title": title_of, "abstract": abstract_of}, _full_text)
    groups = {"venue_id": given["venue_id"], "person_id": persons["id"], "org_id": persons["org_id"]}
    groups |= {"references": list(chain.from_iterable(references))}
    id_columns, ids = _cleaned(groups, identifier_column, {}, _identifier)
    columns |= id_columns

    dois, dois_raw = _dois(given["doi"], flags)
    flags += [(place, "venue_shape") for place in places if not texts["venue"][place] and not ids["venue_id"][place]]
    offsets, columns["references"] = _without_nulls(offsets_of(references), columns["references"])
    columns["references"] = list_column(offsets, columns["references"])
    columns["reference_keys"] = list_column(offsets, signed(keys_of([reference for reference in ids["references"] if reference])))
    for name, lists in (("keywords", keywords), ("urls", urls)):
        columns[name] = list_column(*_without_nulls(offsets_of(lists), columns[name]))
    offsets = offsets_of(people)
    columns["author_keys"] = _author_keys(offsets, texts["name"])
    columns["authors"] = _authors(offsets, *(columns.pop(name) for name in ("person_id", "name", "org", "org_id")))
    columns["record_id"] = _strings(given["id"])
    columns["record_key"] = signed(keys_of(given["id"]))
    columns["title_raw"] = _sparse(len(papers), title_raw)
    columns["title_fingerprint"] = _strings(fingerprints(texts["title"]))
    columns["doi"] = _strings(dois)
    columns["doi_raw"] = _sparse(len(papers), dois_raw)
    columns["year"] = pl.Series(given["year"], dtype=RECORDS.schema["year"])
    columns["year_raw"] = _sparse(len(papers), {})
    columns["n_citation"] = pl.Series(given["n_citation"], dtype=RECORDS.schema["n_citation"])
    columns["flags"] = _flags(len(papers), flags)
    return columns


def _fields(structs: Sequence[Paper] | Sequence[Person], kind: type[Struct]) -> dict[str, Sequence[Any]]:
    """Every field of the structs as a column."""
    names = kind.__struct_fields__
    return dict(zip(names, zip(*map(astuple, structs), strict=True) if structs else repeat(_NOTHING), strict=False))


def _take_out_places(given: dict[str, Sequence[Any]]) -> list[int]:
    """Put the name and the id of each venue that is an object into their columns. Returns where such venues are."""
    places = [place for place, venue in enumerate(given["venue"]) if type(venue) is Place]
    if places:
        names, ids = list(given["venue"]), list(given["venue_id"])
        for place in places:
            names[place], ids[place] = names[place].raw, names[place].id
        given["venue"], given["venue_id"] = names, ids
    return places


def _cleaned(
    groups: dict[str, Sequence[str | None]],
    look: Callable[[Sequence[str | None]], tuple[pl.Series, list[int]]],
    readers: dict[str, Reader],
    reader: Reader,
) -> tuple[dict[str, pl.Series], dict[str, Sequence[str | None]]]:
    """Groups of texts as columns, the odd ones read by the group's reader; and the same as lists, where an empty text is none.

    They are looked at all together: a dozen small looks cost more than a long one.
    """
    whole, odd = look(list(chain.from_iterable(groups.values())))
    columns: dict[str, pl.Series] = {}
    texts: dict[str, Sequence[str | None]] = {}
    start = first = 0
    for name, group in groups.items():
        stop = start + len(group)
        last = bisect_left(odd, stop, first)
        if first == last:
            texts[name], columns[name] = group, whole[start:stop]
        else:
            read = readers.get(name, reader)
            mended = list(group)
            for place in odd[first:last]:
                mended[place - start] = read(place - start, mended[place - start] or "")
            texts[name], columns[name] = mended, _strings([text or None for text in mended])
        start, first = stop, last
    return columns, texts


def _full_text(_: int, text: str) -> str | None:
    return full_text(text)


def _identifier(_: int, text: str) -> str | None:
    return identifier(text)


def _dois(given_dois: Sequence[str | None], flags: list[tuple[int, str]]) -> tuple[list[str | None], dict[int, str]]:
    """DOIs, and those as given, by place, that differ."""
    found: list[str | None] = []
    raw: dict[int, str] = {}
    for place, said in enumerate(given_dois):
        doi, given, odd = read_doi(said)
        found.append(doi)
        if given is not None:
            raw[place] = given
        if odd:
            flags.append((place, "doi_invalid"))
    return found, raw


def _authors(offsets: Integers, key: pl.Series, name: pl.Series, org: pl.Series, org_id: pl.Series) -> pl.Series:
    """Lists of authors; those of whom nothing is said are left out."""
    flat = pl.DataFrame([key.alias("id"), name.alias("name"), org.alias("org"), org_id.alias("org_id")])
    if key.null_count() and name.null_count() and org.null_count() and org_id.null_count():
        said = (key.is_not_null() | name.is_not_null() | org.is_not_null() | org_id.is_not_null()).to_numpy()
        offsets, flat = _kept(offsets, said), flat.filter(said)
    return list_column(offsets, flat.to_struct("authors"))


def _author_keys(offsets: Integers, names: Sequence[str | None]) -> pl.Series:
    """The keys of each record's authors, distinct and sorted: `author_keys` for all at once."""
    found = [author_key(name) if name else None for name in names]
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if None in found:
        rows = rows[np.fromiter((key is not None for key in found), dtype=bool, count=len(found))]
    keys = np.array([key for key in found if key is not None], dtype=np.int64)
    order = np.lexsort((keys, rows))
    rows, keys = rows[order], keys[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]) | (keys[1:] != keys[:-1])
    counts = np.bincount(rows[first], minlength=len(offsets) - 1)
    return list_column(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), pl.Series(keys[first]))


def _flags(count: int, flags: list[tuple[int, str]]) -> pl.Series:
    by_row: dict[int, list[str]] = {}
    for row, flag in flags:  # found by field in alphabetical order, as `record` adds them
        by_row.setdefault(row, []).append(flag)
    return list_column(
        offsets_of([by_row.get(row, _NOTHING) for row in range(count)]), _strings([flag for row in sorted(by_row) for flag in by_row[row]])
    )


def _without_nulls(offsets: Integers, values: pl.Series) -> tuple[Integers, pl.Series]:
    if not values.null_count():
        return offsets, values
    return _kept(offsets, values.is_not_null().to_numpy()), values.drop_nulls()


def _kept(offsets: Integers, kept: np.ndarray[Any, np.dtype[np.bool_]]) -> Integers:
    """Integers of lists of which only some values are kept."""
    return np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)[offsets]


def _sparse(count: int, values: dict[int, str]) -> pl.Series:
    column: list[str | None] = [None] * count
    for place, value in values.items():
        column[place] = value
    return _strings(column)


def _strings(values: Sequence[str | None]) -> pl.Series:
    return pl.Series(values, dtype=pl.String)
