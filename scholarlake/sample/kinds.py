"""The ways in which a work stands in a dump more than once, and in which two works look alike but are none.

Each says by DESIGN's rules what a reader must make of it; the truth file is counted from these recipes, never from a pipeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Copy:
    """One record of a work, told as its differences from the whole record."""

    alias: int = 0  # 0: the work's own id, n: its nth other id
    later: bool = False  # stands in the later edition
    doi: Literal["given", "respelt", "none", "foreign"] = "given"
    title: Literal["given", "respelt", "shortened"] = "given"
    abstract: bool = True
    references: Literal["all", "half", "none"] = "all"
    year: int | None = 0  # years added; None: a year that can't be used
    authors: Literal["given", "initials", "none"] = "given"
    count: int = 0  # added to n_citation, so that two records of one id differ in content


@dataclass(frozen=True)
class Kind:
    """A work with several records, all of which are one paper.

    share: of all works. doi: whether the work has one. plain: kept in a dump without faults (a short SQL script gets it right).
    """

    share: float
    doi: bool | None
    copies: tuple[Copy, ...]
    plain: bool = False


KINDS: dict[str, Kind] = {
    # The later edition revises: DOI and the rest of the references come in.
    "revised": Kind(0.025, True, (Copy(doi="none", abstract=False, references="half"), Copy(later=True, count=3)), plain=True),
    "revised_without_doi": Kind(0.01, False, (Copy(references="half", title="respelt"), Copy(later=True, count=1)), plain=True),
    # The older record of the id has a DOI that belongs to another work. Only the newest gives keys.
    "doi_corrected": Kind(0.001, True, (Copy(doi="foreign", references="half"), Copy(later=True))),
    "same_line_twice": Kind(0.002, None, (Copy(), Copy())),
    "same_id_twice": Kind(0.002, None, (Copy(), Copy(count=5))),
    "doi_respelt": Kind(0.02, True, (Copy(), Copy(alias=1, doi="respelt", title="respelt")), plain=True),
    "doi_title_shortened": Kind(0.004, True, (Copy(), Copy(alias=1, doi="respelt", title="shortened", abstract=False))),
    "doi_elsewhere_later": Kind(0.004, True, (Copy(references="half"), Copy(alias=1, doi="respelt", later=True)), plain=True),
    # One copy has the DOI, the other the abstract and the references.
    "title_to_doi": Kind(
        0.015, True, (Copy(abstract=False, references="none"), Copy(alias=1, doi="none", title="respelt", year=-1)), plain=True
    ),
    "title_to_doi_initials": Kind(
        0.004, True, (Copy(references="none", authors="initials"), Copy(alias=1, doi="none", title="respelt", year=1)), plain=True
    ),
    "title_to_doi_no_authors": Kind(0.002, True, (Copy(), Copy(alias=1, doi="none", authors="none"))),
    "title_to_doi_no_year": Kind(0.002, True, (Copy(), Copy(alias=1, doi="none", year=None))),
    "title": Kind(0.01, False, (Copy(), Copy(alias=1, title="respelt", authors="initials", references="half")), plain=True),
    "title_year_apart": Kind(0.004, False, (Copy(references="none"), Copy(alias=1, title="respelt", year=1, count=2)), plain=True),
    # p1 joins p2 by its title, p2 joins p3 by its DOI; the first two are in the older edition, the third in the later.
    "chain": Kind(
        0.004,
        True,
        (Copy(alias=1, doi="none", title="respelt"), Copy(alias=2, references="half"), Copy(doi="respelt", later=True, title="respelt")),
        plain=True,
    ),
    # The first and the last are two years apart, and one through the one between.
    "title_years_chain": Kind(0.001, False, (Copy(), Copy(alias=1, year=-1), Copy(alias=2, year=-2, title="respelt"))),
    "four_records": Kind(
        0.001,
        True,
        (Copy(references="half", abstract=False), Copy(alias=1, doi="respelt"), Copy(alias=2, doi="none"), Copy(later=True)),
    ),
}

KIND_NAMES: tuple[str, ...] = ("", *KINDS)  # a work's kind is a place in this; 0 is the ordinary work of one record


@dataclass(frozen=True)
class LookAlike:
    """A group of works that share something and are different papers all the same.

    share: groups, of all works. size: works in a group. dois: which of them have a DOI. authors and year: whether those are shared too.
    """

    share: float
    dois: tuple[bool, ...]
    authors: bool = True
    years_apart: int = 0

    @property
    def size(self) -> int:
        return len(self.dois)


LOOK_ALIKES: dict[str, LookAlike] = {
    "generic_title": LookAlike(0.0005, (False, False, False)),  # three "Editorial"
    "title_none": LookAlike(0.0003, (False, False)),  # two "None"
    "title_short": LookAlike(0.0005, (False, False)),  # too short to be a key
    "title_empty": LookAlike(0.0003, (False, False)),  # nothing is left of the title once folded
    "one_title_two_dois": LookAlike(0.0005, (True, True, False)),
    "years_apart": LookAlike(0.0005, (False, False), years_apart=6),
    "other_authors": LookAlike(0.0005, (False, False), authors=False),
    "other_symbols": LookAlike(0.0005, (False, False)),  # $\alpha$ and $\beta$, C and C++
    "other_script": LookAlike(0.0003, (False, False)),  # alike once all but ASCII is dropped
    "one_doi_two_works": LookAlike(0.0005, (True, True), authors=False),  # a chapter with its book's DOI
}
