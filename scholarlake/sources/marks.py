"""What a title says beside naming the work: that it was withdrawn, in which language it is, what it is called elsewhere.

The title keeps its marks; the fingerprint is made without them, so that the marked copy of a paper and the clean one are one.
A notice of a retraction is a work of its own about another, and no mark: "Retraction note to: X" is not X, but names it.
"""

from __future__ import annotations

import re
import unicodedata

_NOUN = r"(?:article|paper|chapter|publication|manuscript|study|review|abstract|preprint|protocol)"
# Participles, not nouns: "retracted" stands on the paper, "retraction" on the notice, but for the way in which IEEE marks papers.
_WITHDRAWN = "|".join(
    (
        rf"(?:this {_NOUN} (?:has been|is|was) )?(?:retracted|withdrawn)(?: and (?:replaced|republished))?(?: {_NOUN})?",
        rf"{_NOUN} (?:retracted|withdrawn)",
        r"notice of (?:retraction|violation of ieee publication principles)",
        r"(?:art[ií]culo )?retractado|art[ií]culo retirado",
        r"artigo (?:retratado|retirado|retractado)",
        r"(?:article )?rétractée?",
        r"zurückgezogen(?:er (?:artikel|beitrag))?",
        r"(?:статья )?(?:отозвана|ретрагирована)(?: статья)?",
        r"geri çekil(?:di|miştir|en makale)",
        r"已?(?:撤稿|撤回)|撤回(?:論文|论文)",
        r"(?:게재 ?)?철회(?:된 논문|됨)?",
    )
)
_CLOSE = r"[\])}】〕」>］）]"
# A hyphen needs a blank before it: "Retracted-article counts" is about something.
_FIRST = re.compile(
    rf"\W*(?:{_WITHDRAWN}|(?P<removed>temporary removal|removed))(?:\s*(?:{_CLOSE}|[:：.\u2013\u2014])[\s:：.\u2013\u2014-]*|\s+-+\s+)"
    r"|\W*notice of retraction\s+(?!and\b|for\b|from\b|of\b|to\b)",
    re.IGNORECASE,
)
_LAST = re.compile(
    rf"\s*[\[({{【〔「<［（](?:{_WITHDRAWN})\b(?:[^()\[\]]|\([^()]*\))*{_CLOSE}\W*$|\s*(?:[\u2013\u2014]|\s-+)\s*(?:{_WITHDRAWN})\W*$",
    re.IGNORECASE,
)

_LANGUAGES = (
    "afrikaans|arabic|bulgarian|catalan|chinese|croatian|czech|danish|dutch|english|estonian|finnish|french|german|greek|hebrew|hungarian|"
    "icelandic|indonesian|italian|japanese|korean|latvian|lithuanian|norwegian|persian|polish|portuguese|romanian|russian|serbian|slovak|"
    "slovene|slovenian|spanish|swedish|thai|turkish|ukrainian|vietnamese"
)
_LANGUAGE = re.compile(
    rf"\s*[\[(](?:(?:original )?(?:article|paper|text) )?in (?:{_LANGUAGES})\b[^\[\]()]{{0,40}}[\])]\W*$"
    rf"|\s*\[(?:{_LANGUAGES})\]\W*$|\s*\(authors?'?s? transl\)",
    re.IGNORECASE,
)
_PARALLEL = re.compile(r"(.+?)(?:\s*[\[(]([^\[\]()]+)[\])]|\s=\s(.+))\W*")
_LATIN = re.compile("[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
_LEAST_LETTERS = 5


# What a notice calls itself; what it is about follows a colon, a dash, or in quotation marks.
_OF_WHAT = r"(?: (?:to|of|for|on|regarding|concerning))?(?: the)?(?: article| paper| manuscript)?"
_NOTICE = "|".join(
    (
        rf"(?:editorial )?(?:retraction|withdrawal)(?: (?:note|notice|statement|announcement|letter))?{_OF_WHAT}",
        rf"(?:editorial )?(?:note|notice|statement|announcement|letter) of (?:retraction|withdrawal){_OF_WHAT}",
        r"(?:article|paper|manuscript) (?:retraction|withdrawal)",
        r"(?:nota de |aviso de )?(?:retractaci[óo]n|retrata[çc][ãa]o|retra[çc][ãa]o)(?: (?:de|do|del?)(?: art[ií]culo| artigo)?)?",
        r"(?:avis de |note de )?rétractation(?: de l['’]article)?",
        r"(?:zurückziehung|rücknahme|widerruf)(?: (?:von|des artikels|der arbeit))?",
        r"(?:отзыв|ретракция)(?: статьи)?",
        r"撤(?:稿|回|销|銷)(?:声明|聲明|通知|启事|啟事|公告|のお知らせ)?|論文撤回(?:のお知らせ|公告|通知)?|关于撤(?:稿|回|销)的(?:声明|通知)",
        r"(?:논문 ?)?철회 ?(?:공지|안내|통지)?",
    )
)
_QUOTES = {"“": "”", "„": "“”", "‘": "’", "«": "»", "「": "」", "『": "』", "《": "》", '"': '"', "'": "'"}
_NAMES_ANOTHER = re.compile(
    rf"\W{{0,3}}(?:{_NOTICE})(?:\s*[:：.\u2013\u2014]\s*|\s+-+\s+|\s*(?=[{''.join(_QUOTES)}]))(.+)", re.IGNORECASE | re.DOTALL
)
_SOURCE = re.compile(r"\s*(?:\[[^\[\]]*\]|\([^()]*\b(?:1[89]|20)[0-9]{2}\b[^()]*\))\W*$")  # where the work stood: "[Cell 12 (2003) 1]"

# What an abstract says in place of one, or at its end, as it does on arXiv. Behind other sentences "the paper was retracted" may be about
# another one, "this paper is withdrawn" is not.
_WORK = rf"(?:{_NOUN}|submission|work|version|e-?print)"
_GONE = r"(?: (?:temporarily|now|hereby|voluntarily|formally|therefore|thus))? (?:withdrawn|retracted)\b"
_SAYS_SO_ANYWHERE = re.compile(rf"\bthis {_WORK} (?:has been|is){_GONE}", re.IGNORECASE)
_SAYS_SO = re.compile(
    rf"\W*(?:(?:this|the|our) {_WORK} (?:has been|was|is){_GONE}"
    r"|(?:paper|article|manuscript|submission|preprint) (?:has been |was )?(?:withdrawn|retracted)\b"
    r"|(?:withdrawn|retracted)(?: by (?:the |all )?(?:authors?|arxiv|publisher|editor|journal)|\W*$|\s*[:.\u2013\u2014])"
    r"|the authors? (?:have|has) (?:withdrawn|retracted) (?:this|the|their|his|her)\b)",
    re.IGNORECASE,
)
#: Document types, in lower case, that say so.
WITHDRAWN_TYPES = ("retracted", "retracted article", "retracted paper", "retracted publication", "withdrawn", "withdrawn article")

#: What has none of these, in whatever case, does not say that it was withdrawn, nor that another was.
WITHDRAWAL_SIGNS = (
    *("retract", "withdraw", "remov", "notice of", "retirado", "retratado", "retrata", "retraç", "rétract", "ckgez", "ckzieh", "cknahme"),
    *("widerruf", "отозван", "отзыв", "ретрагир", "ретракц", "çek", "撤", "철회"),
)
ABSTRACT_SIGNS = ("withdrawn", "retracted")

#: What has none of these, in whatever case, has no mark: told at the speed of a search for words.
ASCII_SIGNS = ("retract", "withdrawn", "remov", "notice of", "retirado", "retratado", "[", "(in ", "(article in", "transl)")
_OTHER_SIGNS = ("(", " = ", "rétract", "ckgez", "отозван", "ретрагир", "çek", "撤", "철회")
SIGNS = (*ASCII_SIGNS, *_OTHER_SIGNS, *(unicodedata.normalize("NFD", sign) for sign in _OTHER_SIGNS if not sign.isascii()))


def bare(title: str) -> str:
    """The title without its marks; empty where it is nothing else. title: as `clean` gives it, NFC."""
    small = title.casefold()
    for sign in ASCII_SIGNS if title.isascii() else SIGNS:
        if sign in small:
            break
    else:
        return title
    while (rest := _without_one(title)) != title:  # "RETRACTED: On bodies [Article in German]"
        title = rest
    return title


def _without_one(title: str) -> str:
    if first := _FIRST.match(title):
        return title[first.end() :]
    for mark in (_LAST, _LANGUAGE):
        if found := mark.search(title):
            return title[: found.start()] + title[found.end() :]
    return title if title.isascii() else _without_translation(title)


def _without_translation(title: str) -> str:
    """A title without the same in another script behind it, in brackets or after an equals sign."""
    found = _PARALLEL.fullmatch(title)
    if found is None:
        return title
    scripts = {_is_latin(found[1]), _is_latin(found[2] or found[3])}
    return found[1] if scripts == {True, False} else title


def _is_latin(text: str) -> bool | None:
    """Whether a text is in Latin script; None where it is in several, or too short to tell."""
    letters = sum(map(str.isalpha, text))
    latin = len(_LATIN.findall(text))
    if letters < _LEAST_LETTERS:
        return None
    return True if latin >= 0.8 * letters else False if latin <= 0.2 * letters else None


def is_withdrawn(title: str) -> bool:
    """Whether a title says that its own work was retracted or withdrawn. title: as `clean` gives it, NFC."""
    if first := _FIRST.match(title):
        return first["removed"] is None or first["removed"].isupper() or " " in first["removed"]
    return _LAST.search(title) is not None


def work_withdrawn(title: str) -> str | None:
    """The title of the work that a notice says to be retracted or withdrawn; None for what is no notice.

    title: as `clean` gives it, NFC.
    """
    if is_withdrawn(title) or not (found := _NAMES_ANOTHER.fullmatch(title)):
        return None
    named = found[1].strip()
    if closing := _QUOTES.get(named[0]):
        end = max(named.rfind(sign) for sign in closing)
        if end > 0:
            return named[1:end].strip() or None
    return _SOURCE.sub("", named).strip() or None


def abstract_says_withdrawn(abstract: str) -> bool:
    """Whether an abstract says that its own work was withdrawn or retracted."""
    return _SAYS_SO.match(abstract) is not None or _SAYS_SO_ANYWHERE.search(abstract) is not None
