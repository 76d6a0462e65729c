"""Synthesis on request: a candidate for an account from the objects of a view, by a model bound to the role, or by rules.

A candidate is no object: it is in no index and no view until somebody registers it (`registry`). Each of its claims cites items of the
view; what is said without a source, or with a number that no cited item has, is a note. What does not belong here: the syntheses that a
build makes (`syntheses`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from scholarlake.errors import ModelError
from scholarlake.knowledge.cited import Cited
from scholarlake.knowledge.layer.items import AnyItem, AssignmentItem, Basis, Claim, FactItem, RelationItem
from scholarlake.knowledge.layer.shown import text_of
from scholarlake.knowledge.layer.store import Store
from scholarlake.knowledge.layer.view import BadRequest, PaperRef, Request, View
from scholarlake.knowledge.numerals import numerals
from scholarlake.knowledge.objects import Context
from scholarlake.knowledge.syntheses import objects as proposed
from scholarlake.knowledge.syntheses.objects import Proposal
from scholarlake.models.chat import ChatRequest
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.prompts import prompt

ROLE = "synthesizer"
BY_RULES = "rules:candidate"
MAX_CLAIMS = 12
MAX_OBJECTS = 40
MAX_QUESTION = 2_000
_PROMPTS = Path(__file__).parent / "prompts"

Citable = FactItem | AssignmentItem | RelationItem


@dataclass(frozen=True)
class Candidate:
    """An account that is not registered. Its fields are those that registering takes.

    kind: one of `contracts.SYNTHESIS_KINDS`. basis: every cited object and what it is to the account. studies: papers considered, sorted;
    sources: those, versions of one work being one. notes: what was said or found that no object of the view bears out.
    """

    collection: str
    release: str
    kind: str
    topic: str
    title: str
    claims: tuple[Claim, ...]
    conditions: tuple[Context, ...]
    basis: tuple[Basis, ...]
    studies: tuple[str, ...]
    sources: int
    notes: tuple[str, ...]
    method: str
    history: tuple[Request, ...]
    question: str | None = None
    status: Literal["candidate"] = "candidate"

    @property
    def account(self) -> str:
        """Its claims, one behind the other."""
        return " ".join(claim.text for claim in self.claims)

    @property
    def proposal(self) -> Proposal:
        """What registering takes: the account with what it rests on, without what is only a note."""
        return Proposal(
            self.collection,
            self.kind,
            self.topic,
            self.title,
            tuple(proposed.Claim(one.text, one.cites) for one in self.claims),
            tuple(proposed.Basis(one.object_id, one.role, one.why) for one in self.basis),
            self.conditions,
            method=self.method,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "account": self.account}


def candidate(store: Store, view: View, question: str | None, model: ChatModel | None, request: Request) -> Candidate:
    """What the citable items of a view say together.

    Raises BadRequest where it has none, ModelError where a model that is bound gives no account.
    """
    if question is not None and (not question.strip() or len(question) > MAX_QUESTION):
        raise BadRequest(f"a question has 1 to {MAX_QUESTION:,} characters, not {len(question.strip()):,}")
    papers = {paper.paper_id: paper for paper in view.papers}
    sound, notes = _sound(view.items, papers)
    if not sound:
        raise BadRequest(f"there is nothing in the view to rest an account on{': ' + notes[0] if notes else ''}; expand it along facts")
    if model is None:
        claims, roles, more = _by_rules(sound, papers)
        title, method = _title(sound), BY_RULES
    else:
        title, claims, roles, more, method = _by_model(sound, papers, question, model)
    cited = [item for item in sound if any(item.object_id in claim.cites for claim in claims)]
    studies = sorted({paper for item in cited for paper in item.papers})
    return Candidate(
        collection=view.collection,
        release=view.release,
        kind=_kind(cited),
        topic=question.strip() if question else _topic(sound),
        title=title or _title(sound),
        claims=claims,
        conditions=_common(cited),
        basis=tuple(Basis(item.object_id, item.kind, roles.get(item.object_id, "supporting"), _why(item, claims)) for item in cited),
        studies=tuple(studies),
        sources=len({papers[paper].source if paper in papers else paper for paper in studies}),
        notes=tuple(dict.fromkeys([*notes, *more])),
        method=method,
        history=(*view.history, request),
        question=question,
    )


def _sound(items: Iterable[AnyItem], papers: Mapping[str, PaperRef]) -> tuple[list[Citable], list[str]]:
    """What an account may rest on, and what of the view it may not."""
    sound: list[Citable] = []
    out: Counter[str] = Counter()
    for item in items:
        if not isinstance(item, Citable):
            out[f"of kind {item.kind}, which no account rests on"] += 1
        elif item.standing.status not in ("current", "needs_recheck"):
            out[f"{item.standing.status}"] += 1
        elif item.verification == "failed":
            out["failed by a check"] += 1
        elif item.papers and all(papers[paper].withdrawn for paper in item.papers if paper in papers):
            out["of withdrawn papers"] += 1
        elif not item.papers or (isinstance(item, RelationItem) and not item.basis):
            out["on no fact"] += 1
        else:
            sound.append(item)
    return sound, [f"{count} of the view's items left out: {why}" for why, count in sorted(out.items())]


# -- by rules --------------------------------------------------------------------------------------------------------

_Made = tuple[tuple[Claim, ...], dict[str, str], list[str]]


def _by_rules(sound: Sequence[Citable], papers: Mapping[str, PaperRef]) -> _Made:
    """A claim for each thing that is stated, in the words of the papers; what several state in the same words is one claim."""
    facts: Sequence[Citable] = [item for item in sound if isinstance(item, FactItem)] or sound
    said: dict[str, list[str]] = {}
    for item in facts:
        said.setdefault(_stated(item), []).append(item.object_id)
    claims = tuple(Claim(text, tuple(ids)) for text, ids in list(said.items())[:MAX_CLAIMS])
    left = len(said) - len(claims)
    roles = {item.object_id: "limiting" for item in facts if isinstance(item, FactItem) and item.type == "limitation"}
    return claims, roles, [f"{left} more statements of the view are not in it: an account has {MAX_CLAIMS} claims"] if left else []


def _stated(item: Citable) -> str:
    """What an object says, with the conditions that its words leave out."""
    text = text_of(item).strip()
    lead = f"{item.subject}: " if isinstance(item, FactItem) and item.subject.casefold() not in text.casefold() else ""
    under = [one.text for one in item.conditions if one.text.casefold() not in text.casefold()]
    ends = f" ({'; '.join(under)})." if under else "" if text.endswith((".", "!", "?", "。")) else "."
    return lead + (text.rstrip(".") if under else text) + ends


# -- by a model ------------------------------------------------------------------------------------------------------


def _by_model(
    sound: Sequence[Citable], papers: Mapping[str, PaperRef], question: str | None, model: ChatModel
) -> tuple[str, tuple[Claim, ...], dict[str, str], list[str], str]:
    shown = sound[:MAX_OBJECTS]
    asked = prompt(_PROMPTS, "synthesize")
    objects = "\n".join(f"{number}: {_shown(item, papers)}" for number, item in enumerate(shown, 1))
    messages = asked.messages(question=question, objects=objects, most=MAX_CLAIMS)
    for result in model.ask([ChatRequest(messages, schema_of(len(shown)), item="candidate")]):
        if result.failure is not None:
            raise ModelError(f"{model.name}, bound to role {ROLE}, gave no account ({result.failure.reason})")
        claims, notes = _grounded(result.value, shown)
        if len(sound) > len(shown):
            notes.append(f"{len(sound) - len(shown)} of {len(sound)} objects were not shown to the model")
        roles = {shown[number - 1].object_id: role for role in ("opposing", "limiting") for number in result.value[role]}
        revision = f"@{model.endpoint.revision}" if model.endpoint.revision else ""
        title = result.value["title"].strip()
        kept = "" if _strays(title, Cited(_words(item) for item in shown)) else title
        return kept, claims, roles, notes, f"{ROLE}:{model.endpoint.model}{revision} prompt:{asked.version[:12]}"
    raise ModelError(f"{model.name}, bound to role {ROLE}, gave no answer")


def schema_of(objects: int) -> dict[str, Any]:
    """What an answer about so many objects looks like; everything in it is bounded."""
    number = {"type": "integer", "enum": list(range(1, objects + 1))}
    numbers = {"type": "array", "maxItems": objects, "items": number}
    claim = {"text": {"type": "string", "maxLength": 500}, "cites": {"type": "array", "maxItems": 8, "items": number}}
    properties = {
        "title": {"type": "string", "maxLength": 120},
        "claims": {"type": "array", "maxItems": MAX_CLAIMS, "items": _object(claim)},
        "opposing": numbers,
        "limiting": numbers,
        "notes": {"type": "array", "maxItems": 4, "items": {"type": "string", "maxLength": 300}},
    }
    return _object(properties)


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False}


def _grounded(value: Mapping[str, Any], shown: Sequence[Citable]) -> tuple[tuple[Claim, ...], list[str]]:
    """Claims that cite something and whose numbers stand there; all else as notes, with why."""
    claims, notes = [], []
    for entry in value["claims"]:
        text = " ".join(entry["text"].split())
        cited = [shown[number - 1] for number in dict.fromkeys(entry["cites"])]
        if not text:
            continue
        if not cited:
            notes.append(f"without a source: {text}")
        elif strays := _strays(text, Cited(_words(item) for item in cited)):
            notes.append(f"{', '.join(strays)} stands in nothing that is cited: {text}")
        else:
            claims.append(Claim(text, tuple(item.object_id for item in cited)))
    notes += [f"said by the model, without a source: {said}" for note in value["notes"] if (said := " ".join(note.split()))]
    return tuple(claims), notes


def _strays(text: str, there: Cited) -> list[str]:
    """Numbers of a text that do not stand in some others. "One", and digits in names, are none."""
    return [one.written for one in numerals(text) if one.name is None and not (one.in_words and one.value == 1) and not there.has(one)]


def _words(item: Citable) -> str:
    """All words in which the numbers of an object stand."""
    numbers = [" ".join(filter(None, (one.metric, one.value, one.unit))) for one in item.quantities] if isinstance(item, FactItem) else []
    payload = [f"{one.name} {one.value}" for one in item.payload] if isinstance(item, RelationItem) else []
    return "\n".join([text_of(item), *(one.text for one in item.conditions), *numbers, *payload])


def _shown(item: Citable, papers: Mapping[str, PaperRef]) -> str:
    under = f" [under: {'; '.join(one.text for one in item.conditions)}]" if item.conditions else ""
    named = "; ".join(papers[paper].named for paper in item.papers[:3] if paper in papers)
    kind = item.type if isinstance(item, FactItem) else item.kind
    return " ".join(f"({kind.replace('_', ' ')}, {named}) {text_of(item)}{under}".split())


# -- what it is ------------------------------------------------------------------------------------------------------


def _kind(cited: Sequence[Citable]) -> str:
    """An open problem where only limits and suppositions are cited, a difference by context where one metric or subject is reported under
    several conditions, else an overview."""
    facts = [item for item in cited if isinstance(item, FactItem)]
    if facts and all(item.type in ("limitation", "hypothesis") for item in facts):
        return "open_problem"
    settings: dict[str, set[tuple[Context, ...]]] = {}
    for fact in facts:
        if fact.type in ("finding", "theoretical_result"):
            for about in {fact.subject.casefold(), *(one.metric.casefold() for one in fact.quantities if one.metric)}:
                settings.setdefault(about, set()).add(fact.context)
    return "context_difference" if any(len(found) > 1 for found in settings.values()) else "family_overview"


def _topic(sound: Sequence[Citable]) -> str:
    subjects = Counter(item.subject if not isinstance(item, RelationItem) else item.source or item.source_id for item in sound)
    return min(subjects, key=lambda subject: (-subjects[subject], subject))


def _title(sound: Sequence[Citable]) -> str:
    return f"What is stated about {_topic(sound)}"


def _common(cited: Sequence[Citable]) -> tuple[Context, ...]:
    """Conditions that all of it holds under."""
    if not cited:
        return ()
    return tuple(one for one in cited[0].conditions if all(one in item.conditions for item in cited))


def _why(item: Citable, claims: Sequence[Claim]) -> str:
    numbers = [str(number) for number, claim in enumerate(claims, 1) if item.object_id in claim.cites]
    return f"claim {', '.join(numbers)}"
