"""Names of things as keys: which spellings are one name whatever the text, and which forms only a rule brings together.

What does not belong here: which stretches of a text are names (`mentions`), and whether two names are one thing (`merging`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from scholarlake.sources.tex import plain

_GREEK = {
    chr(code): unicodedata.name(chr(code)).split()[-1].lower().replace("lamda", "lambda")
    for code in (*range(0x3B1, 0x3CA),)
    if "FINAL" not in unicodedata.name(chr(code))
}
_DASHES = re.compile(r"[-‐‑‒–—−_/]+")
_TEX = re.compile(r"[${}\\^~]")
_BRACKETED = re.compile(r"\s*\((?=[^()]*[A-Za-z]{2})[^()]*\)\s*$")
_EDGES = " \t\n.,;:'\"`“”‘’!?|"
_POSSESSIVE = re.compile(r"['’]s\b")
_QUOTES = re.compile(r"['’`\"“”‘]")
_SPACES = re.compile(r"\s+")
_AROUND = re.compile(r"\s*([=<>])\s*")
_IRREGULAR = {
    "analyses": "analysis", "hypotheses": "hypothesis", "matrices": "matrix", "vertices": "vertex", "indices": "index", "mice": "mouse",
    "bacteria": "bacterium", "criteria": "criterion", "phenomena": "phenomenon", "vacua": "vacuum", "spectra": "spectrum", "loci": "locus",
    "nuclei": "nucleus", "genera": "genus", "syntheses": "synthesis", "simplices": "simplex", "momenta": "momentum", "quanta": "quantum",
    "diagnoses": "diagnosis", "larvae": "larva", "fungi": "fungus", "children": "child", "women": "woman", "men": "man", "feet": "foot",
    "calculi": "calculus", "tori": "torus", "radii": "radius", "moduli": "modulus", "ansaetze": "ansatz", "leaves": "leaf", "lives": "life",
    "media": "medium", "mitochondria": "mitochondrion", "corpora": "corpus", "automata": "automaton", "formulae": "formula",
}  # fmt: skip
_NOT_PLURAL = re.compile(
    r"(?:ss|us|is|ics|ous|xis|sis|news|lens|series|species|sepsis|diabetes|measles|rabies|herpes|stokes|potts|gauss|always|bias|atlas|"
    r"pancreas|texas|kansas|data|mass|chaos|cosmos|ethos|class|ads|dis|his|yes|gas|axis|basis|virus|corps|means|hdps|clothes|caries|"
    r"debris|oides|simons|thomas|james|charles|jones|hooks|banks|rubens|weiss|laplace|maths)$"
)
_AMERICAN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        (r"isation", "ization"),
        (r"(?<=[a-z]{4})ising\b", "izing"),
        (r"(?<=[a-z]{4})ised\b", "ized"),
        (r"yse(?=[ds]?\b)", "yze"),
        (r"\b(col|behavi|tum|neighb|fav|lab|flav|vap|harb|hum|rum|arm|hon|od|sav|vig)our", r"\1or"),
        (r"aem(?=[aio])", "em"),
        (r"oed(?=em)", "ed"),
        (r"oest", "est"),
        (r"(?<=[a-z])oe(?=pathy)", "e"),
        (r"\bpaed", "ped"),
        (r"\bfoet", "fet"),
        (r"\bsulph", "sulf"),
        (r"\b(cent|fib|lit|met|theat|calib|spect)re\b", r"\1er"),
        (r"(model|label|signal|travel|channel|tunnel|cancel)l(?=ing|ed|er)", r"\1"),
        (r"\bcatalogue", "catalog"),
        (r"\bprogramme", "program"),
        (r"\bgrey\b", "gray"),
        (r"\bdefence\b", "defense"),
        (r"\bageing\b", "aging"),
    )
)
_ARTICLES = frozenset(("a", "an", "the"))
_NUMBERED = re.compile(r"\d|\([^()]*\)|(?<![a-z])(?:i{1,3}|iv|vi{0,3}|ix|xi{0,2}|ii[ab]|[a-z])(?![a-z])")


@lru_cache(maxsize=1 << 16)
def key_of(name: str) -> str:
    """The normalised form of a name: letters as they are meant, case folded, dashes as blanks, Greek letters by name, the last word in the
    singular. Empty where nothing of it is a letter or a digit."""
    written, folded = _folded(_BRACKETED.sub("", name))
    words = folded.split()
    if not words or not any(sign.isalnum() for sign in folded):
        return ""
    if not written.endswith("S"):
        words[-1] = singular(words[-1])
    return " ".join(words)


@lru_cache(maxsize=1 << 14)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text as those of keys are, every one in the singular, without articles."""
    _, folded = _folded(text)
    words = (found.strip(_EDGES + "()[]") for found in folded.split())
    return tuple(singular(word) for word in words if word and word not in _ARTICLES)


def folded(text: str) -> str:
    """A text without TeX, dashes, quotes and case, Greek letters by name."""
    return _folded(text)[1]


def _folded(text: str) -> tuple[str, str]:
    """A text without TeX and dashes, as written and with its case folded."""
    text = unicodedata.normalize("NFKC", _TEX.sub("", plain(text) if "\\" in text else text))
    written = _SPACES.sub(" ", _AROUND.sub(r"\1", _DASHES.sub(" ", text))).strip(_EDGES)
    folded = _QUOTES.sub("", _POSSESSIVE.sub("", written)).casefold()
    for letter, spelt in _GREEK.items():
        if letter in folded:
            folded = folded.replace(letter, spelt)
    return written, folded


def singular(word: str) -> str:
    """A folded word in the singular, as far as its ending says."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 and not (len(word) == 3 and word.endswith("s") and word[0] not in "aeiougbpy"):
        return word
    if not word.endswith("s") or _NOT_PLURAL.search(word) or not word[-2].isalnum():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=1 << 16)
def american(key: str) -> str:
    """A key in American spelling: two keys of which these are the same are spellings of one name."""
    for pattern, put in _AMERICAN:
        key = pattern.sub(put, key)
    return key


def closed(key: str) -> str:
    """A key without blanks: "data set" is "dataset"."""
    return key.replace(" ", "")


def numbers(key: str) -> list[str]:
    """What counts in a key, digits, numerals and single letters: names that differ in it, such as versions and kinds, are never one."""
    return [found.group() for found in _NUMBERED.finditer(key)]


def is_short_form(surface: str) -> bool:
    """Whether a name is written as abbreviations are: one word, most of its letters capitals."""
    letters = [sign for sign in surface.rstrip("s") if sign.isalpha()]
    return " " not in surface.strip() and 2 <= len(letters) <= 10 and sum(sign.isupper() for sign in letters) * 2 > len(letters)
