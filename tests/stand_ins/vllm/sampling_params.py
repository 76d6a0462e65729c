"""The settings of a request, as they are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class RequestOutputKind:
    FINAL_ONLY = "final"


@dataclass
class StructuredOutputsParams:
    json: Any = None


@dataclass
class SamplingParams:
    temperature: float
    top_p: float
    max_tokens: int
    seed: int | None
    stop: list[str] | None
    structured_outputs: StructuredOutputsParams | None
    output_kind: str
