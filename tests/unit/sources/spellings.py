"""The same papers as every kind of dump spells them, made by hand from the descriptions of the formats.

A paper here: id, title, abstract, year, doi, venue, authors (names), keywords, references (ids), n_citation, volume, issue, page_start,
page_end, lang, publisher, url. What a format lacks is left out of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Paper = dict[str, Any]

EVERYTHING = frozenset({"title", "abstract", "year", "doi", "venue", "authors", "keywords", "references", "n_citation", "volume", "issue"})
TAGGED = frozenset({"title", "abstract", "year", "venue", "authors", "references"})
_NUMBERS = re.compile(r'("(?:year|n_citation)": )([0-9]+)')
_ID = re.compile(r'("_id": )("[^"]*")')


@dataclass(frozen=True)
class Spelling:
    """One way to write papers down. format: how it is recognised; keeps: the fields of a paper that it has."""

    format: str
    write: Callable[[Sequence[Paper]], bytes]
    keeps: frozenset[str] = EVERYTHING


def _dump(record: object, indent: int | None = None) -> str:
    return json.dumps(record, ensure_ascii=False, indent=indent)


def _lines(spell: Callable[[Paper], Paper]) -> Callable[[Sequence[Paper]], bytes]:
    return lambda papers: "".join(_dump(spell(paper)) + "\n" for paper in papers).encode()


def _oag_v3(paper: Paper) -> Paper:
    return {
        **paper,
        "authors": [{"id": f"a{number}", "name": name, "org": "", "org_id": ""} for number, name in enumerate(paper["authors"])],
        "venue_id": "v1",
        "url": [paper["url"]],
    }


def _oag_v2(paper: Paper) -> Paper:
    """Venue as an object, abstract as a string that holds an inverted index."""
    positions: dict[str, list[int]] = {}
    for place, word in enumerate(paper["abstract"].split()):
        positions.setdefault(word, []).append(place)
    return {
        **{name: value for name, value in paper.items() if name != "abstract"},
        "authors": [{"name": name, "org": "An Organisation\r", "org_id": 7} for name in paper["authors"]],
        "venue": {"name": paper["venue"], "id": 12},
        "indexed_abstract": json.dumps({"IndexLength": 3, "InvertedIndex": positions}),
        "url": [paper["url"]],
    }


def _oag_v1(paper: Paper) -> Paper:
    spelled = {name: value for name, value in paper.items() if name != "page_start"}
    return {**spelled, "page_stat": paper["page_start"], "authors": [{"name": name} for name in paper["authors"]], "url": [paper["url"]]}


def _dblp_v10(paper: Paper) -> Paper:
    return {name: paper[name] for name in ("abstract", "authors", "n_citation", "references", "title", "venue", "year", "id")}


def _dblp_v12(paper: Paper) -> Paper:
    return {
        **{name: value for name, value in paper.items() if name not in ("abstract", "keywords", "url", "lang")},
        "authors": [{"name": name, "id": number} for number, name in enumerate(paper["authors"])],
        "venue": {"raw": paper["venue"], "id": 12, "type": "J"},
        "indexed_abstract": {"IndexLength": 1, "InvertedIndex": {word: [place] for place, word in enumerate(paper["abstract"].split())}},
        "fos": [{"name": "Physics", "w": 0.5}],
    }


def _dblp_v13(paper: Paper) -> Paper:
    spelled = {name: value for name, value in paper.items() if name != "id"}
    return {
        "_id": paper["id"],
        **spelled,
        "authors": [{"_id": f"a{number}", "name": name, "org": "X", "orgid": "o"} for number, name in enumerate(paper["authors"])],
        "venue": {"_id": "v", "type": 1, "raw": paper["venue"], "raw_zh": None},
        "pdf": None,
        "url": [paper["url"]],
    }


def _mongo_export(papers: Sequence[Paper]) -> bytes:
    text = _dump([_dblp_v13(paper) for paper in papers], indent=4)
    return _ID.sub(r"\1ObjectId(\2)", _NUMBERS.sub(r"\1NumberInt(\2)", text)).encode()


def _mag(paper: Paper) -> Paper:
    return {
        "PaperId": paper["id"],
        "Doi": paper["doi"],
        "OriginalTitle": paper["title"],
        "PaperTitle": paper["title"].lower(),
        "Year": paper["year"],
        "Authors": [{"AuthorId": number, "DisplayName": name} for number, name in enumerate(paper["authors"])],
        "OriginalVenue": paper["venue"],
        "Abstract": paper["abstract"],
        "References": paper["references"],
        "CitationCount": paper["n_citation"],
        "Volume": paper["volume"],
        "Issue": paper["issue"],
        "FieldsOfStudy": [{"DisplayName": word} for word in paper["keywords"]],
    }


def _mag_row(paper: Paper) -> str:
    given = (
        *("7" + paper["id"], "1", paper["doi"], "Journal", paper["title"].lower(), paper["title"], "", str(paper["year"]), "2001-01-01"),
        *(
            "P",
            "5",
            "",
            "",
            paper["volume"],
            paper["issue"],
            "1",
            "9",
            "3",
            str(paper["n_citation"]),
            "4",
            paper["venue"],
            "",
            "2016-06-24",
        ),
    )
    return "\t".join(given)


def _s2orc(paper: Paper) -> Paper:
    return {
        "paper_id": paper["id"],
        "title": paper["title"],
        "authors": [_in_pieces(name.split()) for name in paper["authors"]],
        **{name: paper[name] for name in ("abstract", "year", "doi")},
        **dict.fromkeys(("arxiv_id", "acl_id", "pmc_id", "pubmed_id", "venue")),
        "journal": paper["venue"],
        "mag_id": "1",
        "mag_field_of_study": paper["keywords"],
        "outbound_citations": paper["references"],
        "inbound_citations": ["x"] * paper["n_citation"],
        "has_outbound_citations": True,
        "s2_url": paper["url"],
    }


def _in_pieces(words: list[str]) -> Paper:
    return {"first": " ".join(words[:-1][:1]), "middle": words[1:-1], "last": words[-1], "suffix": ""}


def _openalex(paper: Paper) -> Paper:
    address = "https://openalex.org/"
    return {
        "id": f"{address}W{paper['id']}",
        "doi": f"https://doi.org/{paper['doi']}",
        "display_name": paper["title"],
        "publication_year": paper["year"],
        "authorships": [
            {"author": {"id": f"{address}A{n}", "display_name": name}, "institutions": []} for n, name in enumerate(paper["authors"])
        ],
        "primary_location": {
            "landing_page_url": paper["url"],
            "source": {"id": f"{address}S1", "display_name": paper["venue"], "issn": None},
        },
        "biblio": {"volume": paper["volume"], "issue": paper["issue"], "first_page": paper["page_start"], "last_page": paper["page_end"]},
        "referenced_works": [f"{address}W{reference}" for reference in paper["references"]],
        "abstract_inverted_index": {word: [place] for place, word in enumerate(paper["abstract"].split())},
        "cited_by_count": paper["n_citation"],
        "is_retracted": False,
        "keywords": [{"id": f"{address}keywords/x", "display_name": word, "score": 0.5} for word in paper["keywords"]],
    }


def _listed(paper: Paper) -> Paper:
    told = {name: paper[name] for name in ("doi", "url", "volume", "issue", "abstract")}
    return {
        "title": paper["title"],
        "datasets": ["d"],
        "original": {
            **told,
            "journal": paper["venue"],
            "pubyear": paper["year"],
            "times_cited": paper["n_citation"],
            "authors": "; ".join(paper["authors"]),
            "keywords": ";".join(paper["keywords"]),
            "pmid": float("nan"),
        },
    }


def _tagged(paper: Paper, year: str = "t", venue: str = "c", between: str = ",") -> str:
    references = "".join(f"#%{reference}\n" for reference in paper["references"])
    return (
        f"#*{paper['title']}\n#@{between.join(paper['authors'])}\n#{year}{paper['year']}\n#{venue}{paper['venue']}\n"
        f"#index{paper['id']}\n{references}#!{paper['abstract']}\n\n"
    )


def _index_first(paper: Paper) -> str:
    references = "".join(f"#% {reference}\n" for reference in paper["references"])
    return (
        f"#index {paper['id']}\n#* {paper['title']}\n#@ {';'.join(paper['authors'])}\n#o {';'.join('-' for _ in paper['authors'])}\n"
        f"#t {paper['year']}\n#c {paper['venue']}\n{references}#! {paper['abstract']}\n\n"
    )


def _text(
    spell: Callable[[Paper], str], encoding: str = "utf-8", end: str = "\n", count: bool = False
) -> Callable[[Sequence[Paper]], bytes]:
    def write(papers: Sequence[Paper]) -> bytes:
        text = (f"{len(papers)}\n" if count else "") + "".join(map(spell, papers))
        return text.replace("\n", end).encode(encoding)

    return write


SPELLINGS = {
    "OAG v3": Spelling("oag-jsonl", _lines(_oag_v3)),
    "OAG v2": Spelling("oag-jsonl", _lines(_oag_v2)),
    "OAG v1": Spelling("oag-jsonl", _lines(_oag_v1)),
    "DBLP V10": Spelling("oag-jsonl", _lines(_dblp_v10), TAGGED | {"n_citation"}),
    "DBLP V12": Spelling(
        "oag-json",
        lambda papers: ("[\n" + "\n,".join(_dump(_dblp_v12(paper)) for paper in papers) + "\n]\n").encode(),
        TAGGED | {"doi", "n_citation", "volume", "issue"},
    ),
    "DBLP V13": Spelling("oag-json", _mongo_export),
    "DBLP V14": Spelling("oag-json", lambda papers: _dump([_oag_v3(paper) for paper in papers]).encode()),
    "trailing commas": Spelling("oag-json", lambda papers: ("[\r\n" + "".join(_dump(_oag_v3(p)) + ",\r\n" for p in papers) + "]").encode()),
    "objects one behind another": Spelling("oag-json", lambda papers: "\n".join(_dump(_dblp_v13(p), indent=2) for p in papers).encode()),
    "MAG": Spelling("mag-jsonl", _lines(_mag)),
    "MAG's table": Spelling(
        "mag-table",
        lambda papers: "".join(_mag_row(paper) + "\n" for paper in papers).encode(),
        frozenset({"title", "year", "doi", "venue", "n_citation", "volume", "issue"}),
    ),
    "S2ORC": Spelling("s2orc-jsonl", _lines(_s2orc), EVERYTHING - {"volume", "issue"}),
    "OpenAlex": Spelling("openalex-jsonl", _lines(_openalex)),
    "OpenAlex in an array": Spelling("openalex-json", lambda papers: _dump([_openalex(paper) for paper in papers], indent=1).encode()),
    "publications": Spelling(
        "publications-json", lambda papers: _dump([_listed(p) for p in papers], indent=2).encode(), EVERYTHING - {"references"}
    ),
    "DBLP V1": Spelling("dblp-text", _text(_tagged, count=True), TAGGED),
    "DBLP V2": Spelling("dblp-text", _text(lambda paper: _tagged(paper, "year", "conf")), TAGGED),
    "DBLP V5 with CRLF": Spelling("dblp-text", _text(_tagged, end="\r\n"), TAGGED),
    "DBLP in GBK": Spelling("dblp-text-gbk", _text(_tagged, encoding="gb18030", count=True), TAGGED),
    "AMiner's network": Spelling("dblp-text", _text(_index_first), TAGGED),
}
