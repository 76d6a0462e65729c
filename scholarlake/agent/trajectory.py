"""What is kept of a run: the question, every turn and every roll of it, every call and what it gave, tokens, seconds, and how it ended.

A trajectory is one JSON file, in the lake's own folder or anywhere else. It holds what is needed to do its calls again (`replay`) and to
learn from it (`messages`); observations stand in it as the model was shown them first, whole. What does not belong here: what is shown of
them later (`context`), and what a model learns (`training`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scholarlake.agent.settings import Settings
from scholarlake.errors import SourceError
from scholarlake.lake.files import write_atomically
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.lake.releases import Release
from scholarlake.models.chat import FunctionCall

FOLDER = "trajectories"

Outcome = Literal[
    "running",
    "answered",
    "rounds_spent",  # all turns taken, no answer
    "stuck",  # turn after turn that can't be used
    "refused",  # the model will not answer
    "context_full",  # the conversation is longer than the model can read
    "rejected",  # the endpoint does not take the request, for another reason
    "model_lost",  # the endpoint is gone, or breaks down
    "budget_spent",
    "interrupted",
    "failed",  # a fault of ours; the log has it
]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ReleaseRead(Part):
    """Which release was read. digest: over all that it pins."""

    name: str
    digest: str

    @classmethod
    def of(cls, release: Release) -> ReleaseRead:
        return cls(name=release.name, digest=digest([orjson.dumps(release.cut, option=orjson.OPT_SORT_KEYS).decode()]))


class ModelAsked(Part):
    """Which model it was: the role that it played, the name of its endpoint, and what identifies it."""

    role: str
    endpoint: str
    model: str
    revision: str = ""


class Roll(Part):
    """One answer of the model to one request. text: as the server gave it; none with a failure."""

    seed: int | None
    text: str | None = None
    thought: str | None = Field(default=None, description="where the server tells it apart from the text")
    failure: str | None = None
    flaws: list[str] = Field(default=[], description="codes of what is wrong with its form")
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cached: bool = Field(default=False, description="whether it was an answer that was kept: then it took no tokens")


class Round(Part):
    """A turn of the agent, and what it was told next. call: the payload of the tool, where the turn makes one that parses."""

    number: int = Field(description="from 1")
    start: int = Field(default=0, description="how often it had begun anew before")
    rolls: list[Roll] = []
    text: str = Field(default="", description="the turn that was taken, in its tags")
    native: list[dict[str, str]] = Field(default=[], description="its calls by the model's own function calling: id, name, arguments")
    thought: str | None = None
    call: dict[str, Any] | None = None
    ok: bool | None = Field(default=None, description="whether the tool gave a result; null without a call that parses")
    observation: str | None = Field(default=None, description="what the model was shown of it; null behind an answer")
    tool_seconds: float = 0.0

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        return tuple(FunctionCall(**one) for one in self.native)


class Citation(Part):
    """A citation of an answer. paper_id: null where this release has no such paper. seen: whether a tool had shown the paper."""

    id: str
    paper_id: str | None = None
    title: str | None = None
    year: int | None = None
    seen: bool = False


class Answer(Part):
    """What the agent answers. text: as it was written, but for charts that no tool drew. charts: payloads of those that it holds.
    faults: what in it leads nowhere, a line each."""

    text: str
    citations: list[Citation] = []
    charts: list[dict[str, Any]] = []
    faults: list[str] = []


class Totals(Part):
    rounds: int = 0
    calls: int = 0
    rolls: int = 0
    hits: int = Field(default=0, description="turns that were kept answers")
    tokens_in: int = 0
    tokens_out: int = 0
    model_seconds: float = 0.0
    tool_seconds: float = 0.0
    cost: float | None = Field(default=0.0, description="in the currency of the endpoint's prices; null where it has none")


class Trajectory(Part):
    """A run from its question to its end."""

    format: Literal[1] = 1
    question: str
    release: ReleaseRead
    model: ModelAsked
    settings: Settings
    run: str = Field(default="", description="by which its costs are found")
    version: str = Field(description="of the prompt, the settings and the loop")
    system: str = Field(description="the system prompt")
    started_at: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    seconds: float = 0.0
    outcome: Outcome = "running"
    message: str = Field(default="", description="how it ended, in a line")
    rounds: list[Round] = []
    answer: Answer | None = None
    totals: Totals = Totals()

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        write_atomically(path, orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2) + b"\n")

    def place(self, lake: Lake) -> Path:
        """Where it lies in its lake, of all runs at all times alone."""
        when = datetime.fromisoformat(self.started_at).strftime("%Y%m%dT%H%M%S")
        asked = digest([self.question, self.version, str(self.settings.seed), self.model.model, str(self.seconds)])
        return lake.root / FOLDER / f"{when}-{asked[:8]}.json"


def load(path: Path) -> Trajectory:
    """Read a trajectory. Raises SourceError where the file is none."""
    try:
        return Trajectory.model_validate(orjson.loads(path.read_bytes()))
    except OSError as fault:
        raise SourceError(f"{path} can't be read ({fault.strerror}); name a trajectory") from fault
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise SourceError(f"{path} is no trajectory of this version ({where}: {first['msg']}); name another file") from fault
    except ValueError as fault:
        raise SourceError(f"{path} is no JSON ({fault}); name a trajectory") from fault
