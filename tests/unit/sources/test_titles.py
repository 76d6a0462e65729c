"""Titles: plain text, and the fingerprint under which equal ones meet."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.sources.folding import fold, fold_lines
from scholarlake.sources.marks import is_withdrawn
from scholarlake.sources.plain import texts_of
from scholarlake.sources.titles import fingerprint, fingerprints, read_title


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
        ("INTRODUCTION TO GRAPH KERNELS", "Introduction to graph kernels"),
        ("R&amp;amp;lt;D in the firm", "R<D in the firm"),
        ("&amp;lt;i&amp;gt;In vitro&amp;lt;/i&amp;gt; growth", "In vitro growth"),
        # Arabic: marks of direction, tatweel, Persian letters; Hebrew: marks of direction and maqaf
        ("\u202bالتعلم العميق للآلة\u202c", "التعلم العميق للآلة"),
        ("\u200fالتعلـــم العميق للآلة", "التعلم العميق للآلة"),
        ("یادگیری عمیق کتاب‌ها", "يادگيري عميق كتابها"),
        ("\u200eלמידה עמוקה של מכונות", "למידה\u05beעמוקה של מכונות"),
        # Thai, Devanagari, Vietnamese, Korean: composed and decomposed, joined and not
        ("การเรียนรู้เชิงลึก ของเครื่อง", "การเรียนรู้เชิงลึกของเครื่อง"),
        ("क़ानून का इतिहास और समाज", "क\u093cानून का इतिहास और समाज"),
        ("Nghiên cứu tiếng Việt", unicodedata.normalize("NFD", "NGHIÊN CỨU TIẾNG VIỆT")),
        ("Nghiên cứu tiếng Vi\u0323\u0302t", "Nghiên cứu tiếng V\u1ecb\u0302t"),
        ("딥러닝 서베이 논문", unicodedata.normalize("NFD", "딥러닝 서베이 논문")),
        # Turkish, Greek, Georgian
        ("IŞIK HIZININ ÖLÇÜMÜ", "Işık hızının ölçümü"),
        ("DİJİTAL DÖNÜŞÜM", "Dijital dönüşüm"),
        ("ΛΌΓΟΣ ΚΑΙ ΜΎΘΟΣ", "Λόγος και μύθος"),
        ("ΙΣΤΟΡΙΑ ΤΗΣ ΤΕΧΝΗΣ", "ιστορια της τεχνης"),
        # typography
        ("Eﬃcient ﬁltering of ﬂows", "Efficient filtering of flows"),
        ("Œuvres complètes de Fermat", "Oeuvres complètes de Fermat"),
        ("ᴅ-Glucose and ʟ-lysine uptake", "D-glucose and L-lysine uptake"),
        ("𝐷eep 𝓁earning of 𝕏 and 𝛼", "Deep learning of X and α"),
        ("Structure−activity relationships", "Structure-activity relationships"),
        ("Alzheimer´s disease today", "Alzheimer's disease today"),
        ("Alzheimer`s disease today", "Alzheimerʼs disease today"),
        ("On C∗-algebras of graphs", "On C*-algebras of graphs"),
        ("A note on finite groups†", "A note on finite groups"),
        ("A note on finite groups ☆☆", "A note on finite groups"),
        ("A note on finite groups*†‡§¶", "A note on finite groups"),
        ("A note on finite groups¹", "A note on finite groups"),
        ("Botox® and Aspirin™ compared", "Botox and Aspirin compared"),
        ("H₂O and CO₂ at 10⁵ Pa", "H<sub>2</sub>O and CO<sub>2</sub> at 10<sup>5</sup> Pa"),
        ("∆9-tetrahydrocannabinol use", "Δ9-tetrahydrocannabinol use"),
        ("日本語の研究〜その歴史〜", "日本語の研究～その歴史～"),
        ("A heart ❤\ufe0f and its beats", "A heart ❤ and its beats"),
        # TeX, JATS, MathML
        ("$\\alpha$-synuclein in the brain", "α-synuclein in the brain"),
        ('The Schr\\"odinger equation', "The Schrödinger equation"),
        ("Poincar\\'{e} and {\\it his} group", "Poincaré and his group"),
        ("H$_2$O at $10^{5}$ Pa in $\\mathcal{N}=4$", "H₂O at 10⁵ Pa in N=4"),
        ("Alzheimer\\'s disease today", "Alzheimer's disease today"),
        ('A \\"new\\" look at l\\\'eau', "A “new” look at l’eau"),
        (
            '<mml:math altimg="si1.gif" xmlns:mml="http://www.w3.org/1998/Math/MathML">\n<mml:msub><mml:mi>H</mml:mi><mml:mn>2</mml:mn>'
            "</mml:msub></mml:math>O in the cold",
            "H2O in the cold",
        ),
        (
            "Decay of <jats:inline-formula><jats:alternatives><jats:tex-math>\\documentclass[12pt]{minimal} \\usepackage{amsmath} "
            "\\begin{document}$$\\alpha$$\\end{document}</jats:tex-math><mml:math><mml:mi>α</mml:mi></mml:math></jats:alternatives>"
            "</jats:inline-formula> particles",
            "Decay of α particles",
        ),
        ("<math><semantics><mi>x</mi><annotation encoding='TeX'>x</annotation></semantics></math> in the cold sea", "x in the cold sea"),
        # notes about the record
        ("Deep learning of graphs [Article in Chinese]", "Deep learning of graphs"),
        ("[Deep learning of graphs (author's transl)]", "Deep learning of graphs"),
        ("Deep learning of graphs (in Russian)", "Deep learning of graphs."),
        ("[Deep learning of graphs].", "Deep learning of graphs"),
        ("图神经网络研究综述 [A review of graph neural networks]", "图神经网络研究综述"),
        ("Теория больших графов = Theory of large graphs", "Теория больших графов"),
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
        ("Binding of H+ to water", "Binding of H\u2212 to water"),
        ("Сорока на хвосте", "Copoка на хвосте"),  # Cyrillic and Latin letters that look alike
        ("Введение в анализ", "Bведение в анализ"),
        ("Phase diagram of α-Fe", "Phase diagram of a-Fe"),
        ("Deep learning: a survey", "Deep learning of things"),
        ("Deep learning for graphs: a survey", "Deep learning for graphs"),  # a missing subtitle is no evidence
        ("Retraction note to: Deep learning", "Deep learning and more"),
        ("Effects of x\u0302 on the mean", "Effects of x on the mean"),
        ("Graph kernels (part one)", "Graph kernels (part two)"),
        ("Graph kernels [part one]", "Graph kernels [part two]"),
        ("Growth in CHO cells (hamster)", "Growth in CHO cells (mouse)"),
        ("दिल की बीमारी का अध्ययन", "दल की बीमारी का अध्ययन"),  # marks are letters' equals
        ("การเรียนรู้เชิงลึก", "การเรียนรูเชิงลึก"),
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
        "Editorial: January 2012",
        "News, Spring 2010",
        "Author Index Vol. 44 No. 3",
        "[Retracted]",
        "(in Russian)",
        "\u3164\u3164\u3164\u3164\u3164\u3164",
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


RETRACTED = (
    "RETRACTED: {}",
    "RETRACTED ARTICLE: {}",
    "Retracted: {}",
    "[Retracted] {}",
    "[RETRACTED ARTICLE] {}",
    "(Retracted) {}",
    "{} [Retracted]",
    "{} (Retracted article. See vol. 389, pg. 1 (2010))",
    "{} - RETRACTED",
    "{} — retracted article",
    "WITHDRAWN: {}",
    "Withdrawn. {}",
    "REMOVED: {}",
    "TEMPORARY REMOVAL: {}",
    "Retracted and republished: {}",
    "This article has been retracted: {}",
    "Notice of Retraction: {}",
    "Notice of Retraction {}",
    "Notice of Violation of IEEE Publication Principles: {}",
    "撤稿：{}",
    "【撤回】{}",
    "[철회] {}",
    "ОТОЗВАНА: {}",
    "Статья отозвана. {}",
    "ARTÍCULO RETRACTADO: {}",
    "Artigo retratado: {}",
    "RÉTRACTÉ : {}",
    "ZURÜCKGEZOGEN: {}",
    "GERİ ÇEKİLDİ: {}",
    "<b>RETRACTED</b>: {}",
)


@pytest.mark.parametrize("form", RETRACTED)
def test_a_mark_of_retraction_is_no_part_of_the_work_s_name(form: str) -> None:
    marked, clean = read_title(form.format("Graph kernels for molecules"))[0], "Graph kernels for molecules"
    assert marked
    assert is_withdrawn(unicodedata.normalize("NFC", marked))
    assert same(marked, clean)
    assert marked != clean, "the title stays as it was given"


@pytest.mark.parametrize(
    "title",
    [
        "Retraction note to: Graph kernels for molecules",
        "Retraction: Graph kernels for molecules",
        "Notice of retraction of two papers on kernels",
        "Retraction notice to “Graph kernels for molecules” [Cell 12 (2003) 1]",
        "撤稿声明：图神经网络研究",
        "Retracted articles: a survey of forty years",
        "Retracted-article counts over time",
        "Why papers are retracted",
        "Removed: a memoir of exile",
        "Removal of lead from water",
        "Fate of withdrawn drugs (withdrawn from the market) in rats",
        "Graph kernels for molecules",
    ],
)
def test_a_notice_and_a_study_of_retractions_are_works_themselves(title: str) -> None:
    assert not is_withdrawn(title)


def test_a_notice_is_not_the_work_that_it_is_about() -> None:
    assert not same("Retraction note to: Graph kernels for molecules", "Graph kernels for molecules")


SCRAPS = (
    *(
        "RETRACTED: ",
        "[Article in Chinese]",
        " (in Russian)",
        " = ",
        "\\alpha",
        "\\'e",
        "\\",
        "$",
        "^2",
        "Ι\u0345",
        "ŉ",
        "ΐ",
        "ẞ",
        "ſ",
        "İ",
        "ı",
        "i\u0307",
    ),
    *(
        "ﬃ",
        "ǆ",
        "\u0345",
        "\u200d",
        "\u00ad",
        "\u0301",
        "\u0323",
        " ",
        "-",
        "\u2212",
        "²",
        "¹",
        "™",
        "´",
        "ς",
        "Σ",
        "Ω",
        "Å",
        "한",
        "ᄒ",
        "ᅡ",
        "深度",
        "が",
        "か\u3099",
    ),
    *(
        "ｶﾞ",
        "क\u093c",
        "ุ",
        "ู",
        "ี",
        "ـ",
        "ی",
        "œ",
        "Æ",
        "&amp;",
        "&lt;i&gt;",
        "<i>",
        "</i>",
        "∗",
        "☆",
        "〜",
        "～",
        "Ⅷ",
        "㎏",
        "graph",
        "a",
        "B",
    ),
)
titles = st.one_of(
    st.lists(st.sampled_from(SCRAPS), max_size=8).map("".join), st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)


@given(titles)
def test_folding_twice_is_folding_once(title: str) -> None:
    title = title.replace("\u2212", "-")  # what stands between two letters is only known before the rest is gone
    assert fold(fold(title)) == fold(title)


@given(titles)
def test_a_fold_does_not_see_case_normal_form_or_punctuation(title: str) -> None:
    if "\\" in title:
        return  # commands of TeX are spelled in one case
    title = "".join(sign for sign in title if sign not in "⁰¹²³⁴⁵⁶⁷⁸⁹")  # footnotes stand behind four letters: Ruß has three, RUSS four
    wanted = fold(title)
    for form in ("NFC", "NFD"):
        assert fold(unicodedata.normalize(form, title)) == wanted
    title = unicodedata.normalize("NFC", title)  # marks in another order than theirs are cased wrongly
    for spelt in (title.upper(), title.lower(), title.casefold(), title.swapcase()):
        assert fold(spelt) == wanted
    assert fold(f"“{title}”!") == wanted


@given(titles)
def test_a_title_that_is_read_again_is_the_same(title: str) -> None:
    read = read_title(title)[0]
    assert read_title(read)[0] == read
    assert fingerprint(read) == fingerprint(read and unicodedata.normalize("NFD", read)) == fingerprints(texts_of([read]))[0]


@given(st.lists(titles.map(lambda title: " ".join(title.replace("\\", "").split()))))
def test_lines_folded_together_are_folded_as_each(lines: list[str]) -> None:
    assert fold_lines("\n".join(lines)).decode().split("\n") == ([fold(line) for line in lines] or [""])


def test_the_two_ways_to_fold_agree_on_ascii() -> None:
    text = "".join(map(chr, range(128)))
    assert fold(text + "é") == fold(text) + "é"
