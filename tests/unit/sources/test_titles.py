"""Titles: plain text, and the fingerprint under which equal ones meet."""

from __future__ import annotations

import pytest

from scholarlake.sources.titles import fingerprint, fold, read_title


def same(left: str, right: str) -> bool:
    keys = [fingerprint(read_title(title)[0]) for title in (left, right)]
    return keys[0] is not None and keys[0] == keys[1]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("<i>Drosophila</i> development", "Drosophila development"),
        ("R&amp;D spending in firms", "R&D spending in firms"),
        ("R&amp;amp;D spending in firms", "R&D spending in firms"),
        ("ＰｒｏＥＸＣ in Cervical Samples", "ProEXC in cervical samples"),
        ("Graph neural networks: a survey", "Graph Neural Networks — A Survey"),
        ("H<sub>2</sub>O in the cold", "H2O in the cold"),
        ("&lt;b&gt;Bold&lt;/b&gt; claims made here", "Bold claims made here"),
        ("Straße und Gasse", "STRASSE UND GASSE"),
        ("Cafe\u0301 culture abroad", "Café culture abroad"),
        ("深度 学习综述", "深度学习综述"),
    ],
)
def test_titles_that_read_alike_share_a_fingerprint(left: str, right: str) -> None:
    assert same(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("深度学习综述", "图神经网络研究"),
        ("Введение в алгебру", "Теория графов и сетей"),
        ("Decay of $\\alpha$ particles", "Decay of $\\beta$ particles"),
        ("C++ in practice today", "C in practice today"),
        ("Sums of a<b and more", "Sums of a>b and more"),
    ],
)
def test_titles_that_differ_in_any_script_keep_apart(left: str, right: str) -> None:
    keys = [fingerprint(read_title(title)[0]) for title in (left, right)]
    assert None not in keys
    assert keys[0] != keys[1]


def test_latex_stays_as_written() -> None:
    assert read_title("On $\\alpha<\\beta$ &amp; <i>more</i>") == ("On $\\alpha<\\beta$ & more", "On $\\alpha<\\beta$ &amp; <i>more</i>")


def test_angle_brackets_that_are_no_markup_stay() -> None:
    for title in ("std::vector<int> in C++", "The case a <b and c> d", "x < y > z", "<foo> and <bar>"):
        assert read_title(title) == (title, None)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "   ",
        None,
        "!!!!!!!!!!!!!!!!",
        "---",
        "Editorial",
        "EDITORIAL",
        "Editorial 12",
        "Introduction",
        "Index",
        "None",
        "Book Reviews",
        "Ten chars",
        "深度学习",
        "Введение",
        "目录",
        "Letter to the Editor",
        "Author's reply",
        "1234567890123",
    ],
)
def test_a_short_generic_or_empty_title_is_no_key(title: str | None) -> None:
    assert fingerprint(read_title(title)[0]) is None


@pytest.mark.parametrize(
    "title", ["Ten chars!", "深度学习论", "ニューラル", "Introduction to algebra", "Indexing of texts", "딥러닝서베이"]
)
def test_ten_characters_or_five_of_a_dense_script_are_a_key(title: str) -> None:
    assert fingerprint(read_title(title)[0]) is not None


def test_a_title_none_is_kept_as_a_title() -> None:
    assert read_title("None") == ("None", None)
    assert read_title("null") == (None, "null")


def test_the_raw_title_is_kept_only_where_it_differs() -> None:
    assert read_title("Plain title") == ("Plain title", None)
    assert read_title("  Two  spaces\n") == ("Two spaces", "  Two  spaces\n")
    assert read_title("a\u0000b\u200bc") == ("abc", "abc")


def test_a_fold_keeps_letters_marks_digits_and_symbols_only() -> None:
    assert fold("Ünïcode, C++ & “x”—²") == "ünïcodec++x2"
    assert fold("हिन्दी लेख") == "हिन्दीलेख"


def test_the_two_ways_to_fold_agree_on_ascii() -> None:
    text = "".join(map(chr, range(128)))
    assert fold(text + "é") == fold(text) + "é"
