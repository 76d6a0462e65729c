"""The sentence map: where scientific sentences end, to the code point."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.documents.sentences import split


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


@pytest.mark.parametrize(
    "text",
    [
        "As Fig. 3 and Figs. 4 and 5 show, growth was slow.",
        "This follows from Eq. (3) and Eqs. 4-6 of ref. 7, see also Sec. IV.",
        "Some species, e.g. E. coli and B. subtilis, i.e. bacteria, grew vs. controls, cf. Table 2.",
        "We follow S. D. Smith, J.-P. Serre and J.H. Kim, who agree with Jones et al. (2009) on it.",
        "Values of 3.5 to 7.25 at pH 7.4 took approx. 2.5 h in no. 5 of vol. 12.",
        "Taking $x = 1. 5$ and \\(y. z\\) gives the value of $$a. b$$ here.",
        "The text of ... three dots goes on, as does the factorial n ! of it.",
        "Plasmodium spp. from Dr. Brown of the U.S. Navy were sp. nov. at most; semicolons; do not end it.",
        "Reagents (1.2 equiv. each), in H. sapiens, were bought (Acme Inc., Boston).",
        "Phys. Rev. Lett. and Nucl. Phys. B are journals.",
        "It is ‘Cand. P. ubique’, as J-P. Serre says.",
        'Given the string "a database of facts . . . ", the model names it.',
    ],
)
def test_this_is_one_sentence(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "parts",
    [
        ["The pH was 7.4.", "It rose."],
        ["Smith et al. said so in 2001.", "We disagree."],
        ["This was shown by Smith et al.", "The method works with mice, rats, etc.", "However, it is slow."],
        ["It grew.[12]", "It died. [3, 4]", "We saw it."],
        ["The rate fell.5,6", "But why?"],
        ["Cells waited for 72 h.", "The medium was at 37°C.", "We took group B.", "It was of length L.", "This is all."],
        ["Is it so?", "Yes!", "“He said so.”", "(It is known.)", "[See there.]", "We agree..."],
        ["For all n we have $x = y.$", "The proof is short."],
        ["The price was $5.", "Later it was $6 or more."],
        ["Rates differed (P < 0.05).", "They were low ( see below ).", "None was > 3."],
        ["Counts were log-transformed.", "p-values were small.", "mRNA was low.", "α-synuclein was not."],
        ["This is so. 4", "As such, it is no mark of 2 things.", "12 mice were seen."],
        ["We reduced DPPH-H.", "1 mg of it was left."],
        ["Supersymmetry is not necessary.", "When it breaks, all is well."],
    ],
)
def test_these_are_sentences_of_their_own(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


def test_a_lost_space_ends_a_sentence_and_a_dotted_name_does_not() -> None:
    assert sentences("It was seen in many cancers[47].The rate of it rose.") == ["It was seen in many cancers[47].", "The rate of it rose."]
    assert sentences("See math.AG and Comm.Math.Phys for it.") == ["See math.AG and Comm.Math.Phys for it."]


def test_the_number_of_an_equation_is_no_sentence() -> None:
    assert sentences("We have a = b. (3)") == ["We have a = b. (3)"]
    assert sentences("2. The second point is this.") == ["2. The second point is this."]


def test_offsets_count_code_points_also_beyond_the_basic_plane() -> None:
    text = "𝛼 is a letter. 😀 is none. B\u0301 has two, ﬁne."
    assert split(text) == [(0, 14), (15, 25), (26, 42)]
    assert sentences(text)[1] == "😀 is none."


def test_an_empty_line_ends_a_sentence_whatever_stands_before_it() -> None:
    assert sentences("A heading\n\nThe text") == ["A heading", "The text"]


@pytest.mark.parametrize(
    "text",
    [
        *("So?" + ")" * 5_000 + "x", "1. " * 20_000, "a. " * 20_000, "x.)" * 20_000, "\\[" * 20_000, "\\(" * 20_000, "$$" * 20_000),
        *("( " * 20_000, ". " * 20_000, "[1]. " * 10_000, ". [1]" * 10_000, "A. " * 20_000, "\u00a0." * 20_000, "x.[" * 20_000),
    ],
    ids=lambda text: repr(text[:6]),
)
def test_a_text_made_to_keep_the_splitter_busy_is_split_in_no_time(text: str) -> None:
    began = time.process_time()
    sentences(text)
    assert time.process_time() - began < 5  # a tenth of a second; what is not linear takes minutes or for ever


def test_nothing_has_no_sentences() -> None:
    assert split("") == split(" \n\u00a0 ") == []


_PIECES = st.sampled_from(
    ["The ", "we ", ". ", ".", "? ", "! ", "…", "Fig. 3 ", "et al. ", "[12]", "(", ")", "“", "”", "$", "$x.$ ", "\\(", "\n", "\n\n",
     "\u00a0", "\u2028", "E. coli ", "1.5 ", "72 h. ", "𝛼", "😀", "\ud7ff", "。", "ß", "İ", "\x1c", "\x85",
     ",", "; ", "A. ", "b. ", "\\]", "'", "²"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=300), st.lists(_PIECES, max_size=60).map("".join)))
def test_sentences_cover_all_but_white_space_in_order_without_overlap(text: str) -> None:
    last = 0
    for start, end in split(text):
        assert last <= start < end <= len(text)
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip()
        last = end
    assert not text[last:].strip()
