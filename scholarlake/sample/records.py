"""From a work to the records that stand for it: field values, ids, DOIs and their spellings, and who belongs to a look-alike group.

Any work can be written at any time, in any order: its values come from its number alone. What does not belong here: references by
number (graph.py), faults of single lines (faults.py).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scholarlake.sample.draws import scramble
from scholarlake.sample.kinds import KIND_NAMES, KINDS, Copy
from scholarlake.sample.plan import Alike, Plan
from scholarlake.sample.text import (
    Theme,
    abstract_of,
    author,
    foreign_title,
    respelt,
    shortened,
    theme_of,
    title_of,
    venue_id,
    with_initials,
)
from scholarlake.sample.topics import TOPICS

Fields = dict[str, Any]

_EPOCH: Final = 1900
ONE_RECORD: Final = (Copy(),)
_GENERIC: Final = ("Editorial", "Introduction", "Index", "Preface", "Table of Contents", "Book Reviews")
_SHORT: Final = ("Mitosis", "Gravity", "综述评论", "Errata", "Sleep", "Хаос")
_EMPTY: Final = ("???", "—", "...", "")
_NO_DOI: Final = (None, "", "n/a", "0", "10.", "https://repository.example.org/item/4711", "null", "none")
_LANGUAGES: Final = ("en", "zh", "ru", "el")
_TYPES: Final = ("Journal", "Conference", "Journal", "Preprint")


@dataclass(frozen=True)
class Draft:
    """What all records of a work share."""

    work: int
    dice: int
    title: str | None
    fields: Fields
    doi: str | None


class Scribe:
    """Writes the records of a plan's works."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._key = scramble(plan.seed ^ 0x5C1B)
        self._authors_a_topic = [max(24, int(size) // 5) for size in plan.topic_sizes]
        # Single elements of numpy arrays are slow to get at, those of bytes are not.
        self._topic, self._kind = plan.topic.astype(np.uint8).tobytes(), plan.kind.tobytes()
        self._years_since = (plan.year - _EPOCH).astype(np.uint8).tobytes()
        self._script, self._has_doi = plan.script.tobytes(), plan.has_doi.tobytes()
        self._rank = array("i", plan.rank.astype(np.int32).tobytes())
        self._copies = [KINDS[name].copies if name else ONE_RECORD for name in KIND_NAMES]

    def dice(self, work: int, salt: int) -> int:
        """64 random bits that belong to the work."""
        return scramble(self._key ^ (work << 8 | salt))

    def copies(self, work: int) -> tuple[Copy, ...]:
        """The recipe of each of the work's records."""
        return self._copies[self._kind[work]]

    def record_id(self, work: int, copy: Copy) -> str:
        plan = self.plan
        return plan.ids[work] if copy.alias == 0 else plan.ids[int(plan.first_alias[work]) + copy.alias - 1]

    # ------------------------------------------------------------------ the work

    def draft(self, work: int, citations: int) -> Draft:
        """The work's fields but for id and references. citations: its true in-degree, from which the dump's own count strays."""
        plan, alike, dice = self.plan, self.plan.alike.get(work), self.dice(work, 0)
        theme = self.theme(work)
        year, venues = self.year(work), theme.topic.venues
        venue = (dice >> 44) % len(venues)
        doi = self.doi(work) if self._has_doi[work] else None
        fields: Fields = {
            "id": "",
            "title": None,
            "abstract": None,
            "keywords": [theme.problem, theme.method, theme.object] if dice >> 40 & 7 else [],
            "year": year,
            "authors": self.authors(work),
            "references": [],
            "doi": doi,
            "venue": venues[venue],
            "venue_id": venue_id(self._topic[work], venue, plan.seed),
            "n_citation": citations + (citations * (dice >> 34 & 31)) // 100,
            "lang": _LANGUAGES[self._script[work]],
            "doc_type": _TYPES[dice >> 32 & 3],
            "volume": str(max(1, year - 1970)),
            "issue": str(1 + (dice >> 28 & 7)) if dice >> 50 & 1 else "",
            "page_start": str(1 + (dice >> 16) % 900),
            "page_end": str(908 + (dice >> 12) % 40),
        }
        if not plan.short:
            fields["url"] = [f"https://papers.example.org/{plan.ids[work]}"]
        described = dice & 255
        if described < (120 if plan.short else 238) or self._kind[work] or alike:
            fields["abstract"] = abstract_of(theme, self.dice(work, 1), plan.short)
        title = self._shared_title(alike) if alike else self._title(work, theme)
        return Draft(work, dice, title, fields, doi)

    def theme(self, work: int) -> Theme:
        return theme_of(self._topic[work], self._rank[work])

    def year(self, work: int) -> int:
        return _EPOCH + self._years_since[work]

    def own_title(self, work: int) -> str:
        return self._title(work, self.theme(work))

    def _title(self, work: int, theme: Theme) -> str:
        script = self._script[work]
        return foreign_title(script, work) if script else title_of(theme)

    def doi(self, work: int) -> str:
        """The work's DOI in its canonical spelling. Only two works of one DOI share it."""
        alike = self.plan.alike.get(work)
        if alike and alike.kind == "one_doi_two_works":
            work = alike.leader
        topic, year = self._topic[work], self.year(work)
        if self.plan.faults and self.dice(work, 2) % 50 == 0:
            return f"10.1002/(sici)1097-{1000 + topic}({year}01)55:{work}<1::aid-jcl{work}>3.0.co;2-z"
        return f"10.{3100 + topic}/{TOPICS[topic].name.split(' ')[0]}.{year}.{work:07d}"

    def authors(self, work: int) -> list[dict[str, str]]:
        """One to six authors of the work's topic; some write much more than others."""
        alike = self.plan.alike.get(work)
        if alike and alike.leader != work:
            theirs = self.authors(alike.leader)
            if alike.kind not in ("other_authors", "one_doi_two_works"):
                return theirs
            taken = {person["name"].split(" ")[-1] for person in theirs}
            mine = self._draw_authors(work)
            return [person for person in mine if person["name"].split(" ")[-1] not in taken] or [self._stranger(work, taken)]
        return self._draw_authors(work)

    def _draw_authors(self, work: int) -> list[dict[str, str]]:
        plan, topic = self.plan, self._topic[work]
        pool, dice = self._authors_a_topic[topic], self.dice(work, 3)
        wanted = (1, 1, 2, 2, 2, 3, 3, 4)[dice & 7] if plan.short else (1, 2, 2, 3, 3, 4, 5, 6)[dice & 7]
        people: list[dict[str, str]] = []
        seen: set[str] = set()
        for place in range(wanted):
            share = ((dice >> (4 + 10 * place)) & 1023) / 1024
            number = int(pool * share * share + (dice >> 40) % 7) % pool
            key, name, organisation, organisation_id = author(topic, number, plan.seed)
            if key not in seen:
                seen.add(key)
                people.append({"id": key, "name": name, "org": organisation, "org_id": organisation_id})
        return people

    def _stranger(self, work: int, taken: set[str]) -> dict[str, str]:
        topic = self._topic[work]
        for number in range(10_000_000, 10_001_000):
            key, name, organisation, organisation_id = author(topic, number, self.plan.seed)
            if name.split(" ")[-1] not in taken:
                return {"id": key, "name": name, "org": organisation, "org_id": organisation_id}
        raise AssertionError("a thousand authors of one family name")

    def _shared_title(self, alike: Alike) -> str | None:
        """The title of a work that looks like another."""
        own, group, place = self.own_title(alike.leader), alike.group, alike.place
        match alike.kind:
            case "generic_title":
                return _GENERIC[group % len(_GENERIC)]
            case "title_none":
                return "None"
            case "title_short":
                return _SHORT[group % len(_SHORT)]
            case "title_empty":
                return None if group % (len(_EMPTY) + 1) == len(_EMPTY) else _EMPTY[group % (len(_EMPTY) + 1)]
            case "other_symbols":
                signs = (("$\\alpha$", "$\\beta$"), ("in C", "in C++"), ("for H+", "for H\u2212"), ("(\u2264 5)", "(\u2265 5)"))[group % 4]
                return f"{own} {signs[place]}"
            case "other_script":
                words = (("深度学习综述与展望", "图神经网络研究进展"), ("Введение в алгебру", "Теория больших графов"))[group % 2]
                return f"{words[place]} {group}"
            case "one_doi_two_works" if place:
                return self._nothing_in_common(alike)
            case _:
                return own

    def _nothing_in_common(self, alike: Alike) -> str:
        """A title without a word of the leader's: now a generic one, now one of another field."""
        if alike.group % 2 == 0:
            return "Introduction"
        theirs = set(self.own_title(alike.leader).casefold().replace("-", " ").replace(":", " ").split())
        topic = TOPICS[(self._topic[alike.leader] + len(TOPICS) // 2) % len(TOPICS)]
        for problem in topic.problems[alike.group // 2 % 8 :] + topic.problems:
            title = f"{problem.capitalize()} revisited"
            if not theirs & set(title.casefold().replace("-", " ").split()):
                return title
        raise AssertionError("topics of two fields share all their words")

    # ------------------------------------------------------------------ its records

    def record(self, draft: Draft, copy: Copy, references: list[Any]) -> Fields:
        """The fields of one record of the work. references: already those that this copy holds."""
        faults, work = self.plan.faults, draft.work
        dice = self.dice(work, 16 + 2 * copy.alias + copy.later)  # equal copies of one id come out as equal lines
        fields = dict(draft.fields)
        fields["id"] = self.record_id(work, copy)
        fields["references"] = references
        fields["n_citation"] += copy.count
        title = draft.title
        if title is not None and copy.title == "respelt":
            title = respelt(title, dice >> 8, faults)
        elif title is not None and copy.title == "shortened":
            title = shortened(title)
        fields["title"] = title
        if not copy.abstract:
            fields["abstract"] = None
        if copy.year is None:
            fields["year"] = (0, 9999)[dice & 1]
        else:
            fields["year"] += copy.year
        if copy.authors == "initials":
            fields["authors"] = [{**person, "name": with_initials(person["name"])} for person in fields["authors"]]
        elif copy.authors == "none":
            fields["authors"] = []
        fields["doi"] = self._written_doi(draft, copy, dice)
        if fields["abstract"] is None:
            del fields["abstract"]
        if not references and dice >> 60 & 1:
            del fields["references"]
        return fields

    def _written_doi(self, draft: Draft, copy: Copy, dice: int) -> str | None:
        faults = self.plan.faults
        if copy.doi == "foreign":
            return self._foreign_doi(draft.work)
        if draft.doi is None or copy.doi == "none":
            return _NO_DOI[(dice >> 20) % len(_NO_DOI)] if faults else _NO_DOI[dice >> 20 & 1]
        if copy.doi == "respelt":
            return respelt_doi(draft.doi, dice >> 20, faults)
        return draft.doi.upper() if dice >> 20 & 15 == 0 else draft.doi

    def _foreign_doi(self, work: int) -> str | None:
        """The DOI of another, ordinary work."""
        plan = self.plan
        for step in range(1, plan.works):
            other = (work + step) % plan.works
            if not plan.kind[other] and plan.has_doi[other] and other not in plan.alike:
                return self.doi(other)
        return None


def respelt_doi(doi: str, dice: int, faults: bool) -> str:
    """The same DOI written otherwise."""
    plain = (doi.upper(), f"https://doi.org/{doi}", f"http://dx.doi.org/{doi}", f"doi:{doi}", f"{doi}.")
    if not faults:
        return plain[dice % len(plain)]
    if "<" in doi:
        signs = (doi.replace("<", "%3C").replace(">", "%3E"), doi.replace("<", "&lt;").replace(">", "&gt;"), doi.upper())
        return signs[dice % len(signs)]
    odd = (f"doi: {doi}", f"{doi},", f"DOI:{doi.upper()}", f" {doi} ", f"{doi[:8]}\u200b{doi[8:]}", f"https://DX.doi.org/{doi.upper()}.")
    return (plain + odd)[dice % (len(plain) + len(odd))]
