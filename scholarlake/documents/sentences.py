"""Where the sentences of a scientific text begin and end, in code points of just this text.

`sentencex` finds the boundaries, on a shadow of the text: as many characters, but with full stops that end no sentence (of
abbreviations, initials, formulas) and brackets and quotes, whose inside it does not look into, made plain letters. Boundaries that are
none after all are dropped. What does not belong here: what a block of text is (`document`).
"""

from __future__ import annotations

import re
from re import Match

from sentencex.sentencex import get_sentence_boundaries

Span = tuple[int, int]

_LETTER, _CAPITAL = "x", "X"  # what a masked character reads as: inside a word, and at its beginning
_ENDS = ".?!…。？！｡"

# Words that begin sentences and hardly any name: behind "et al." or a single letter only these tell that a sentence ended.
_STARTERS = (
    "A|After|All|Also|Although|Among|An|Analy[sz]ed|Analysis|And|Another|Any|As|At|Based|Because|Before|Besides|Both|But|By|Compared|Conceived|Consequently|Considering|Contributed|"
    "Conversely|Despite|Due|During|Each|Either|Even|Every|Finally|First|Firstly|Following|For|Four|From|Further|Furthermore|Given|Hence|Here|"
    "How|However|I|If|Importantly|In|Indeed|Initially|Instead|Interestingly|Is|It|Its|Last|Lastly|Later|Like|Many|Moreover|More|Most|Nevertheless|"
    "Next|No|None|Nor|Not|Note|Notably|Now|Of|On|Once|One|Only|Or|Other|Others|Otherwise|Our|Out|Over|Overall|Particularly|Performed|Previous|"
    "Rather|Recent|Recently|Second|Secondly|Several|Similar|Similarly|Simultaneously|Since|So|Some|Specifically|Subsequently|Such|Surprisingly|"
    "Than|That|The|Their|Then|There|Thereby|Therefore|These|They|Third|This|Those|Though|Three|Through|Throughout|Thus|To|Together|Two|Under|"
    "Unless|Unlike|Until|Upon|Using|Very|Was|We|Were|What|When|Where|Whereas|Whether|Which|While|Who|Why|With|Within|Without|Wrote|Yet|You"
)
_STARTER = re.compile(rf"\s+[(\[\"“‘']*(?:{_STARTERS})\b")

# Words written with a full stop: as they are listed, or with a capital too.


def _as_is(words: str) -> list[str]:
    return words.split()


def _either(words: str) -> list[str]:
    return [spelled for word in words.split() for spelled in (word, word[0].upper() + word[1:])]


# Behind these a full stop ends no sentence.
_ALWAYS = [
    *_either("e.g i.e cf vs viz approx resp ca dr prof excl exl incl est def para"),
    *_as_is("w.r.t i.i.d a.k.a s.t f.sp ed eds subsp ssp Mr Mrs Ms St Hon Rev Gen Col Sgt Capt Lt Sen Rep Gov Pres"),
    *_as_is("Cand Phys Nucl Mod Lett Proc Acad Univ Dept Natl Int Intl Biol Chem Comput Trans Assoc Amer Geophys Astrophys Opt"),
]
# Behind these it ends none where a number, a letter or an opening bracket follows, as in "Fig. 3" and "Eq. (3)".
_LABELLED = [
    *_either("fig figs eq eqs eqn eqns ref refs sec secs sect sects tab tabs ch chs chap chaps no nos vol vols app art ext sup supp suppl"),
    *_either("thm thms lem prop cor defn coll ser iss pt alg ver lat long"),
    *_as_is("FIG FIGS EQ p pp Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"),
]
# Behind these a sentence may end: it does where one of the words above follows.
_PERHAPS = [
    *_either("sp spp inc ltd co corp jr sr"),
    *_as_is("al etc var str cv r.h.s l.h.s equiv max min avg temp conc wt vol lab U.S U.K Ph.D M.D"),
]
# What each word is; of one that is in two lists, the earlier list counts.
_KINDS = {word: kind for kind, words in (("perhaps", _PERHAPS), ("labelled", _LABELLED), ("always", _ALWAYS)) for word in words}
_LONGEST = max(map(len, _KINDS))
_WORD = re.compile(rf"(?<![\w.])[\w.]{{1,{_LONGEST}}}\Z")
# The same with blanks between their letters: "e. g.".
_SPACED = re.compile(r"(?<![\w.])(?:[eE]\. g|[iI]\. e|w\. r\. t|i\. i\. d|a\. k\. a|s\. t|f\. sp|[rl]\. h\. s)\Z")
_SPACED_END = frozenset(("g", "e", "t", "d", "a", "sp", "s"))
_LABEL_FOLLOWS = re.compile(r"\s*(?:[\d(\[{#§$]|[A-Z]\d|[A-Z]\b|[IVXivx]+\b)")
# Most stops are plain: behind a word of some letters, and before white space, or inside a number. These are the others.
_PLAIN_LETTERS = 4
_TAILS = "|".join(sorted({word[-_PLAIN_LETTERS:] for word in _KINDS if re.search(rf"[a-z]{{{_PLAIN_LETTERS}}}\Z", word)}))
_STOP = re.compile(rf"[.?!…](?!(?<=\d\.)\d)(?:(?<![a-z]{{{_PLAIN_LETTERS}}}\.)|(?<=(?:{_TAILS})\.)|(?=[\d)\]}}\"'”’»\[]|\s[\d\[]))")
# What follows the full stop but belongs before it: closing brackets and quotes, and marks of citations, ".[12]", ". [3, 4]", ".5,6".
_BEHIND_STOP = re.compile(r"(?:[)\]}\"'”’»]|\s?\[\d+(?:\s?[,;–-]\s?\d+)*\])+(?=\s+[^\s.,;:)\]]|\s*\Z)")
_RAISED_CITATION = re.compile(r"\d{1,3}(?:[,–-]\d{1,3})*(?=\s+[^\W\d_a-z])")
# The mark of a footnote with blanks around it, as PDFs give it: ". 4 As such". A number that begins a sentence has another word behind it.
_FOOTNOTE = re.compile(rf"\s\d{{1,2}}(?=\s+(?:{_STARTERS})\b)")
_FORMULA = re.compile(
    r"\$\$.{1,4000}?\$\$|(?<![\\$])\$[^$]{1,1000}\$|\\\((?:(?!\\\().){1,1000}?\\\)|\\\[(?:(?!\\\[).){1,4000}?\\\]", re.DOTALL
)
_IN_FORMULA = re.compile(r"[.?!…()\[\]{}<>\"' $]")
_MARK, _OTHER_MARKS = "(", ")[]{}<>\"'`"
_BEYOND_ASCII = "“”‘’«»‹›„「」『』【】《》（）¿¡"
_SHORT_WORD = re.compile(r"[^\w]([^\W\d_]{1,3})\Z")
_PROSE = re.compile(r"[.?!]\s+[A-Z][a-z]")
_UNSPACED = re.compile(r"[^\W\d_]{3,}[\])}]*[.?!]\Z|[\])}][.?!]\Z")
_CLOSING, _GOES_ON = "\"'”’»", tuple(",;:)]}%.?!")
_STARTS = re.compile(rf"(?:{_STARTERS})\b")
_FAR = 200  # characters beyond which nothing is looked for
_WORDLESS = re.compile(r"[\W\d_]*\Z")
# A sentence may begin with a lower-case letter that belongs to a term: p-values, mRNA, iPS, α-synuclein.
_TERM = re.compile(r"[a-zα-ω]{1,3}(?:[A-Z\-–]|\d+[a-z]*[A-Z])")
_LONGEST_LABEL = 8  # characters, but for brackets and stops behind it
_LABEL = re.compile(r"[(\[]?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[)\].]*\Z")


def split(text: str) -> list[Span]:
    """The sentences of a text as (start, end) in code points, in order; text[start:end] has no white space around it.

    Between two sentences there is nothing but white space, and none overlap: together they hold every other character.
    """
    spans: list[Span] = []
    shadow = _shadow(text)
    start = 0
    for boundary in get_sentence_boundaries("en", shadow):
        end = boundary["end_index"]
        if end - start > _LONGEST_LABEL and _is_plain_end(text, shadow, start, end):
            spans.append((start, end - 1))
            start = end
        elif end < len(text) and _is_end(text, shadow, start, end):
            _append(spans, text, start, end)
            start = end
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        start += len(piece) - len(piece.lstrip())
        spans.append((start, start + len(stripped)))


def _shadow(text: str) -> str:
    """The same number of characters, in which only what may end a sentence looks like it."""
    if "$" in text or "\\" in text:
        text = _FORMULA.sub(_mask_formula, text)
    edits = _Edits()
    for found in _STOP.finditer(text):
        _judge_stop(text, found.start(), edits)
    return _without_marks(edits.applied(text))


def _without_marks(text: str) -> str:
    """Brackets and quotes as letters: a capital where they open, since a sentence may begin there. A character at a time is replaced,
    which takes a tenth of what an expression takes."""
    for mark in _OTHER_MARKS if text.isascii() else _OTHER_MARKS + _BEYOND_ASCII:
        text = text.replace(mark, _MARK)
    if text.startswith(_MARK):
        text = _CAPITAL + text[1:]
    return text.replace(" " + _MARK, " " + _CAPITAL).replace(_MARK, _LETTER)


class _Edits:
    """Characters of a text that are to be others, in order."""

    def __init__(self) -> None:
        self._places: list[int] = []
        self._instead: list[str] = []

    def put(self, at: int, instead: str) -> None:
        """Have those characters from a place on. It lies behind that of the edit before, or in it, whose rest then counts no more."""
        if self._places and at < self._places[-1] + len(self._instead[-1]):
            self._instead[-1] = self._instead[-1][: at - self._places[-1]]
        self._places.append(at)
        self._instead.append(instead)

    def applied(self, text: str) -> str:
        pieces: list[str] = []
        last = 0
        for at, instead in zip(self._places, self._instead, strict=True):
            pieces += (text[last:at], instead)
            last = at + len(instead)
        return "".join((*pieces, text[last:])) if pieces else text


def _judge_stop(text: str, at: int, edits: _Edits) -> None:
    """Make a stop that ends no sentence a letter, and one that does stand where it is seen."""
    stop, before, before_that = text[at], text[at - 1 : at], text[at - 2 : at - 1]
    if stop != ".":
        if before.isspace() and text[at + 1 : at + 2].isspace():
            edits.put(at, _LETTER)  # a factorial, an arrow that a PDF lost: no exclamation
            return
    elif before.isalpha():
        if _is_abbreviation(text, at):
            edits.put(at, _LETTER)
            return
        word = _SHORT_WORD.search(text, max(0, at - 4), at)
        if word is not None:
            begins = _STARTER.match(text, at + 1) is not None
            if _is_initial(text, word.start(1), at) and not begins:
                if at + 1 < len(text):
                    edits.put(at, _LETTER)  # initials and genera: "S. D. Smith", "E. coli"
                return
            if begins or at - word.start(1) == 1:
                edits.put(word.start(), _LETTER)  # "for 72 h. The", "at 37°C. We": short words are taken for abbreviations
    elif before in ")]}" and before_that.isspace():
        edits.put(at - 2, _LETTER)  # so is a bracket that stands by itself: "( CGHS ). The"
    behind = _BEHIND_STOP.match(text, at + 1)
    if behind is None and (before.isalpha() or before in ")]"):
        behind = _RAISED_CITATION.match(text, at + 1)
    if behind is None and stop == ".":
        behind = _FOOTNOTE.match(text, at + 1)
    if behind is not None:
        edits.put(at, _LETTER * (behind.end() - at - 1) + stop)


def _is_initial(text: str, begin: int, at: int) -> bool:
    """Whether one capital stands there by itself, or behind another's stop or hyphen: "J.-P.", "J-P.", but not "DPPH-H."."""
    if at - begin != 1 or not text[begin].isupper():
        return False
    if begin and text[begin - 1] in "-–":
        return text[begin - 2 : begin - 1] in "." or (text[begin - 2].isupper() and not text[max(0, begin - 3) : begin - 2].isalnum())
    return begin == 0 or text[begin - 1].isspace() or text[begin - 1] in ".([\"'“‘"


def _is_abbreviation(text: str, at: int) -> bool:
    """Whether the full stop there is an abbreviation's, and no sentence ends with it."""
    if at + 1 == len(text):
        return False
    found = _WORD.search(text, max(0, at - _LONGEST), at)
    if found is None:
        return False
    kind = _KINDS.get(word := found.group())
    if kind is None and word in _SPACED_END:
        kind = "always" if _SPACED.search(text, max(0, at - _LONGEST), at) else None
    if kind == "labelled":
        return _LABEL_FOLLOWS.match(text, at + 1) is not None
    return kind == "always" or (kind == "perhaps" and _STARTER.match(text, at + 1) is None)


def _mask_formula(found: Match[str]) -> str:
    """A formula as one word. A full stop inside its end is that of the sentence."""
    formula = found.group()
    if _PROSE.search(formula):
        return formula  # two prices, not a formula
    masked = _CAPITAL + _IN_FORMULA.sub(_LETTER, formula[1:])
    return masked[:-1] + "." if formula.rstrip("$\\)] ").endswith((".", "?", "!")) else masked


def _is_plain_end(text: str, shadow: str, start: int, end: int) -> bool:
    """Whether what most sentences end with stands there: a stop, one blank, a capital. `_is_end` agrees, and takes longer."""
    return (
        end < len(text)
        and "A" <= text[end] <= "Z"
        and text[end - 1] == " "
        and shadow[end - 2] in ".?!"
        and text[start + _LONGEST_LABEL].isalpha()  # so it is no label, nor without words
        and not text[start].isspace()
    )


def _is_end(text: str, shadow: str, start: int, end: int) -> bool:
    """Whether a sentence from start ends before end, and another begins there."""
    after = text[end : end + 40].lstrip()
    if not after or _is_wordless(text, end, len(text)):
        return not after  # what is left is a number behind a formula, or nothing
    stop = end
    while stop > start and shadow[stop - 1].isspace():
        stop -= 1
    if "\n\n" in text[stop:end]:
        return True
    if shadow[stop - 1 : stop] not in _ENDS or stop == start:
        return False
    if _is_wordless(shadow, start, stop) or (stop - start < _FAR and _LABEL.match(text[start:stop].lstrip())):
        return False  # "3." before a heading, "(2)" behind a formula
    if after.lstrip(_CLOSING)[:1] in _GOES_ON or (after[0].islower() and not _TERM.match(after)):
        return False
    if stop == end and not text[end].isspace():  # a lost space, or a name such as math.AG
        return bool(_UNSPACED.search(text, max(start, end - _FAR), end) and _STARTS.match(after))
    return True


def _is_wordless(text: str, start: int, stop: int) -> bool:
    """Whether a short stretch holds no letter. A long one would be looked at again for every number in it."""
    return stop - start < _FAR and _WORDLESS.match(text, start, stop) is not None
