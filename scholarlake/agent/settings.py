"""How an agent is set: SciLENS's settings (its section 2.3 and appendices C, I and J.2), and a version of all that decides what it does.

What does not belong here: which model it is (`data/models.yaml`, role `agent`), what it is told (`prompt`).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from scholarlake.lake.hashing import digest
from scholarlake.models.chat import Sampling

Calling = Literal["tags", "native"]
ContextMode = Literal["none", "keep-20", "keep-5", "discard-all"]

_LOOP = 1  # raised whenever the loop does something else with the same settings and the same prompt


class Settings(BaseModel):
    """All that changes what an agent does, but for the model, the question and the release."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calling: Calling = Field(default="tags", description="calls in tags, or by the model's own function calling")
    context: ContextMode = Field(
        default="keep-5", description="which observations the model is shown whole: all, the newest 20 or 5, or all until they are too many"
    )
    rounds: int = Field(default=200, ge=1, description="turns, at most")
    rerolls: int = Field(default=3, ge=0, description="how often a turn without a call and an answer is asked for again")
    vain: int = Field(default=10, ge=1, description="turns in a row that can't be used, after which it is given up")
    restarts: int = Field(default=5, ge=0, description="of discard-all: how often it begins anew when the context is full")
    temperature: float = Field(default=0.6, ge=0)
    top_p: float = Field(default=0.95, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, description="longest turn; as the role is bound where not given")
    seed: int = Field(default=0, ge=0, description="another seed is another run; the same finds the answers that are kept")
    longest_observation: int = Field(default=40_000, ge=500, description="characters of an observation")

    def sampling(self, roll: int) -> Sampling:
        """How a turn is drawn. Every roll has a seed of its own, or it would get the answer that is kept of the one before."""
        given = {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        return Sampling.model_validate({"temperature": self.temperature, "top_p": self.top_p, "seed": self._seed(roll), **given})

    def _seed(self, roll: int) -> int:
        rolls = (self.rerolls + 1) * (self.restarts + 1)
        return self.seed * rolls + roll

    @property
    def kept(self) -> int | None:
        """How many observations are shown whole; None for all."""
        return {"keep-20": 20, "keep-5": 5}.get(self.context)


def version_of(settings: Settings, prompt_version: str) -> str:
    """12 digits over the prompt, the settings and the loop. The seed is none of them: runs of one version differ by it."""
    said = settings.model_dump_json(exclude={"seed"})
    return digest([str(_LOOP), prompt_version, said])[:12]
