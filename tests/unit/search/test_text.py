"""How text becomes words, on both sides of the keyword index."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.search.text import MAX_TERMS, TOKENIZER, expression, index_text, terms_of, words


def found(text: str, *terms: str) -> bool:
    """Whether SQLite finds the text by the terms."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE keyword USING fts5 (text, content='', tokenize=\"{TOKENIZER}\")")
    connection.execute("INSERT INTO keyword(rowid, text) VALUES (1, ?)", (index_text(text),))
    query = expression(terms)
    return query is not None and bool(connection.execute("SELECT rowid FROM keyword WHERE keyword MATCH ?", (query,)).fetchall())


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Spread of COVID-19 in cities", "COVID-19"),
        ("Spread of COVID-19 in cities", "covid"),
        ("Programming in C++", "C++"),
        ("Programming in C++11", "c++"),
        ("A survey of C# compilers", "C#"),
        ("Aggregation of α-synuclein", "α-synuclein"),
        ("O’Brien's theorem", "O'Brien"),
        ("Graph neural networks", "network"),
        ("Étude des réseaux", "etude"),
        ("Введение в алгебру", "АЛГЕБРУ"),
        ("हिन्दी पाठ का विश्लेषण", "हिन्दी"),
        ("تحليل النصوص العربية", "النصوص"),
        ("ＰｒｏＥＸＣ", "ProEXC"),
        ("R&D spending", "R&D"),
        ("深度学习综述", "深度学习综述"),
        ("深度学习综述", "学习"),
        ("深度学习综述", "习综述"),
        ("深度学习综述", "述"),
        ("深度学习综述", "深"),
        ("ディープラーニングの応用", "ラーニング"),
        ("한국어의 형태소 분석", "한국어"),
        ("การเรียนรู้เชิงลึก", "เรียนรู้"),
        ("BERT模型压缩", "BERT模型"),
        ("BERT模型压缩", "模型压缩"),
        ("NEAR OR NOT AND title:x", "NOT"),
        ('say "hello" to * ^ models', '"hello"'),
    ],
)
def test_a_term_is_found_as_a_reader_would_expect(text: str, term: str) -> None:
    assert found(text, term)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Vitamin C in fruit", "C++"),
        ("Vitamin C in fruit", "C#"),
        ("图神经网络研究", "深度学习"),
        ("Learning deep structure", "deep learning"),
        ("学深习", "学习"),
        ("Models of memory", "COVID-19"),
    ],
)
def test_a_term_does_not_find_what_only_looks_alike(text: str, term: str) -> None:
    assert not found(text, term)


@pytest.mark.parametrize("term", ["", " ", "+-*/", '"', "'", "()", "…", "\x00", "\ud835", "🙂"])
def test_a_term_without_a_letter_or_digit_asks_for_nothing(term: str) -> None:
    assert expression([term]) is None
    assert words([term]) == []


def test_any_of_the_terms_is_enough() -> None:
    assert found("Quantum gravity", "biology", "gravity", "")


@given(st.lists(st.text(st.characters(), max_size=40), max_size=6))
@settings(max_examples=400, deadline=None)
def test_no_text_in_any_script_makes_sqlite_raise(terms: list[str]) -> None:
    found("some text 深度学习", *terms)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
@settings(max_examples=400, deadline=None)
def test_a_text_of_assigned_letters_finds_itself(text: str) -> None:
    kept = "".join(c for c in text if c < "\u0500" or "\u3041" <= c <= "\u9fff")  # letters that SQLite's older tables know too
    if expression([kept]) is not None:
        assert found(kept, kept)


def test_a_pasted_page_is_cut_to_so_many_terms() -> None:
    asked = expression(f"word{number}" for number in range(10_000))
    assert asked is not None
    assert asked.count(" OR ") == MAX_TERMS - 1


def test_a_typed_line_keeps_what_stands_in_quotes_together() -> None:
    assert terms_of('graph "neural network" C++ ""') == ["graph", "neural network", "C++"]
