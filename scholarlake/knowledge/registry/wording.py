"""What became of an object, in words: how a version differs from the one before it.

What does not belong here: which version follows which (`matching`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scholarlake.knowledge.numerals import level, numerals
from scholarlake.knowledge.registry.matching import Assets, Content, bases, folded

_NAMED = 3  # changes that are told one by one
_SHOWN = 160  # characters of a text that is quoted
_TOKEN = re.compile(r"\S+")

#: Asset → why this run revised or took it.
Causes = Mapping[str, str]


def difference(kind: str, old: Content, new: Content, assets: Assets, causes: Causes) -> str:
    """How a version differs from the one before it, in a line."""
    found = [*_bases(old, new, assets, causes), *_BY_KIND[kind](old, new)]
    return "; ".join(list(dict.fromkeys(found))[:_NAMED]) or "it is put differently"


def numbers_changed(old: str, new: str) -> list[str]:
    """The numbers that stand for others in otherwise the same text; nothing where more than they changed."""
    (left, some), (right, others) = ((level(text), [one for one in numerals(text) if one.name is None]) for text in (old, new))
    if len(some) != len(others) or _without(left, some) != _without(right, others):
        return []
    return [
        f"number changed from {one.written}{one.unit} to {other.written}{other.unit}"
        for one, other in zip(some, others, strict=True)
        if (one.readings, one.unit) != (other.readings, other.unit)
    ]


def _without(text: str, found: Sequence[Any]) -> str:
    kept, end = [], 0
    for one in found:
        kept.append(text[end : one.start])
        end = one.end
    return folded("#".join([*kept, text[end:]]))


def _facts(old: Content, new: Content) -> list[str]:
    found = [] if old["statement"] == new["statement"] else numbers_changed(old["statement"], new["statement"]) or ["the sentence changed"]
    if folded(old["subject"]) != folded(new["subject"]):
        found.append(f"subject changed from {_quoted(old['subject'])} to {_quoted(new['subject'])}")
    found += conditions_changed(old["context"], new["context"])
    if not found and old.get("taxonomy") != new.get("taxonomy"):
        found.append("read under another taxonomy")
    if not found and old["evidence_hash"] != new["evidence_hash"]:
        found.append("the sentences around it changed")
    return found


def conditions_changed(old: Sequence[Content], new: Sequence[Content]) -> list[str]:
    """Which conditions came and went."""
    left, right = ([f"{one['kind']} {_quoted(one['text'])}" for one in side] for side in (old, new))
    return [f"{what} went" for what in left if what not in right] + [f"{what} came" for what in right if what not in left]


def _taxonomies(old: Content, new: Content) -> list[str]:
    left, right = ({one["category_id"]: one for one in side["categories"]} for side in (old, new))
    changed = [name for name in left if name in right and left[name] != right[name]]
    return [
        *(f"category {name} went" for name in left if name not in right),
        *(f"category {name} came" for name in right if name not in left),
        *(f"category {name} is put differently" for name in changed),
    ]


def _entities(old: Content, new: Content) -> list[str]:
    found = [] if old["name"] == new["name"] else [f"named {_quoted(new['name'])} instead of {_quoted(old['name'])}"]
    left, right = set(old["keys"]), set(new["keys"])
    found += [f"{_quoted(key)} is it no longer" for key in sorted(left - right)]
    return found + [f"{_quoted(key)} is it as well" for key in sorted(right - left)]


def _judgements(old: Content, new: Content) -> list[str]:
    moved = [name for name in ("certainty", "inference") if name in new and old.get(name) != new[name]]
    found = [f"{name} changed from {old.get(name)} to {new[name]}" for name in moved]
    return found + conditions_changed(old["conditions"], new["conditions"])


def _relations(old: Content, new: Content) -> list[str]:
    left, right = ({one["name"]: one["value"] for one in side["payload"]} for side in (old, new))
    changed = [f"{name} changed from {left[name]} to {right[name]}" for name in left if name in right and left[name] != right[name]]
    return [*changed, *_judgements(old, new)]


def _syntheses(old: Content, new: Content) -> list[str]:
    left, right = set(old["studies"]), set(new["studies"])
    studies = [*(f"study {one} went" for one in sorted(left - right)), *(f"study {one} came" for one in sorted(right - left))]
    return conditions_changed(old["conditions"], new["conditions"]) + studies


def _bases(old: Content, new: Content, assets: Assets, causes: Causes) -> list[str]:
    """What became of what it rests on: what was revised first, for that is why."""
    left, right = ({assets.get(one, one): one for one in bases(side)} for side in (old, new))
    revised = [one for one in left if one in right and left[one] != right[one]]
    return [
        *(f"a basis was revised ({causes.get(one, 'it changed')})" for one in revised),
        *(f"a basis went ({causes.get(one, 'it is not cited any more')})" for one in left if one not in right),
        *("a basis came" for one in right if one not in left),
    ]


def causes_of(old: Content, new: Content, assets: Assets) -> str | None:
    """The first asset under it that is another than it was: revised, gone or new."""
    left, right = ({assets.get(one, one): one for one in bases(side)} for side in (old, new))
    return next((one for one in [*left, *right] if left.get(one) != right.get(one)), None)


def _quoted(text: str) -> str:
    plain = " ".join(str(text).split())
    return f'"{plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1] + "…"}"'


def joined(reasons: Iterable[str]) -> str:
    """A few reasons in a line."""
    kept = list(dict.fromkeys(reasons))
    more = f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
    return "; ".join(kept[:_NAMED]) + more


_BY_KIND: Mapping[str, Callable[[Content, Content], list[str]]] = {
    "fact": _facts,
    "taxonomy": _taxonomies,
    "entity": _entities,
    "assignment": _judgements,
    "relation": _relations,
    "synthesis": _syntheses,
}
