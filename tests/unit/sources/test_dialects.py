"""What each kind of dump says in its own words, in every shape that it comes in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.sources.dialects import mag, openalex, publications, s2orc
from scholarlake.sources.identifiers import InexactNumber
from scholarlake.sources.record import NoRecord, RecordRow

WORK = {"id": "https://openalex.org/W12", "title": "A work of some kind"}
S2 = {"paper_id": "7", "title": "A paper of some kind", "outbound_citations": []}
MAG = {"PaperId": 12, "OriginalTitle": "A Paper of some Kind"}


def work(**given: Any) -> RecordRow:
    return openalex.read({**WORK, **given}, 2031)


def names(row: RecordRow) -> list[str | None]:
    return [author[1] for author in row.authors]


@pytest.mark.parametrize(
    "given", ["https://openalex.org/W12", "http://openalex.org/w12", "https://openalex.org/works/W12/", "W12", " w12 "]
)
def test_an_openalex_id_is_one_however_it_is_addressed(given: str) -> None:
    assert work(id=given).record_id == "W12"
    assert work(referenced_works=[given, "https://openalex.org/W13"]).references == ["W12", "W13"]


def test_a_work_has_its_authors_venue_and_abstract_from_where_openalex_keeps_them() -> None:
    row = work(
        title=None,
        display_name="A work, displayed",
        doi="https://doi.org/10.1000/X",
        publication_year=2003,
        authorships=[
            {
                "author": {"id": "https://openalex.org/A1", "display_name": "Ann Lee"},
                "institutions": [{"id": "https://openalex.org/I5", "display_name": "University of X"}],
            },
            {"author": {}, "raw_author_name": "Jo Ko", "institutions": [], "raw_affiliation_strings": ["Dept. of Y", "Z"]},
        ],
        primary_location={
            "source": {
                "id": "https://openalex.org/S9",
                "display_name": "Journal of X",
                "issn_l": "1234-5678",
                "host_organization_name": "P",
            },
            "pdf_url": "https://example.org/x.pdf",
            "landing_page_url": "https://doi.org/10.1000/x",
        },
        abstract_inverted_index={"the": [0, 3], "cat": [1], "sat:": [2]},
        keywords=[{"display_name": "cats"}, {"keyword": "older"}, "plain"],
        biblio={"volume": "7", "issue": None, "first_page": "1", "last_page": "9"},
        cited_by_count=4,
        language="en",
        type="article",
    )
    assert (row.title, row.doi, row.year, row.venue, row.venue_id) == ("A work, displayed", "10.1000/x", 2003, "Journal of X", "S9")
    assert row.authors == [("A1", "Ann Lee", "University of X", "I5"), (None, "Jo Ko", "Dept. of Y; Z", None)]
    assert (row.abstract, row.keywords, row.n_citation, row.lang, row.doc_type) == (
        "the cat sat: the",
        ["cats", "older", "plain"],
        4,
        "en",
        "article",
    )
    assert (row.volume, row.page_start, row.issn, row.publisher, row.pdf) == ("7", "1", "1234-5678", "P", "https://example.org/x.pdf")
    assert row.urls == ["https://doi.org/10.1000/x", "https://openalex.org/W12"]
    assert row.flags == []


def test_a_work_of_older_editions_has_its_venue_as_a_host_and_subjects_as_concepts() -> None:
    row = work(
        host_venue={"id": "https://openalex.org/V4", "display_name": "Journal of Y", "publisher": "Q", "url": "https://example.org/y"},
        concepts=[{"display_name": "Physics", "score": 0.9}],
    )
    assert (row.venue, row.venue_id, row.publisher, row.urls, row.keywords) == (
        "Journal of Y",
        "V4",
        "Q",
        ["https://example.org/y", "https://openalex.org/W12"],
        ["Physics"],
    )


def test_a_retracted_work_is_flagged() -> None:
    assert work(is_retracted=True).flags == ["retracted"]
    assert work(is_retracted=True, publication_year=9999).flags == ["retracted", "year_unusable"]
    assert work(is_retracted=False).flags == work(is_retracted=None).flags == []


def test_an_author_among_works_is_no_paper() -> None:
    with pytest.raises(NoRecord) as fault:
        work(id="https://openalex.org/A12")
    assert fault.value.reason == "not_a_paper"


def test_names_of_s2orc_are_put_together_from_their_pieces() -> None:
    people = [
        {"first": "Ann", "middle": ["B.", "C."], "last": "Lee", "suffix": "Jr."},
        {"first": "", "middle": [], "last": "Ko", "suffix": ""},
        {"first": None, "middle": None, "last": None, "suffix": None},
    ]
    assert names(s2orc.read({**S2, "authors": people}, 2031)) == ["Ann B. C. Lee Jr.", "Ko"]


def test_a_paper_of_s2orc_has_its_journal_where_it_has_no_venue_and_an_address_on_arxiv() -> None:
    row = s2orc.read(
        {
            **S2,
            "venue": None,
            "journal": "Journal of X",
            "arxiv_id": "2001.00001",
            "s2_url": "https://api.semanticscholar.org/CorpusID:7",
            "mag_field_of_study": ["Physics"],
            "outbound_citations": ["8", "9"],
            "inbound_citations": ["1"],
            "doi": None,
            "abstract": None,
        },
        2031,
    )
    assert (row.venue, row.keywords, row.references, row.n_citation) == ("Journal of X", ["Physics"], ["8", "9"], 1)
    assert row.urls == ["https://api.semanticscholar.org/CorpusID:7", "https://arxiv.org/abs/2001.00001"]
    assert s2orc.read({**S2, "venue": "ICML", "journal": "PMLR"}, 2031).venue == "ICML"


def test_names_of_mag_count_without_case_and_underscores() -> None:
    for key, title in (("PaperId", "OriginalTitle"), ("paper_id", "original_title"), ("Id", "Title"), ("PaperID", "DisplayName")):
        row = mag.read({key: 12, title: "A Paper of some Kind", "Doi": "10.1/X"}, 2031)
        assert (row.record_id, row.title) == ("12", "A Paper of some Kind")


def test_a_paper_of_mag_is_read_with_people_references_and_subjects() -> None:
    row = mag.read(
        {
            **MAG,
            "PaperTitle": "a paper of some kind",
            "Authors": [
                {"AuthorId": 3, "OriginalAuthor": "Ann Lee", "AffiliationId": 5, "OriginalAffiliation": "University of X\r"},
                "Jo Ko",
            ],
            "References": [{"PaperReferenceId": 13}, 14, "15"],
            "IndexedAbstract": '{"IndexLength": 2, "InvertedIndex": {"Why": [0], "not?": [1]}}',
            "FieldsOfStudy": [{"FieldOfStudyName": "Physics"}, "Art"],
            "JournalId": 77,
            "OriginalVenue": "Journal of X",
            "SourceUrls": [{"SourceType": 1, "SourceUrl": "https://example.org"}],
            "FirstPage": "1",
            "CitationCount": "4",
        },
        2031,
    )
    assert (row.title, row.abstract, row.references) == ("A Paper of some Kind", "Why not?", ["13", "14", "15"])
    assert row.authors == [("3", "Ann Lee", "University of X", "5"), (None, "Jo Ko", None, None)]
    assert (row.keywords, row.venue, row.venue_id, row.urls) == (["Physics", "Art"], "Journal of X", "77", ["https://example.org"])
    assert (row.page_start, row.n_citation, row.flags) == ("1", 4, [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "blank"),
        (b"12\t1\t10.1/x", "wrong_columns"),
        (b"\t1" + b"\t" * 21, "no_id"),
        (b"1\xff" + b"\t" * 22, "invalid_utf8"),
        (b"1\x00", "nul_byte"),
    ],
)
def test_what_is_no_row_of_mags_table_is_refused(line: bytes, reason: str) -> None:
    with pytest.raises(NoRecord) as fault:
        mag.read_row(line, 2031)
    assert fault.value.reason == reason


def listed(**given: Any) -> RecordRow:
    return publications.read({"title": "A listed paper", **given}, 2031)


def test_a_publication_without_id_is_named_by_what_it_says() -> None:
    same = {
        listed(original={"doi": "10.1/x"}).record_id,
        listed(original={"doi": "10.1/x", "journal": "J"}).record_id,
        listed(doi="10.1/x").record_id,
    }
    assert len(same) == 1
    assert listed(original={"doi": "10.1/y"}).record_id not in same
    assert publications.read({"title": "Another paper", "doi": "10.1/x"}, 2031).record_id not in same, "two works of one DOI stay two"
    with pytest.raises(NoRecord) as fault:
        publications.read({"title": None, "datasets": []}, 2031)
    assert fault.value.reason == "no_id"


def test_a_publication_is_read_from_the_object_inside_it() -> None:
    row = listed(
        original={
            "doi": "https://example.org/no-doi",
            "journal ": "Journal of X",
            "journal": None,
            "pubyear": 2011,
            "times_cited": 3,
            "authors": "Lee, Ann; Ko, Jo",
            "keywords": "food,health",
            "pagination": "205-212",
            "url": "https://example.org/a",
        }
    )
    assert (row.doi, row.doi_raw, row.venue, row.year, row.n_citation) == (None, "https://example.org/no-doi", "Journal of X", 2011, 3)
    assert (names(row), row.keywords, row.page_start, row.page_end) == (["Lee, Ann", "Ko, Jo"], ["food", "health"], "205", "212")
    assert row.flags == ["doi_invalid"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "author", "display_name", "source", "last", "middle", "AuthorId", "Name"]), inside, max_size=3
        )
    ),
    max_leaves=6,
)
FIELDS = (
    *(
        "authorships",
        "primary_location",
        "host_venue",
        "open_access",
        "referenced_works",
        "keywords",
        "concepts",
        "biblio",
        "ids",
        "is_retracted",
    ),
    *("authors", "inbound_citations", "outbound_citations", "arxiv_id", "journal", "mag_field_of_study", "s2_url"),
    *("Authors", "References", "FieldsOfStudy", "IndexedAbstract", "SourceUrls", "Year", "JournalId", "OriginalVenue"),
    *("original", "pagination", "doi", "url", "title"),
)


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6))
def test_fields_of_any_shape_cost_no_more_than_themselves(fields: dict[str, Any]) -> None:
    for read, named in ((openalex.read, WORK), (s2orc.read, S2), (mag.read, MAG), (publications.read, {})):
        try:
            row = read({**named, **fields}, 2031)
        except InexactNumber:
            continue
        except NoRecord:
            assert read is publications.read, "the others have their ids"
            continue
        assert row.record_id
