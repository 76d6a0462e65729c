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

# Behind these a full stop ends no sentence.
_ALWAYS = (
    "[eE]\\.\\s?g|[iI]\\.\\s?e|[cC]f|[vV]s|[vV]iz|[aA]pprox|[rR]esp|[cC]a|w\\.\\s?r\\.\\s?t|i\\.\\s?i\\.\\s?d|a\\.\\s?k\\.\\s?a|s\\.\\s?t|"
    "[Dd]r|[Pp]rof|Mr|Mrs|Ms|St|Hon|Rev|Gen|Col|Sgt|Capt|Lt|Sen|Rep|Gov|Pres|"
    "Phys|Nucl|Mod|Lett|Proc|Acad|Univ|Dept|Natl|Int|Intl|Biol|Chem|Comput|Trans|Assoc|Amer|Geophys|Astrophys|Opt|"
    "subsp|ssp|f\\.\\s?sp|[eE]xc?l|[iI]ncl|[eE]st|ed|eds|[dD]ef|[pP]ara"
)
# Behind these it ends none where a number, a letter or an opening bracket follows, as in "Fig. 3" and "Eq. (3)".
_LABELLED = (
    "[fF]igs?|FIGS?|[eE]qs?n?s?|[eE]qns?|[rR]efs?|[sS]ecs?|[sS]ects?|[tT]abs?|[cC]hs?|[cC]haps?|[nN]os?|[vV]ols?|pp?|[aA]pp|[aA]rt|[eE]xt|[sS]uppl?|"
    "[tT]hms?|[lL]em|[pP]rop|[cC]or|[dD]efn|[cC]oll|[sS]er|[iI]ss|[pP]t|[aA]lg|[vV]er|[lL]at|[lL]ong|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
)
# Behind these a sentence may end: it does where one of the words above follows.
_PERHAPS = (
    "al|etc|[sS]pp?|var|str|cv|[iI]nc|[lL]td|[cC]o|[cC]orp|[jJ]r|[sS]r|[rl]\\.\\s?h\\.\\s?s|equiv|"
    "max|min|avg|temp|conc|wt|vol|lab|Gov|U\\.S|U\\.K|Ph\\.D|M\\.D"
)
_WORD = r"(?:\A|[^\w.])"
_IS_ALWAYS = re.compile(rf"{_WORD}(?:{_ALWAYS})\Z")
_IS_LABELLED = re.compile(rf"{_WORD}(?:{_LABELLED})\Z")
_IS_PERHAPS = re.compile(rf"{_WORD}(?:{_PERHAPS})\Z")
_LABEL_FOLLOWS = re.compile(r"\s*(?:[\d(\[{#§$]|[A-Z]\d|[A-Z]\b|[IVXivx]+\b)")
_LONGEST = 10  # characters of an abbreviation and what stands before it
_STOP = re.compile(r"[.?!…]")
# What follows the full stop but belongs before it: closing brackets and quotes, and marks of citations, ".[12]", ". [3, 4]", ".5,6".
_BEHIND_STOP = re.compile(r"(?:[)\]}\"'”’»]+|\s?\[\d+(?:\s?[,;–-]\s?\d+)*\])+(?=\s+[^\s.,;:)\]]|\s*\Z)")
_RAISED_CITATION = re.compile(r"\d{1,3}(?:[,–-]\d{1,3})*(?=\s+[^\W\d_a-z])")
_FORMULA = re.compile(r"\$\$.{1,4000}?\$\$|(?<![\\$])\$[^$]{1,1000}\$|\\\(.{1,1000}?\\\)|\\\[.{1,4000}?\\\]", re.DOTALL)
_IN_FORMULA = re.compile(r"[.?!…()\[\]{}<>\"' $]")
_MARKS = re.compile(r"[()\[\]{}<>\"'“”‘’«»‹›„`「」『』【】《》（）¿¡]+")
_SHORT_WORD = re.compile(r"[^\w]([^\W\d_]{1,3})\Z")
_PROSE = re.compile(r"[.?!]\s+[A-Z][a-z]")
_UNSPACED = re.compile(r"[^\W\d_]{3,}[\])}]*[.?!]\Z|[\])}][.?!]\Z")
_STARTS = re.compile(rf"(?:{_STARTERS})\b")
_BRACKETS = str.maketrans(dict.fromkeys("()[]{}<>\"'“”‘’«»‹›„`「」『』【】《》（）", _LETTER))
_WORDLESS = re.compile(r"[\W\d_]*\Z")
# A sentence may begin with a lower-case letter that belongs to a term: p-values, mRNA, iPS, α-synuclein.
_TERM = re.compile(r"[a-zα-ω]{1,3}(?:[A-Z\-–]|\d+[a-z]*[A-Z])")
_LABEL = re.compile(r"[(\[]?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[)\].]*\Z")


def split(text: str) -> list[Span]:
    """The sentences of a text as (start, end) in code points, in order; text[start:end] has no white space around it.

    Between two sentences there is nothing but white space, and none overlap: together they hold every other character.
    """
    spans: list[Span] = []
    shadow = _shadow(text)
    start = 0
    for boundary in get_sentence_boundaries("en", shadow):
        end = int(boundary["end_index"])
        if _is_end(text, shadow, start, end):
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
    letters = list(text)
    for found in _STOP.finditer(text):
        _judge_stop(text, found.start(), letters)
    return _MARKS.sub(_mask_marks, "".join(letters))


def _judge_stop(text: str, at: int, letters: list[str]) -> None:
    """Make a stop that ends no sentence a letter, and one that does stand where it is seen."""
    stop, before, before_that = text[at], text[at - 1 : at], text[at - 2 : at - 1]
    if stop != ".":
        if before.isspace() and text[at + 1 : at + 2].isspace():
            letters[at] = _LETTER  # a factorial, an arrow that a PDF lost: no exclamation
            return
    elif before.isdecimal():
        if text[at + 1 : at + 2].isdecimal():
            return
    elif _is_abbreviation(text, at):
        letters[at] = _LETTER
        return
    elif before.isalpha():
        word = _SHORT_WORD.search(text, max(0, at - 4), at)
        if word is not None:
            begins = _STARTER.match(text, at + 1) is not None
            if _is_initial(text, word.start(1), at) and not begins:
                if at + 1 < len(text):
                    letters[at] = _LETTER  # initials and genera: "S. D. Smith", "E. coli"
                return
            if begins or at - word.start(1) == 1:
                letters[word.start()] = _LETTER  # "for 72 h. The", "at 37°C. We": short words are taken for abbreviations
    elif before in ")]}" and before_that.isspace():
        letters[at - 2] = _LETTER  # so is a bracket that stands by itself: "( CGHS ). The"
    behind = _BEHIND_STOP.match(text, at + 1)
    if behind is None and (before.isalpha() or before in ")]"):
        behind = _RAISED_CITATION.match(text, at + 1)
    if behind is not None:
        letters[at : behind.end()] = [*(_LETTER * (behind.end() - at - 1)), stop]


def _is_initial(text: str, begin: int, at: int) -> bool:
    """Whether one capital stands there by itself, or behind another's stop or hyphen: "J.-P."."""
    return at - begin == 1 and text[begin].isupper() and (begin == 0 or text[begin - 1].isspace() or text[begin - 1] in ".-–([\"'“‘")


def _is_abbreviation(text: str, at: int) -> bool:
    """Whether the full stop there is an abbreviation's, and no sentence ends with it."""
    word = text[max(0, at - _LONGEST) : at]
    if at + 1 == len(text):
        return False
    if _IS_ALWAYS.search(word):
        return True
    if _IS_LABELLED.search(word):
        return _LABEL_FOLLOWS.match(text, at + 1) is not None
    return _IS_PERHAPS.search(word) is not None and _STARTER.match(text, at + 1) is None


def _mask_marks(found: Match[str]) -> str:
    """Brackets and quotes as letters: a capital where they open, since a sentence may begin there."""
    opens = found.start() == 0 or found.string[found.start() - 1].isspace()
    return (_CAPITAL if opens else _LETTER) * len(found.group())


def _mask_formula(found: Match[str]) -> str:
    """A formula as one word. A full stop inside its end is that of the sentence."""
    formula = found.group()
    if _PROSE.search(formula):
        return formula  # two prices, not a formula
    masked = _CAPITAL + _IN_FORMULA.sub(_LETTER, formula[1:])
    return masked[:-1] + "." if formula.rstrip("$\\)] ").endswith((".", "?", "!")) else masked


def _is_end(text: str, shadow: str, start: int, end: int) -> bool:
    """Whether a sentence from start ends before end, and another begins there."""
    before, after = shadow[start:end].rstrip(), text[end : end + 40].lstrip()
    if not after or _WORDLESS.match(text, end):
        return not after  # what is left is a number behind a formula, or nothing
    if "\n\n" in text[start + len(before) : end]:
        return True
    if not before.endswith(tuple(_ENDS)):
        return False
    if _WORDLESS.match(before) or _LABEL.match(text[start:end].strip()):
        return False  # "3." before a heading, "(2)" behind a formula
    if after[0] in ",;:)]}%.?!" or (after[0].islower() and not _TERM.match(after)):
        return False
    if len(before) == end - start and not text[end].isspace():  # a lost space, or a name such as math.AG
        return bool(_UNSPACED.search(text, start, end) and _STARTS.match(after))
    return True
