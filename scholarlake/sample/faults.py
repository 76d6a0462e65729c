"""Odd shapes of single records, which are records all the same, and lines that are none.

An odd shape changes neither the record's id nor its DOI or the works it names. What is odd about several records together
is in kinds.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

Fields = dict[str, Any]
Fault = tuple[str, bytes]  # reason code of the contract, the line without its end

ODD_SHARE: Final = 0.1  # of ordinary records


def _inverted(text: str) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(text.split(" ")):
        index.setdefault(word, []).append(place)
    return index


def _venue_name(fields: Fields, dice: int) -> None:
    fields["venue"] = {"id": fields["venue_id"], ("raw", "name")[dice & 1]: fields["venue"]}
    del fields["venue_id"]


def _venue_mongo(fields: Fields, dice: int) -> None:
    fields["venue"] = {"_id": fields["venue_id"], "raw": fields["venue"], "raw_zh": "" if dice & 1 else None}


def _references_as_objects(fields: Fields, dice: int) -> None:
    fields["references"] = [{"id": one} for one in fields.get("references", [])]


def _reference_alone(fields: Fields, dice: int) -> None:
    given = fields.get("references", [])
    if len(given) < 2:
        fields["references"] = given[0] if given else None


def _index_object(fields: Fields, dice: int) -> None:
    if text := fields.pop("abstract", None):
        fields["indexed_abstract"] = _inverted(text)


def _index_text(fields: Fields, dice: int) -> None:
    if text := fields.pop("abstract", None):
        index = _inverted(text)
        whole = {"IndexLength": len(text.split(" ")), "InvertedIndex": index} if dice & 1 else index
        fields["indexed_abstract"] = orjson.dumps(whole).decode()


def _index_empty(fields: Fields, dice: int) -> None:
    if "abstract" not in fields:
        fields["indexed_abstract"] = {} if dice & 1 else None


def _organisations(fields: Fields, dice: int) -> None:
    for place, person in enumerate(fields["authors"]):
        if place % 3 == 0:
            person["org"] = f"{person['org']}\r"
        elif place % 3 == 1:
            person["org"], person["org_id"] = None, None
        else:
            person["orgs"], person["orgid"] = [person.pop("org"), "null\r"], person.pop("org_id")


def _author_names(fields: Fields, dice: int) -> None:
    fields["authors"] = [person["name"] for person in fields["authors"]]


def _nothing_but_null(fields: Fields, dice: int) -> None:
    fields.update(keywords=None, volume=None, issue="null", lang=None, url=None, abstract="null")


def _many_urls(fields: Fields, dice: int) -> None:
    fields["url"] = [f"https://mirror{number}.example.org/paper" for number in range(660 if dice & 255 < 3 else 6)]


def _set(name: str, *values: Any) -> Callable[[Fields, int], None]:
    def change(fields: Fields, dice: int) -> None:
        fields[name] = values[dice % len(values)]

    return change


def _year_in_words(fields: Fields, dice: int) -> None:
    fields["year"] = (f"{fields['year']}.0", str(fields["year"]), f"c. {fields['year']}", float(fields["year"]))[dice & 3]


def _drop_count(fields: Fields, dice: int) -> None:
    del fields["n_citation"]


def _count_as_text(fields: Fields, dice: int) -> None:
    fields["n_citation"] = str(fields["n_citation"])


def _hard_keywords(fields: Fields, dice: int) -> None:
    fields["keywords"] = ["α-synuclein", "C++", "O'Brien", 'the "quoted" word', "a\\b", "tab\there"]


ODD_SHAPES: Final[tuple[Callable[[Fields, int], None], ...]] = (
    _venue_name,
    _venue_mongo,
    _references_as_objects,
    _reference_alone,
    _index_object,
    _index_text,
    _index_empty,
    _organisations,
    _author_names,
    _nothing_but_null,
    _many_urls,
    _year_in_words,
    _drop_count,
    _count_as_text,
    _hard_keywords,
    _set("year", 0, 9999, "", None),
    _set("n_citation", None),
    _set("keywords", "one; string", None),
    _set("venue", None, "", {}),
    _set("authors", None, []),
)


def make_odd(fields: Fields, dice: int) -> None:
    """Change a record's shape, in place. Only ordinary records: those that stand alone under their title."""
    fields["authors"] = [dict(person) for person in fields["authors"]]
    ODD_SHAPES[dice % len(ODD_SHAPES)](fields, dice >> 16)


def bare_tokens(line: bytes, dice: int) -> bytes:
    """The line with NaN where a number is missing, as some exporters write it; now and then a title with half a surrogate pair."""
    if dice % 7 == 0:
        return line.replace(b'"title":"', b'"title":"a\\ud835b ', 1)
    return line.replace(b'"n_citation":null', (b'"n_citation":NaN', b'"n_citation":NaN,"area":NaN')[dice & 1])


def bad_lines(record: Fields) -> tuple[Fault, ...]:
    """Lines that are no record, one of each sort. record: fields with an id that no other line has."""
    line = orjson.dumps(record)
    half = line[: len(line) // 2]
    nameless = orjson.dumps({name: value for name, value in record.items() if name != "id"})
    return (
        ("not_json", b"\\N"),
        ("not_an_object", b"null"),
        ("not_an_object", b"5"),
        ("not_an_object", b"[" + line + b"]"),
        ("not_json", b"," + line),
        ("truncated", half),
        ("invalid_utf8", line.replace(b'"title":"', b'"title":"\xff\xfe', 1)),
        ("nul_byte", line.replace(b'"title":"', b'"title":"a\x00b', 1)),
        ("blank", b""),
        ("no_id", nameless),
        ("no_id", nameless[:1] + b'"id":null,' + nameless[1:]),
        ("not_an_object", b'"text"'),
        ("not_json", b"{'id': 'single quotes'}"),
    )
