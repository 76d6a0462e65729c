"""Making a text short: by the model of the role `summarizer`, or, where none is bound, by taking out its weightiest sentences.

What does not belong here: where sentences end (`documents.sentences`), how a model is reached (`models`).
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

from scholarlake.documents.sentences import split
from scholarlake.models.chat import ChatRequest, Sampling
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.prompts import prompt
from scholarlake.search.text import words
from scholarlake.toolbox.answers import Summary
from scholarlake.toolbox.faults import ToolFault

ROLE = "summarizer"
MAX_SENTENCES = 5
EXTRACTED = "extracted sentences"
_CANDIDATES = 60  # sentences among which repetition is looked for
_NOVELTY = 0.5  # how much of a sentence's weight it loses by saying what is said already
_ANSWER_TOKENS = 600
_FIRST = 1.15  # the first and the last sentence of a text mostly say what it is about
_PROMPTS = Path(__file__).parent / "prompts"
_STOP_WORDS = (
    "a an and are as at be been but by can do for from had has have in into is it its may not of on or our such than that the their then "
    "there these they this those to was we were what when where which while who will with"
)
_STOP = frozenset(_STOP_WORDS.split())


def summarize(content: str, model: ChatModel | None) -> Summary:
    """At most MAX_SENTENCES sentences. Raises ToolFault where a model that is bound gives none, or the text has no words."""
    if model is None:
        return Summary(summary=extracted(content), method=EXTRACTED, characters=len(content))
    messages = prompt(_PROMPTS, "summary").messages(content=content, sentences=MAX_SENTENCES)
    sampling = Sampling(max_tokens=_ANSWER_TOKENS)  # type: ignore[call-arg]
    for result in model.ask([ChatRequest(messages, sampling=sampling)]):
        if result.failure is None and result.text and result.text.strip():
            return Summary(summary=result.text.strip(), method=f"model {model.endpoint.model}", characters=len(content))
        why = result.failure.reason if result.failure else "an empty answer"
        raise ToolFault(
            "model_unavailable",
            f"endpoint {model.name}, bound to role {ROLE}, gave no summary ({why})",
            "send a shorter or other text, or go on without a summary",
        )
    raise ToolFault("model_unavailable", f"endpoint {model.name}, bound to role {ROLE}, gave no answer", "go on without a summary")


def extracted(content: str, most: int = MAX_SENTENCES) -> str:
    """The weightiest sentences of a text, in its order: those that say most of what the whole text is about, none twice.

    A sentence weighs the cosine between its words and those of all, each by how rarely sentences have it. Deterministic.
    """
    sentences = [" ".join(content[start:end].split()) for start, end in split(content)]
    bags = [Counter(_terms(sentence)) for sentence in sentences]
    if not any(bags):
        raise ToolFault("nothing_found", "the text holds no words", "send the text that is to be made short")
    if len(sentences) <= most:
        return " ".join(sentences)
    spread = Counter(term for bag in bags for term in bag)
    rarity = {term: math.log(1 + len(bags) / count) for term, count in spread.items()}
    vectors = [{term: count * rarity[term] for term, count in bag.items()} for bag in bags]
    centre: Counter[str] = Counter()
    for vector in vectors:
        centre.update(vector)
    weights = [_cosine(vector, centre) * (_FIRST if at in (0, len(vectors) - 1) else 1) for at, vector in enumerate(vectors)]
    left = sorted(range(len(sentences)), key=lambda at: (-weights[at], at))[:_CANDIDATES]
    chosen: list[int] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda at: (weights[at] * (1 - _NOVELTY * _closest(vectors, at, chosen)), -at))
        left.remove(best)
        if sentences[best] not in {sentences[at] for at in chosen}:
            chosen.append(best)
    return " ".join(sentences[at] for at in sorted(chosen))


def _terms(sentence: str) -> list[str]:
    return [word for piece in words(sentence.lower().split()) if (word := piece.strip("'")) and word not in _STOP]


def _closest(vectors: list[dict[str, float]], at: int, others: list[int]) -> float:
    return max((_cosine(vectors[at], vectors[other]) for other in others), default=0.0)


def _cosine(one: dict[str, float] | Counter[str], other: dict[str, float] | Counter[str]) -> float:
    product = sum(weight * other.get(term, 0.0) for term, weight in one.items())
    lengths = math.sqrt(sum(weight * weight for weight in one.values())) * math.sqrt(sum(weight * weight for weight in other.values()))
    return product / lengths if lengths else 0.0
