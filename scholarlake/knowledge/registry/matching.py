"""Which new object continues one that is gone: explicit rules a kind, the likest pairs first, each object once, whatever the order.

Objects are compared by what rests under them as assets, so that what was revised below is no difference. What does not belong here: how a
difference is told (`wording`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Content = Mapping[str, Any]
#: Object id → the asset that it is a version of; what is no asset stands for itself.
Assets = Mapping[str, str]

_WORD = re.compile(r"\w+")
_ALIKE = 0.6  # share of words in common from which a statement is taken for another wording of one on other grounds


@dataclass(frozen=True)
class Candidate:
    """An object that may continue another, or be continued. name: its asset where it is gone, its id where it is new."""

    name: str
    content: Content


def continued(kind: str, gone: Sequence[Candidate], fresh: Sequence[Candidate], assets: Assets) -> dict[str, str]:
    """New object id → the asset that it continues."""
    if not gone or not fresh:
        return {}
    blocks, likeness = _RULES[kind]
    waiting: dict[str, list[Candidate]] = defaultdict(list)
    for one in gone:
        for block in blocks(one.content, assets):
            waiting[block].append(one)
    pairs = {
        (-likeness(old.content, new.content, assets), old.name, new.name)
        for new in fresh
        for block in blocks(new.content, assets)
        for old in waiting.get(block, ())
    }
    taken: set[str] = set()
    found: dict[str, str] = {}
    for against, old, new in sorted(pairs):
        if against < 0 and old not in taken and new not in found:
            taken.add(old)
            found[new] = old
    return found


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


def common(left: Counter[str], right: Counter[str]) -> float:
    """The share of words that two texts have in common, of all that they have."""
    both = left.total() + right.total()
    return 2 * (left & right).total() / both if both else 0.0


def shared(left: Iterable[str], right: Iterable[str]) -> float:
    """The share that two sets have in common, of all that they have."""
    one, other = set(left), set(right)
    return len(one & other) / len(one | other) if one | other else 0.0


def folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def bases(content: Content) -> list[str]:
    """Ids of what an object rests on, roles apart."""
    return [one["object_id"] if isinstance(one, Mapping) else one for one in content.get("basis") or ()]


def _facts(one: Content, assets: Assets) -> list[str]:
    return [f"{one['paper_id']}|{one['type']}"]


def _like_facts(old: Content, new: Content, assets: Assets) -> float:
    """Of one subject on sentences in the same place, or much the same words."""
    alike = common(words(old["statement"]), words(new["statement"]))
    if folded(old["subject"]) == folded(new["subject"]) and set(old["evidence"]) & set(new["evidence"]):
        return 1.0 + alike
    return alike if alike >= _ALIKE else 0.0


def _of_collection(one: Content, assets: Assets) -> list[str]:
    return [str(one["collection"])]


def _entities(one: Content, assets: Assets) -> list[str]:
    return [f"{one['collection']}|{one['type']}|{key}" for key in one["keys"]]


def _assignments(one: Content, assets: Assets) -> list[str]:
    return [f"{one['collection']}|{assets.get(one['subject_id'], one['subject_id'])}|{one['category_id']}"]


def _relations(one: Content, assets: Assets) -> list[str]:
    ends = (assets.get(one[end], one[end]) for end in ("source_id", "target_id"))
    return ["|".join([one["collection"], one["relation"], *ends])]


def _syntheses(one: Content, assets: Assets) -> list[str]:
    return [f"{one['collection']}|{one['kind']}|{folded(one['topic'])}"]


def _like_bases(old: Content, new: Content, assets: Assets) -> float:
    return shared(*([assets.get(one, one) for one in bases(side)] for side in (old, new)))


def _like_syntheses(old: Content, new: Content, assets: Assets) -> float:
    """What is said of one topic is one account, whatever it rests on by now."""
    return 1.0 + _like_bases(old, new, assets)


_RULES: Mapping[str, tuple[Callable[[Content, Assets], list[str]], Callable[[Content, Content, Assets], float]]] = {
    "fact": (_facts, _like_facts),
    "taxonomy": (_of_collection, lambda old, new, assets: 1.0),
    "entity": (_entities, lambda old, new, assets: shared(old["keys"], new["keys"])),
    "assignment": (_assignments, _like_bases),
    "relation": (_relations, _like_bases),
    "synthesis": (_syntheses, _like_syntheses),
}
