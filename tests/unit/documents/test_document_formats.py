"""Formats other than JATS, and files that are none: recognised by what they hold, refused in one line."""

from __future__ import annotations

import json
import random
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scholarlake.documents.formats import FORMATS, read
from scholarlake.errors import SourceError
from scholarlake.lake import contracts
from tests.unit.documents.making import format_of, jats, only, sentences, text_of, texts

TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>A paper</title></titleStmt><sourceDesc><biblStruct>
<analytic><author><persName><forename>Ana</forename><surname>Bell</surname></persName></author><idno type="DOI">10.1/X</idno></analytic>
<monogr><imprint><date type="published" when="2014-05"/></imprint></monogr></biblStruct></sourceDesc></fileDesc>
<profileDesc><abstract><div><p>Short.</p></div></abstract></profileDesc></teiHeader><text><body>
<div><head n="2">Model</head><p>It works <ref type="bibr">[3]</ref>.</p></div><div><head n="2.1">Parts</head><p>Two.</p>
<formula>a = b <label>(4)</label></formula></div>
<figure><head>Figure 1</head><label>1</label><figDesc>A plot.</figDesc></figure>
<figure type="table"><head>Table 2</head><label>2</label><figDesc>Counts.</figDesc><table><row><cell>a</cell>
<cell>1</cell></row></table></figure>
<note place="foot">A note.</note></body><back><div type="acknowledgement"><p>Thanks.</p></div>
<div type="annex"><head>Proofs</head><p>So.</p></div>
<div type="references"><listBibl><biblStruct><title>Other</title></biblStruct></listBibl></div></back></text></TEI>"""

S2ORC: dict[str, Any] = {
    "paper_id": "77",
    "title": "A paper",
    "year": "2014",
    "authors": [{"first": "Ana", "middle": ["C."], "last": "Bell", "suffix": ""}],
    "pdf_parse": {"body_text": [{"text": "Shards.", "section": ""}]},
    "latex_parse": {
        "abstract": [{"text": "Short.", "section": "Abstract"}],
        "body_text": [
            {
                "text": "With INLINEFORM0 see FIGREF1.",
                "section": "Model",
                "sec_num": "2",
                "eq_spans": [{"text": "INLINEFORM0", "latex": "x^2"}],
            },
            {"text": "Deeper.", "section": "Parts", "sec_num": "2.1"},
        ],
        "ref_entries": {
            "FIGREF1": {"text": "A plot.", "type": "figure", "num": "1"},
            "x": {"text": "Counts.", "type_str": "table", "content": ""},
        },
        "bib_entries": {"BIBREF0": {"title": "Other"}},
    },
}

PUBMED = """<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>9</PMID><Article><Journal><JournalIssue><PubDate>
<MedlineDate>1998 Jan-Feb</MedlineDate></PubDate></JournalIssue></Journal><ArticleTitle>A title.</ArticleTitle>
<ELocationID EIdType="doi">10.1/p</ELocationID>
<Abstract>
<AbstractText Label="AIM">To see. To know.</AbstractText>
<AbstractText Label="RESULTS">H<sub>2</sub>O at 10<sup>-3</sup>.</AbstractText></Abstract>
<AuthorList><Author><LastName>Bell</LastName><ForeName>Ana</ForeName></Author></AuthorList></Article></MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>10</PMID><Article><ArticleTitle>Bare.</ArticleTitle></Article>
</MedlineCitation></PubmedArticle></PubmedArticleSet>"""

MARKDOWN = """---
title: "A paper"
doi: 10.1/m
year: 2014
authors: Ana Bell, Bo Dee
---
# A paper

Ana Bell, Somewhere

## Abstract

Short [text](http://x.y), *with* **marks**.

## 2 Model

It works, as Eq. (1)
shows $a*b*c$.

$$
a = b
$$

- First item.
- Second.

| a | b |
|---|---|
| 1 | 2 |

![A plot.](x.png)

**Figure 3:** A curve.

### 2.1 Parts

Deeper.

## References

1. Other. 2001.

### Notes below

Nothing.

# Appendix

More.
"""


def test_tei_is_read_with_sections_by_their_numbers() -> None:
    document = only(TEI)
    assert (document.about.title, document.about.doi, document.about.year, document.about.authors) == (
        "A paper",
        "10.1/X",
        2014,
        ("Bell, Ana",),
    )
    assert [(block.kind, block.label, block.sections, text_of(document, block)) for block in document.blocks[1:]] == [
        ("abstract", None, (), "Short."),
        ("heading", "2", ("Model",), "Model"),
        ("paragraph", None, ("Model",), "It works [3]."),
        ("heading", "2.1", ("Model", "Parts"), "Parts"),
        ("paragraph", None, ("Model", "Parts"), "Two."),
        ("formula", "(4)", ("Model", "Parts"), "a = b"),
        ("caption", "Figure 1", ("Model", "Parts"), "A plot."),
        ("caption", "Table 2", ("Model", "Parts"), "Counts."),
        ("table", "Table 2", ("Model", "Parts"), "a | 1"),
        ("footnote", None, ("Model", "Parts"), "A note."),
        ("heading", None, ("Proofs",), "Proofs"),
        ("paragraph", None, ("Proofs",), "So."),
    ]


def test_s2orc_is_read_from_its_latex_with_formulas_put_back() -> None:
    document = only(json.dumps(S2ORC))
    assert document.about.ids == ("77",)
    assert document.about.authors == ("Bell, Ana C.",)
    assert [(block.kind, block.label, block.sections, text_of(document, block)) for block in document.blocks[1:]] == [
        ("abstract", None, (), "Short."),
        ("heading", "2", ("Model",), "Model"),
        ("paragraph", None, ("Model",), "With $x^2$ see 1."),
        ("heading", "2.1", ("Model", "Parts"), "Parts"),
        ("paragraph", None, ("Model", "Parts"), "Deeper."),
        ("caption", "Figure 1", (), "A plot."),
        ("caption", "Table", (), "Counts."),
    ]


SPANNED = "A paper\nShort. 😀 it is.\n2 Model\nFirst we see that a = b (4) holds. More.\nSecond.\n2.1 Parts\nThird.\nFigure 1: A plot."


def spanned(place: str, *, as_text: bool = True, **more: Any) -> dict[str, Any]:
    """A paper whose parts are named by where they lie in its text."""

    def at(*words: str, **attributes: str) -> list[dict[str, Any]]:
        found = [{"start": SPANNED.index(word), "end": SPANNED.index(word) + len(word)} for word in words]
        return [{**one, "attributes": attributes} for one in found]

    notes: dict[str, Any] = {
        "title": at("A paper"),
        "abstract": at("Short. 😀 it is."),
        "sectionheader": at("2 Model", n="2") + at("2.1 Parts", n="2.1"),
        "paragraph": at("Short. 😀 it is.", "First we see that a = b (4) holds. More.", "Second.", "Third."),
        "formula": at("a = b (4)"),
        "figurecaption": at("Figure 1: A plot."),
        "bibref": None,
        **more,
    }
    written = {name: json.dumps(spans) if as_text and spans is not None else spans for name, spans in notes.items()}
    return {
        "corpusid": 7,
        "externalids": {"DOI": "10.1/X", "ArXiv": None, "PubMed": "12"},
        place: {"text": SPANNED, "annotations": written},
    }


@pytest.mark.parametrize("value", [spanned("content"), spanned("body", as_text=False), spanned("content", paragraph=None)])
def test_s2orc_of_later_releases_is_read_by_its_annotations(value: dict[str, Any]) -> None:
    document = only(json.dumps(value))
    assert format_of(json.dumps(value)) == "s2orc"
    assert (document.about.title, document.about.doi, document.about.ids) == ("A paper", "10.1/X", ("7", "12"))
    assert [(block.kind, block.sections, text_of(document, block)) for block in document.blocks[1:]] == [
        ("abstract", (), "Short. 😀 it is."),
        ("heading", ("2 Model",), "2 Model"),
        ("paragraph", ("2 Model",), "First we see that"),
        ("formula", ("2 Model",), "a = b (4)"),
        ("paragraph", ("2 Model",), "holds. More."),
        ("paragraph", ("2 Model",), "Second."),
        ("heading", ("2 Model", "2.1 Parts"), "2.1 Parts"),
        ("paragraph", ("2 Model", "2.1 Parts"), "Third."),
        ("caption", ("2 Model", "2.1 Parts"), "Figure 1: A plot."),
    ]
    assert sentences(document)[:2] == ["Short.", "😀 it is."]


@pytest.mark.parametrize(
    "odd", ["no JSON", "7", [{"start": 5}], [{"start": -1, "end": 3}], [{"start": 9, "end": 10**6}], [None], [{"start": True, "end": "x"}]]
)
def test_annotations_that_fit_no_text_are_passed_over(odd: Any) -> None:
    document = only(json.dumps(spanned("content", formula=odd)))
    assert "formula" not in {block.kind for block in document.blocks}
    assert "First we see that a = b (4) holds." in sentences(document)


def test_a_text_without_a_usable_annotation_is_read_line_by_line() -> None:
    document = only('{"corpusid": 1, "content": {"text": "T\\nOne. Two.", "annotations": {}}}')
    assert texts(document, "paragraph") == ["T", "One. Two."]


def test_a_formula_that_s2orc_leaves_out_is_marked() -> None:
    value = {"paper_id": "8", "body_text": [{"text": "With INLINEFORM0 and EQREF1 it holds. Yes.", "section": "A"}]}
    assert sentences(only(json.dumps(value))) == ["With [formula] and EQREF1 it holds.", "Yes."]


def test_s2orc_is_read_line_by_line_and_without_a_parse_of_its_own() -> None:
    flat = {"paper_id": "8", "metadata": {"title": "Flat"}, "abstract": "Whole.", "body_text": [{"text": "Body.", "section": "A"}]}
    found = list(read(b"\n".join(json.dumps(value).encode() for value in (S2ORC, flat)) + b"\n"))
    assert [name for name, _ in found] == ["s2orc", "s2orc"]
    assert [document.about.title for _, document in found] == ["A paper", "Flat"]
    assert sentences(found[1][1]) == ["Whole.", "Body."]


def test_a_lone_surrogate_or_a_nan_costs_a_character_not_the_document() -> None:
    document = only(b'{"paper_id": "8", "body_text": [{"text": "Half a\\ud835b pair.", "start": NaN}]}')
    assert sentences(document) == ["Half a\ufffdb pair."]


def test_labelled_abstracts_are_one_document_a_key_and_the_answer_is_not_read() -> None:
    data = {
        "11": {
            "QUESTION": "Does it?",
            "CONTEXTS": ["To see.", "It was."],
            "LABELS": ["AIM", "RESULTS"],
            "LONG_ANSWER": "Yes it does.",
            "YEAR": "2001",
        }
    }
    document = only(json.dumps(data))
    assert (document.about.ids, document.about.title, document.about.year) == (("11",), "Does it?", 2001)
    assert [(block.label, block.sections) for block in document.blocks if block.kind == "abstract"] == [
        ("AIM", ("AIM",)),
        ("RESULTS", ("RESULTS",)),
    ]
    assert sentences(document) == ["To see.", "It was."]
    assert document.extent == "abstract"


def test_pubmed_citations_are_one_document_each_with_labelled_parts() -> None:
    first, second = (document for _, document in read(PUBMED.encode()))
    assert (first.about.ids, first.about.doi, first.about.year, first.about.authors) == (("9",), "10.1/p", 1998, ("Bell, Ana",))
    assert sentences(first) == ["To see.", "To know.", "H2O at 10^-3."]
    assert [block.sections for block in first.blocks] == [(), ("AIM",), ("RESULTS",)]
    assert second.extent is None


def test_markdown_is_read_without_names_references_and_marks() -> None:
    document = only(MARKDOWN)
    about = document.about
    assert (about.title, about.doi, about.year, about.authors) == ("A paper", "10.1/m", 2014, ("Ana Bell", "Bo Dee"))
    assert [(block.kind, block.label, block.sections, text_of(document, block)) for block in document.blocks[1:]] == [
        ("abstract", None, (), "Short text, with marks."),
        ("heading", "2", ("Model",), "Model"),
        ("paragraph", None, ("Model",), "It works, as Eq. (1) shows $a*b*c$."),
        ("formula", None, ("Model",), "a = b"),
        ("list_item", None, ("Model",), "First item."),
        ("list_item", None, ("Model",), "Second."),
        ("table", None, ("Model",), "a | b\n1 | 2"),
        ("caption", None, ("Model",), "A plot."),
        ("caption", "Figure 3", ("Model",), "A curve."),
        ("heading", "2.1", ("Model", "Parts"), "Parts"),
        ("paragraph", None, ("Model", "Parts"), "Deeper."),
        ("heading", None, ("Appendix",), "Appendix"),
        ("paragraph", None, ("Appendix",), "More."),
    ]


def test_plain_text_has_a_title_headings_of_their_own_line_and_mended_words() -> None:
    head = "On the matter of\nsome things\n\nAna Bell\n\nAbstract\n\nShort. It is.\n\n"
    text = f"{head}1 Introduction\n\nA con-\ntinued word.\n\nREFERENCES\n\n[1] Other.\n"
    document = only(text)
    assert format_of(text) == "text"
    assert document.about.title == "On the matter of some things"
    assert [(block.kind, block.sections) for block in document.blocks[1:]] == [
        ("abstract", ()),
        ("heading", ("Introduction",)),
        ("paragraph", ("Introduction",)),
    ]
    assert texts(document, "paragraph") == ["A continued word."]


def test_the_formats_are_those_of_the_contract() -> None:
    assert set(FORMATS) == set(contracts.DOCUMENT_FORMATS)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"%PDF-1.5 \x00\x01", "binary"),
        (b"\x89PNG\r\n", "binary"),
        (b"a\x00b", "binary"),
        (b"<html><body>x</body></html>", "XML of another kind"),
        (b"<article><body><p>cut", "no well-formed XML"),
        (b"<article><body></article>", "no well-formed XML"),
        (b'{"paper_id": ', "no JSON"),
        (b"\xff\xfeA", "no UTF-8"),
        (b"caf\xe9 au lait", "no UTF-8"),
    ],
)
def test_what_is_no_document_is_refused_in_one_line(data: bytes, why: str) -> None:
    with pytest.raises(SourceError, match=why) as fault:
        list(read(data))
    assert "\n" not in str(fault.value)


def test_json_that_holds_no_document_holds_none() -> None:
    assert list(read(b'{"21645374": "yes"}')) == list(read(b'[{"a": 1}]')) == list(read(b"[]")) == []


# -- XML from strangers ----------------------------------------------------------------------------------------------


def outcome(data: bytes) -> str:
    try:
        return " ".join(document.text for _, document in read(data))
    except SourceError as fault:
        return f"refused: {fault}"


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize("place", ["<p>&l9;</p>", '<p id="&l9;">x</p>'])
def test_a_billion_laughs_end_at_once(place: str) -> None:
    data = jats(place, head=f'<!DOCTYPE article [<!ENTITY l0 "lol">{LAUGHS}]>').encode()
    began = time.process_time()
    said = outcome(data)
    assert time.process_time() - began < 1
    assert said.startswith("refused") or len(said) < 100


def test_one_long_entity_many_times_ends_at_once() -> None:
    data = jats("<p>" + "&a;" * 50_000 + "</p>", head=f'<!DOCTYPE article [<!ENTITY a "{"x" * 50_000}">]>').encode()
    began = time.process_time()
    assert len(outcome(data)) < 1_000_000
    assert time.process_time() - began < 2


def test_an_external_entity_is_not_fetched(tmp_path) -> None:  # type: ignore[no-untyped-def]
    secret = tmp_path / "secret.txt"
    secret.write_text("TOP SECRET")
    for declared in (f'<!ENTITY e SYSTEM "{secret.as_uri()}">', f'<!ENTITY % e SYSTEM "{secret.as_uri()}">%e;'):
        assert "SECRET" not in outcome(jats("<p>a &e; b</p>", head=f"<!DOCTYPE article [{declared}]>").encode())


def test_a_dtd_is_not_fetched_nor_does_it_give_attributes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    dtd = tmp_path / "x.dtd"
    dtd.write_text('<!ENTITY e "FROM THE DTD"><!ATTLIST sec sec-type CDATA "supplementary-material">')
    said = outcome(jats("<sec><p>a &e; b</p></sec>", head=f'<!DOCTYPE article SYSTEM "{dtd.as_uri()}">').encode())
    assert said == "a &e; b"


@pytest.mark.parametrize("tag", ["sec", "p", "italic", "mml:mrow", "sup", "list"])
def test_great_depth_is_refused_or_read_but_never_a_crash(tag: str) -> None:
    for depth in (100, 245, 300, 100_000):
        said = outcome(jats(f"<p>{f'<{tag}>' * depth}x{f'</{tag}>' * depth}</p>").encode())
        assert said.startswith("refused") or said in ("x", "")


def test_json_of_great_depth_is_refused() -> None:
    assert outcome(b'{"body_text": ' + b"[" * 100_000).startswith("refused")
    assert outcome(b'{"body_text": ' + b"[" * 2_000 + b"]" * 2_000 + b"}").startswith("refused")


# -- damage ----------------------------------------------------------------------------------------------------------

SAMPLES = [
    jats(
        "<sec><title>A</title><p>One <xref>1</xref>. Two<sup>2</sup>.</p><table-wrap><table><tr><td>a</td></tr></table></table-wrap></sec>"
    ),
    TEI,
    PUBMED,
    MARKDOWN,
    json.dumps(S2ORC),
    json.dumps({"1": {"CONTEXTS": ["A. B."], "LABELS": ["C"]}}),
]


def sound(data: bytes) -> None:
    """Reading ends, in documents whose blocks and sentences lie where they say, or in a refusal."""
    with suppress(SourceError):
        for _, document in read(data):
            last = 0
            for block in document.blocks:
                assert last <= block.start < block.end <= len(document.text)
                last = block.end
                at = block.start
                for start, end in block.sentences:
                    assert at <= start < end <= block.end
                    assert not document.text[at:start].strip()
                    at = end
            document.text.encode()


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=5_000)
@given(st.sampled_from(SAMPLES), st.integers(0, 2**32), st.integers(1, 12))
def test_a_damaged_file_is_read_or_refused(sample: str, seed: int, changes: int) -> None:
    dice = random.Random(seed)
    data = bytearray(sample.encode())
    for _ in range(changes):
        at, end = sorted((dice.randrange(len(data)), dice.randrange(len(data))))
        match dice.randrange(4):
            case 0:
                data[at] = dice.randrange(256)
            case 1:
                del data[at : min(end, at + 40)]
            case 2:
                data[at:at] = data[at : min(end, at + 200)]
            case _:
                data[at:at] = dice.choice(
                    [b"<p>", b"</p>", b"&amp;", b"&x;", b"\x00", b"\xff", b'"', b"{", b"]", b"null", b"<![CDATA[", b"$$", b"\n\n# "]
                )
        if not data:
            break
    sound(bytes(data))


_NAMES = [
    "paper_id",
    "title",
    "abstract",
    "body_text",
    "text",
    "section",
    "eq_spans",
    "latex",
    "ref_entries",
    "authors",
    "pdf_parse",
    "latex_parse",
    "metadata",
    "CONTEXTS",
    "LABELS",
    "context",
    "type",
    "content",
    "sec_num",
    "year",
    "middle",
    "last",
]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(_NAMES),
        inner,
        max_size=6,
    ),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=5_000)
@given(_JSON)
def test_json_of_any_shape_is_read_or_passed_over(value: object) -> None:
    sound(json.dumps(value).encode())


@settings(max_examples=300, deadline=5_000)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode()))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    sound(data)


_MANY = 20_000
BUSY = {
    "instructions and no root": "<?xml?>" + "<?a?>" * _MANY + "@",
    "white space and no root": "<?xml?>" + " " * _MANY + "@",
    "comments and no root": "<!-- a -->" * _MANY,
    "a type that never ends": "<!DOCTYPE a [" + "]" * _MANY,
    "a heading of blanks": "# a" + " " * _MANY + "b",
    "emphasis": "# T\n\n" + "*a " * (_MANY // 2),
    "links": "# T\n\n[a](b)" + "[" * _MANY,
    "links to nowhere": "# T\n\n" + "[a](b" * _MANY,
    "images": "# T\n\n[a](b)" + "![" * _MANY,
    "images of nothing": "# T\n\n" + "![](" * _MANY,
    "a rule of a table": "# T\n\n| a |\n|--" + " " * _MANY + "x",
    "a paragraph of short lines": "x-\n" * 10 * _MANY,
    "formulas": "# T\n\n" + "$$\n" * _MANY,
    "code": "# T\n\n" + "`" * _MANY,
    "dollars": "# T\n\n" + "$ a " * _MANY,
    "blank lines": "T" + "\n \n" * _MANY,
    "front matter": "---\n" + "a: b\n" * _MANY,
}


@pytest.mark.parametrize("what", BUSY)
def test_a_file_made_to_keep_a_reader_busy_is_read_or_refused_in_no_time(what: str) -> None:
    began = time.process_time()
    with suppress(SourceError):
        list(read(BUSY[what].encode()))
    assert time.process_time() - began < 5  # a tenth of a second; what is not linear takes minutes or for ever
