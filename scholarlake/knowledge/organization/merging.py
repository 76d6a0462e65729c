"""Which names are one object: by rules whose grounds can be told, by rulings of the taxonomy file, by an adjudicator; else left apart.

Every ground is a pair of names. Pairs are taken in a fixed order, strongest grounds first, and none is taken that would bring together
what a ruling keeps apart; so the order of the facts is all one. What does not belong here: asking the adjudicator (`adjudication`),
rows (`entities`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from scholarlake.knowledge.objects import Vote
from scholarlake.knowledge.organization.lexicon import names
from scholarlake.knowledge.organization.mentions import Mention
from scholarlake.knowledge.organization.names import american, closed, is_short_form, key_of, numbers
from scholarlake.lake import contracts

Verdict = Literal["same", "different", "doubtful"]
RULES = "rules"
_STRENGTH = ("ruling", "spelling", "spacing", "genus", "acronym", "named", "adjudicated")
_SURE = frozenset(("ruling", "spelling", "spacing", "genus"))
_LEAST_NEAR, _LEAST_CLOSED = 7, 6  # letters of names whose spellings are compared
_OF_LONG_FORM = 2.0  # how surely the long form of a name tells its type
_KINDS_OF_NAMES = frozenset(
    ("algorithm", "method", "technique", "procedure", "protocol", "scheme", "assay", "software", "dataset", "corpus")
)


@dataclass(frozen=True)
class Rulings:
    """What the taxonomy file says of entities: pairs of names that are one, and pairs that are not."""

    same: tuple[tuple[str, str], ...] = ()
    apart: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Decision:
    """What was decided about two names. left, right: their nodes, in order."""

    left: str
    right: str
    verdict: Verdict
    rule: str
    reason: str
    votes: tuple[Vote, ...] = ()
    method: str = RULES


@dataclass(frozen=True)
class Form:
    """A name in a collection, as one node. surfaces: how often each of its spellings occurs; types: what speaks for which type."""

    node: str
    surfaces: Mapping[str, int]
    papers: frozenset[str]
    types: Mapping[str, float]

    @property
    def shown(self) -> str:
        return commonest(self.surfaces)


@dataclass(frozen=True)
class Placed:
    """A mention with the node that it belongs to, and what led there from its form: form, acronym or ruling."""

    mention: Mention
    node: str
    rule: str


@dataclass
class Group:
    """An entity in the making. rules: what merged its forms."""

    forms: list[Form]
    rules: set[str] = field(default_factory=set)

    @property
    def nodes(self) -> list[str]:
        return sorted(form.node for form in self.forms)

    @property
    def type(self) -> str:
        """What most speaks for."""
        total: Counter[str] = Counter()
        for form in self.forms:
            total.update(form.types)
        return max(contracts.ENTITY_TYPES, key=lambda name: (total.get(name, 0.0), -contracts.ENTITY_TYPES.index(name)))

    @property
    def certainty(self) -> str:
        return "confirmed" if self.rules <= _SURE else "likely"

    @property
    def name(self) -> str:
        """The commonest of its full forms, or of all where there is none."""
        surfaces: Counter[str] = Counter()
        for form in self.forms:
            surfaces.update(form.surfaces)
        full = {surface: count for surface, count in surfaces.items() if not is_short_form(surface)}
        return commonest(full or surfaces)


def commonest(surfaces: Mapping[str, int]) -> str:
    """The spelling that most have, capitals aside; of its variants the commonest, the one with the fewest capitals where they tie."""
    folded: Counter[str] = Counter()
    for surface, count in surfaces.items():
        folded[surface.casefold()] += count
    best = min(folded, key=lambda name: (-folded[name], name))
    some = [surface for surface in surfaces if surface.casefold() == best]
    return min(some, key=lambda surface: (-surfaces[surface], sum(map(str.isupper, surface)), surface))


# -- places ------------------------------------------------------------------------------------------------------------


def place(mentions: Sequence[Mention], short_forms: Mapping[str, Mapping[str, str]], rulings: Rulings) -> list[Placed]:
    """Every mention at its node: its form, but where its paper defines a short form that elsewhere stands for something else, the long
    form; and a spelling of its own where a ruling parts spellings of one form."""
    parted = {
        surface: f"{key_of(surface)} [{surface}]"
        for pair in rulings.apart
        if key_of(pair[0]) == key_of(pair[1])
        for surface in pair[:1]
        if pair[0] != pair[1]
    }
    long_of = {
        paper: {key_of(short): key_of(long) for short, long in found.items() if key_of(long)} for paper, found in short_forms.items()
    }
    several = {short for short, longs in _expansions(long_of.values()).items() if len(longs) > 1}
    placed = []
    for mention in mentions:
        own = long_of.get(mention.paper_id, {})
        if mention.type == "concept" and (head := names().heads.get(own.get(mention.key, "").rpartition(" ")[2])) is not None:
            mention = replace(mention, type=head, weight=_OF_LONG_FORM)
        if mention.surface in parted:
            placed.append(Placed(mention, parted[mention.surface], "ruling"))
        elif mention.key in several and mention.key in own:
            placed.append(Placed(mention, own[mention.key], "acronym"))
        else:
            placed.append(Placed(mention, mention.key, "form"))
    return placed


def forms_of(placed: Sequence[Placed]) -> dict[str, Form]:
    """The nodes of mentions, each with all that is known of it."""
    surfaces: dict[str, Counter[str]] = defaultdict(Counter)
    papers: dict[str, set[str]] = defaultdict(set)
    types: dict[str, Counter[str]] = defaultdict(Counter)
    for one in placed:
        surfaces[one.node][one.mention.surface] += 1
        papers[one.node].add(one.mention.paper_id)
        types[one.node][one.mention.type] += one.mention.weight  # type: ignore[assignment]
    return {node: Form(node, surfaces[node], frozenset(papers[node]), types[node]) for node in sorted(surfaces)}


def _expansions(long_of: Iterable[Mapping[str, str]]) -> dict[str, set[str]]:
    """Short form → the long forms that it stands for, spellings of one name being one."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for own in long_of:
        for short, long in own.items():
            spelling = closed(american(long))
            found[short][spelling] = min(long, found[short].get(spelling, long))
    return {short: set(longs.values()) for short, longs in found.items()}


# -- grounds -----------------------------------------------------------------------------------------------------------


def grounds(forms: Mapping[str, Form], short_forms: Mapping[str, Mapping[str, str]], rulings: Rulings) -> list[Decision]:
    """Every pair of names about which a rule or a ruling says something, doubtful ones included."""
    found: dict[tuple[str, str], Decision] = {}
    for decision in (
        *_ruled(forms, rulings),
        *_spelt_alike(forms),
        *_genera(forms),
        *_short_forms(forms, short_forms),
        *_named(forms),
        *_near(forms),
    ):
        found.setdefault((decision.left, decision.right), decision)
    return list(found.values())


def _pair(one: str, other: str, verdict: Verdict, rule: str, reason: str) -> Decision:
    left, right = sorted((one, other))
    return Decision(left, right, verdict, rule, reason)


def _ruled(forms: Mapping[str, Form], rulings: Rulings) -> Iterator[Decision]:
    """Names of the taxonomy file; those that the collection does not know decide nothing."""
    verdicts: tuple[tuple[Verdict, str, tuple[tuple[str, str], ...]], ...] = (
        ("same", "one thing", rulings.same),
        ("different", "two things", rulings.apart),
    )
    for verdict, said, pairs in verdicts:
        for one, other in pairs:
            nodes = [f"{key_of(name)} [{name}]" if f"{key_of(name)} [{name}]" in forms else key_of(name) for name in (one, other)]
            if nodes[0] != nodes[1] and all(node in forms for node in nodes):
                yield _pair(nodes[0], nodes[1], verdict, "ruling", f"the taxonomy's file says that {one} and {other} are {said}")


def _spelt_alike(forms: Mapping[str, Form]) -> Iterator[Decision]:
    for rule, fold, least, reason in (
        ("spelling", american, 0, "British and American spelling of one name"),
        ("spacing", lambda key: closed(american(key)), _LEAST_CLOSED, "one name, written in one word or in several"),
    ):
        alike: dict[str, list[str]] = defaultdict(list)
        for node in forms:
            if len(spelt := fold(node)) >= least:
                alike[spelt].append(node)
        for nodes in alike.values():
            for node in nodes[1:]:
                if numbers(node) == numbers(nodes[0]):
                    yield _pair(nodes[0], node, "same", rule, reason)


def _genera(forms: Mapping[str, Form]) -> Iterator[Decision]:
    """A genus that is only begun is the one that the collection writes out, where there is just one."""
    whole: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node in forms:
        words = node.split()
        if len(words) == 2 and len(words[0]) > 3 and not words[0].endswith("."):
            whole[words[0][0], words[1]].append(node)
    for node in forms:
        words = node.split()
        if len(words) != 2 or not words[0].endswith("."):
            continue
        full = [one for one in whole[node[0], words[1]] if one.startswith(words[0][:-1])]
        if len(full) == 1:
            yield _pair(node, full[0], "same", "genus", "the genus by its first letter, and in full")
        for other in full if len(full) > 1 else []:
            yield _pair(node, other, "doubtful", "genus", "several genera that begin so have a species of that name")


def _short_forms(forms: Mapping[str, Form], short_forms: Mapping[str, Mapping[str, str]]) -> Iterator[Decision]:
    long_of = [{key_of(short): key_of(long) for short, long in own.items() if key_of(long)} for _, own in sorted(short_forms.items())]
    for short, longs in sorted(_expansions(long_of).items()):
        there = sorted(long for long in longs if long in forms and long != short)
        if short not in forms:
            continue
        if len(longs) == 1:
            for long in there:
                yield _pair(short, long, "same", "acronym", f"a text of the collection defines {forms[short].shown} so")
        else:
            for long in there:
                yield _pair(
                    short,
                    long,
                    "doubtful",
                    "acronym",
                    f"{forms[short].shown} is defined in {len(longs)} ways; where no text says which, it stays apart",
                )


def _named(forms: Mapping[str, Form]) -> Iterator[Decision]:
    """A name with and without the noun that says what it is: SAGA, the SAGA algorithm."""
    for node in forms:
        rest, _, head = node.rpartition(" ")
        if head in _KINDS_OF_NAMES and rest in forms and " " not in rest and _is_proper(forms[rest].shown):
            yield _pair(rest, node, "same", "named", f"a name, and the same with the word {head}")


def _is_proper(surface: str) -> bool:
    return is_short_form(surface) or any(sign.isdigit() for sign in surface)


def _near(forms: Mapping[str, Form]) -> Iterator[Decision]:
    """Names that one letter parts: doubtful, unless what parts them counts something, which makes two of them."""
    shorter: dict[str, list[str]] = defaultdict(list)
    for node in forms:
        if len(node) >= _LEAST_NEAR and "[" not in node:
            for spelt in {node, *(node[:at] + node[at + 1 :] for at in range(1, len(node)))}:
                shorter[spelt].append(node)
    pairs = {
        (one, other) for nodes in shorter.values() for one in nodes for other in nodes if one < other and abs(len(one) - len(other)) < 2
    }
    for one, other in sorted(pairs):
        if not _one_letter(one, other):
            continue
        if numbers(one) != numbers(other) or _one_word_of(one, other) < 4:
            if numbers(one) != numbers(other):
                yield _pair(one, other, "different", "numbers", "what they count is not the same")
            continue
        if closed(american(one)) != closed(american(other)):
            yield _pair(one, other, "doubtful", "near", "one letter parts them, and nothing says whether it is a slip")


def _one_letter(one: str, other: str) -> bool:
    """Whether one is the other with one letter put in, left out or another."""
    if len(one) == len(other):
        return sum(a != b for a, b in zip(one, other, strict=True)) == 1
    short, long = sorted((one, other), key=len)
    at = next((place for place, sign in enumerate(short) if sign != long[place]), len(short))
    return short[at:] == long[at + 1 :]


def _one_word_of(one: str, other: str) -> int:
    """Letters of the shorter of the words that differ: short ones that differ are other words."""
    words = [sorted(pair, key=len)[0] for pair in zip(one.split(), other.split(), strict=False) if pair[0] != pair[1]]
    return min(map(len, words), default=0) if len(one.split()) == len(other.split()) else 0


# -- groups ------------------------------------------------------------------------------------------------------------


def merged(forms: Mapping[str, Form], decisions: Sequence[Decision]) -> tuple[list[Group], list[Decision]]:
    """The entities that forms make under these decisions, and the decisions as they came out: what a ruling kept from taking effect is
    no more the same."""
    apart = [(one.left, one.right) for one in decisions if one.rule == "ruling" and one.verdict == "different"]
    root = {node: node for node in forms}
    members = {node: {node} for node in forms}
    rules: dict[str, set[str]] = {node: set() for node in forms}

    def find(node: str) -> str:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    settled: list[Decision] = []
    order = sorted(decisions, key=lambda one: (_STRENGTH.index(one.rule) if one.rule in _STRENGTH else len(_STRENGTH), one.left, one.right))
    for decision in order:
        if decision.verdict != "same":
            settled.append(decision)
            continue
        left, right = find(decision.left), find(decision.right)
        if any((a in members[left] and b in members[right]) or (a in members[right] and b in members[left]) for a, b in apart):
            reason = f"{decision.reason}; but a ruling keeps apart what this would bring together"
            settled.append(replace(decision, verdict="different", rule="ruling", reason=reason))
            continue
        settled.append(decision)
        if left != right:
            keep, gone = sorted((left, right))
            root[gone] = keep
            members[keep] |= members.pop(gone)
            rules[keep] |= rules.pop(gone)
        rules[find(decision.left)].add(decision.rule)
    groups = [Group([forms[node] for node in sorted(nodes)], rules[keep]) for keep, nodes in sorted(members.items())]
    return groups, settled
