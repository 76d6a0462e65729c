"""What a file of `data/collections/` may say: read strictly, refused in one line that names the file and the field.

A collection is a title, what it is for, `where` (which papers may be chosen), and at most one of `first`, `representatives` and
`topics` (how they are). What does not belong here: choosing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, StringConstraints, ValidationError, model_validator

from scholarlake import strict_yaml
from scholarlake.errors import ScholarLakeError
from scholarlake.lake.hashing import file_checksum
from scholarlake.profile import Selection, TextOf, VectorsOf

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")

Said = Annotated[StrictStr, StringConstraints(strip_whitespace=True, min_length=1)]
Id = Annotated[StrictStr, StringConstraints(min_length=1)]
Year = Annotated[StrictInt, Field(ge=1000, le=2100)]
Count = Annotated[StrictInt, Field(ge=0)]
Size = Annotated[StrictInt, Field(ge=1, le=1_000_000)]


class CollectionError(ScholarLakeError):
    """A collection file says something that can't be."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Years(Part):
    """From and to a year, both inclusive, either of them open."""

    since: Year | None = Field(None, alias="from")
    until: Year | None = Field(None, alias="to")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.since is None and self.until is None:
            raise ValueError("give `from`, `to` or both")
        if self.since is not None and self.until is not None and self.since > self.until:
            raise ValueError(f"from {self.since} is after to {self.until}")
        return self


class Degrees(Part):
    """At least and at most so many, both inclusive, either of them open."""

    at_least: Count | None = None
    at_most: Count | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.at_least is None and self.at_most is None:
            raise ValueError("give `at_least`, `at_most` or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"at_least {self.at_least} is more than at_most {self.at_most}")
        return self


class Near(Part):
    """Within so many citations, either way, of any of some papers; these themselves are 0 away."""

    of: Annotated[tuple[Id, ...], Field(min_length=1)]
    hops: Annotated[StrictInt, Field(ge=1, le=10)] = 1


class Query(Part):
    """The k best papers for a query among those that the other conditions beside it leave."""

    text: Said
    k: Size = 100
    mode: Literal["fused", "dense", "keyword"] = "fused"


class Where(Part):
    """Conditions on a paper. All that are given must hold; a list within one is a choice. A query comes last, whatever the order."""

    ids: Annotated[tuple[Id, ...], Field(min_length=1)] | None = None
    years: Years | None = None
    venues: Annotated[tuple[Said, ...], Field(min_length=1)] | None = None
    keywords: Annotated[tuple[Said, ...], Field(min_length=1)] | None = None
    words: Annotated[tuple[Said, ...], Field(min_length=1)] | None = None
    cites: Annotated[tuple[Id, ...], Field(min_length=1)] | None = None
    cited_by: Annotated[tuple[Id, ...], Field(min_length=1)] | None = None
    near: Near | None = None
    in_degree: Degrees | None = None
    out_degree: Degrees | None = None
    total_degree: Degrees | None = None
    all_of: Annotated[tuple[Where, ...], Field(min_length=1)] | None = None
    any_of: Annotated[tuple[Where, ...], Field(min_length=1)] | None = None
    none_of: Annotated[tuple[Where, ...], Field(min_length=1)] | None = None
    query: Query | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set or all(getattr(self, name) is None for name in self.model_fields_set):
            raise ValueError("it says nothing; give a condition")
        return self

    def parts(self) -> Iterator[Where]:
        """Itself and every condition in it."""
        yield self
        for group in (self.all_of, self.any_of, self.none_of):
            for inner in group or ():
                yield from inner.parts()


class First(Part):
    """The first so many papers of those that `where` leaves. Relevance is a query's; without a query it is citations."""

    limit: Size = 1_000
    by: Literal["relevance", "citations", "newest", "oldest", "id"] = "relevance"


class Eligible(Part):
    """Which papers have enough text. What is not given is the profile's.

    text: abstract lets an abstract stand for the full text of a paper that has none.
    """

    text: TextOf | None = None
    min_characters: Annotated[StrictInt, Field(ge=1)] = 1
    min_sentences: Count = 0


class Representatives(Eligible):
    """A set that stands for the corpus whatever is asked of it (ScholarStack, appendix B.1): centres of clusters, and the most cited.

    vectors: title_and_abstract embeds just these two, corpus takes the vectors that the corpus already has.
    """

    size: Size = 900
    anchors: Annotated[StrictFloat | StrictInt, Field(ge=0, lt=1)] = 0.2
    vectors: VectorsOf | None = None
    seed: Count = 0


class Topic(Part):
    """A broad group of topics, and what is asked for to find its papers."""

    name: Said
    queries: Annotated[tuple[Said, ...], Field(min_length=1)]


class Topics(Eligible):
    """A quota of papers for every topic of a domain, then the best of the rest (ScholarStack, appendix B.2).

    candidates: papers that each search for a topic may bring. size: papers in all; the quotas alone where not given.
    """

    topics: Annotated[tuple[Topic, ...], Field(min_length=1)]
    quota: Size = 45
    size: Size | None = None
    candidates: Size = 200
    min_characters: Annotated[StrictInt, Field(ge=1)] = 2_000
    min_sentences: Count = 10

    @property
    def wanted(self) -> int:
        return self.size if self.size is not None else self.quota * len(self.topics)

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        names = [topic.name for topic in self.topics]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two topics are named {twice!r}")
        if self.wanted < self.quota * len(names):
            raise ValueError(f"size {self.size} is less than {self.quota} papers for each of {len(names)} topics")
        return self


class Collection(Part):
    """One file. taxonomy: the name of the taxonomy file that it is organized by; without one, that of its own name, where there is one."""

    name: Annotated[StrictStr, StringConstraints(pattern=NAME)]
    title: Said
    about: Said
    where: Where | None = None
    first: First | None = None
    representatives: Representatives | None = None
    topics: Topics | None = None
    taxonomy: Annotated[StrictStr, StringConstraints(pattern=NAME)] | None = None

    @model_validator(mode="after")
    def _chooses_in_one_way(self) -> Self:
        ways = [way for way in ("first", "representatives", "topics") if getattr(self, way) is not None]
        if len(ways) > 1:
            raise ValueError(f"{' and '.join(ways)} are two ways to choose; give one")
        if self.where is None and ways in ([], ["first"]):
            raise ValueError("give `where`, `representatives` or `topics`")
        return self

    @property
    def method(self) -> Literal["conditions", "representatives", "topics"]:
        return "representatives" if self.representatives else "topics" if self.topics else "conditions"

    def settled(self, profile: Selection) -> Collection:
        """The same with nothing left to the profile."""
        if self.representatives is not None:
            chosen = self.representatives
            known = {"text": chosen.text or profile.text, "vectors": chosen.vectors or profile.vectors}
            return self.model_copy(update={"representatives": chosen.model_copy(update=known)})
        if self.topics is not None:
            return self.model_copy(update={"topics": self.topics.model_copy(update={"text": self.topics.text or profile.text})})
        return self

    @property
    def reads(self) -> frozenset[str]:
        """The assets that its papers depend on, besides its file."""
        conditions = list(self.where.parts()) if self.where else []
        found = {"papers", "degrees"}
        if any(part.ids or part.cites or part.cited_by or part.near for part in conditions):
            found.add("identities")
        if any(part.cites or part.cited_by or part.near for part in conditions):
            found.add("citations")
        if self.topics or self.representatives:
            found.add("fulltexts")
        by_corpus = self.representatives is not None and self.representatives.vectors == "corpus"
        if self.topics or by_corpus or any(part.query and part.query.mode != "keyword" for part in conditions):
            found.add("embeddings")
        return frozenset(found)


def files(folder: Path) -> list[Path]:
    """The collection files of a folder, by name; none where there is no folder."""
    return sorted(folder.glob("*.yaml"))


def load(path: Path) -> Collection:
    """Read one file. Raises CollectionError, in one line, with the file and the field at fault."""
    try:
        said = strict_yaml.read(path)
    except strict_yaml.Unreadable as fault:
        raise CollectionError(f"{path.name} {fault}") from fault
    if not isinstance(said, dict):
        raise CollectionError(f"{path.name}: give a mapping with title, about and how its papers are chosen")
    named = said.setdefault("name", path.stem)
    if named != path.stem:
        raise CollectionError(f"{path.name}: name: {named!r} is not the file's own; rename one of them")
    if not NAME.match(path.stem):
        raise CollectionError(f"{path.name}: a collection is named by small letters, digits, - and _; rename the file")
    try:
        return Collection.model_validate(said)
    except ValidationError as fault:
        raise CollectionError(f"{path.name}: {_in_words(fault)}") from fault


def versions(paths: Iterable[Path]) -> dict[str, str]:
    """Name → checksum of collection files. Raises CollectionError at the first that is at fault."""
    return {load(path).name: file_checksum(path) for path in paths}


def load_all(folder: Path) -> dict[str, Collection]:
    """Every collection of a folder, by name. Raises CollectionError at the first file that is at fault."""
    return {path.stem: load(path) for path in files(folder)}


def _in_words(fault: ValidationError) -> str:
    first = fault.errors()[0]
    where = ".".join("from" if step == "since" else "to" if step == "until" else str(step) for step in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    said = said[0].lower() + said[1:]
    hint = "; put it in quotes" if first["type"] == "string_type" and isinstance(first["input"], int | float) else ""
    if first["type"] == "extra_forbidden":
        said = "there is no such setting"
    return f"{where + ': ' if where else ''}{said}{hint}"
