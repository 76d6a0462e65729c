"""Papers made by hand, and a model that answers about them as a test says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scholarlake.knowledge.objects import Candidate, Context, Quantity, Reading, Sentence, Source
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.models.chat import Tags
from scholarlake.models.config import ModelsFile
from scholarlake.models.crew import Crew
from tests.misbehaving import Asked, Reply, Server, said, serving

STUDY = ("conditions", "population", "setting", "dataset", "baseline", "place", "time", "assumptions")
OF = {
    "quantitative": ("population", "setting", "dataset", "baseline", "conditions"),
    "qualitative": ("population", "setting", "place", "time", "conditions"),
    "theoretical": ("setting", "assumptions", "conditions"),
}


def source(*texts: str, paper_id: str = "p1", title: str | None = "A study of sorting", sections: Iterable[tuple[str, ...]] = ()) -> Source:
    """A paper of these sentences, numbered from 0."""
    under = list(sections) or [()] * len(texts)
    start, sentences = 0, []
    for n, (text, above) in enumerate(zip(texts, under, strict=True)):
        sentences.append(Sentence(n, text, "abstract", above, start, start + len(text)))
        start += len(text) + 1
    return Source(paper_id, title, "abstract", digest(texts), tuple(sentences))


def candidate(
    statement: str,
    *evidence: Any,
    type: str = "finding",
    subject: str = "sorting",
    context: Iterable[tuple[Any, str]] = (),
    quantities: Iterable[Quantity] = (),
) -> Candidate:
    return Candidate(type, subject, statement, evidence, tuple(Context(*one) for one in context), tuple(quantities))


# -- what a model says ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """What a prompt of extraction shows. lines: the sentences by their numbers."""

    asked: Asked

    @property
    def lines(self) -> dict[int, str]:
        block = self.asked.prompt.split("lines with § are headings:")[1]
        tag = re.search(r"<text (\w+)>", block)
        assert tag is not None
        inside = block.split(tag[0] + "\n")[1].split(f"\n</text {tag[1]}>")[0]
        return {int(number): text for number, _, text in (line.partition(": ") for line in inside.splitlines()) if number.isdecimal()}

    @property
    def study_type(self) -> str | None:
        """The type that the schema is for; None where the answer has to say it."""
        properties = self.asked.body["response_format"]["json_schema"]["schema"]["properties"]
        if "study" in properties:
            return None
        fields = properties["facts"]["items"]["properties"]
        return next(name for name, some in OF.items() if set(some) <= set(fields))


def fact(statement: str, *evidence: int, kind: str = "quantitative", **more: Any) -> dict[str, Any]:
    """A fact as an answer has it."""
    empty: dict[str, Any] = {name: [] if name in ("conditions", "assumptions") else None for name in OF[kind]}
    return {"evidence": list(evidence), "type": "finding", "subject": "sorting", "statement": statement, **empty, "quantities": [], **more}


def quantity(value: str, unit: str | None = None, metric: str | None = None, comparator: str | None = None) -> dict[str, Any]:
    return {"value": value, "unit": unit, "metric": metric, "comparator": comparator}


def answer(asked: Asked, facts: list[dict[str, Any]], kind: str = "quantitative") -> Reply:
    """These facts, in the form that is asked for."""
    value: Any = {"facts": facts} if Shown(asked).study_type else {"study": {"study_type": kind, "facts": facts}}
    return said(json.dumps(value), asked)


def quoting(asked: Asked) -> Reply:
    """What a faithful model says: every sentence, word for word."""
    kind = Shown(asked).study_type or "quantitative"
    return answer(asked, [fact(text, number, kind=kind) for number, text in Shown(asked).lines.items()][:8], kind)


def verdict(asked: Asked, support: str = "yes", subject: str = "right", qualifications: str = "kept") -> Reply:
    return said(json.dumps({"reason": "so it says", "support": support, "subject": subject, "qualifications": qualifications}), asked)


def is_vote(asked: Asked) -> bool:
    return "support" in asked.body["response_format"]["json_schema"]["schema"]["properties"]


# -- roles on a server ---------------------------------------------------------------------------------------------------


@dataclass
class At:
    """A server, and crews of its models over one lake. A crew is a run: it keeps nothing in memory from the one before."""

    server: Server
    lake: Lake
    settings: dict[str, Any]

    @contextmanager
    def crew(self, *roles: str) -> Iterator[Crew]:
        endpoint = {"backend": "openai", "model": "m", "base_url": self.server.url, "concurrency": 4, "attempts": 2, "patience_seconds": 0}
        bound = {"roles": dict.fromkeys(roles, "here"), "endpoints": {"here": {**endpoint, **self.settings}}}
        with Crew(ModelsFile.model_validate(bound), self.lake, Tags("facts", "00", "run")) as opened:
            yield opened


@contextmanager
def at(behave: Callable[[Asked], Reply], folder: Path, **settings: Any) -> Iterator[At]:
    with ExitStack() as stack:
        server = stack.enter_context(serving(behave))
        yield At(server, Lake.create(folder / "lake", 1), {"sampling": {"max_tokens": 8_192}, **settings})


def by_paper(readings: Iterable[Reading]) -> dict[str, Reading]:
    return {reading.source.paper_id: reading for reading in readings}
