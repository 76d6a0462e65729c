"""Accounts by rules: what is selected, put into sentences that quote what the papers state, each citing what it quotes.

Nothing is concluded that no source says, and no two results become one. What does not belong here: what is selected (`bundles`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scholarlake.knowledge.objects import Context
from scholarlake.knowledge.syntheses.bundles import Bundle, Item
from scholarlake.knowledge.syntheses.material import Assigned
from scholarlake.knowledge.syntheses.objects import Basis, Claim, Proposal

METHOD = "rules"
_CONDITIONS = 12  # that the scope of an account lists
_LONGEST = 400  # characters of a statement that is quoted whole
_TITLE = 90  # and of a title


def proposal_of(bundle: Bundle, collection: str) -> Proposal:
    """The account of a bundle, in words."""
    return Proposal(
        collection,
        bundle.kind,
        bundle.topic,
        title_of(bundle),
        tuple(_CLAIMS[bundle.kind](bundle)),
        tuple(basis_of(bundle)),
        conditions_of(bundle.items),
        bundle.category_id,
        METHOD,
    )


def title_of(bundle: Bundle) -> str:
    about = bundle.about[:1].upper() + bundle.about[1:]
    return {
        "family_overview": f"{about}: an overview",
        "disagreement": f"{about}: findings that disagree",
        "context_difference": f"{about}: findings under different conditions",
        "open_problem": f"{about}: what is left open",
    }[bundle.kind]


def basis_of(bundle: Bundle) -> list[Basis]:
    """Every object that an account of this cites."""
    grounds = [Basis(one.id, "supporting", f"it says that {one.subject} belongs here") for one in bundle.assigned]
    grounds += [Basis(id, "supporting", "it says that they contradict each other") for id in bundle.relations]
    return grounds + [Basis(item.fact.id, item.role, item.why) for item in bundle.items]


def conditions_of(items: Iterable[Item]) -> tuple[Context, ...]:
    """The conditions of what is told: the account is limited to them."""
    found = {(entry.kind, entry.text): entry for item in items for entry in item.fact.context}
    return tuple(found[key] for key in sorted(found)[:_CONDITIONS])


def _family(bundle: Bundle) -> list[Claim]:
    names = {one.subject: _named(one) for one in bundle.assigned}
    declared = list(dict.fromkeys(names[one.subject] for one in bundle.assigned if one.inference == "declared"))
    said = f"By {bundle.dimension}, {_listed(list(names.values()))} {'is' if len(names) == 1 else 'are'} counted among {bundle.about}"
    if declared and len(declared) < len(names):
        said += f", {_listed(declared)} by the word of the authors"
    claims = [Claim(f"{said}.", tuple(one.id for one in bundle.assigned))]
    papers = {one.subject for one in bundle.assigned if one.subject_kind == "paper"}
    for item in bundle.items:
        lead = "a limitation is stated" if item.role == "limiting" else _LEADS.get(item.fact.type, "it is stated")
        beside = [one.id for one in bundle.assigned if item.role == "supporting" and item.fact.id in one.basis]
        claims.append(_quoting(f"{'In' if item.about in papers else 'Of'} {names.get(item.about, item.about)}, {lead}", item, beside))
    found = [item for item in bundle.items if item.role == "supporting" and item.fact.context]
    if len({item.fact.conditions for item in found}) > 1:
        text = "These results hold under conditions that are not the same, and are not one guarantee."
        claims.append(Claim(text, tuple(item.fact.id for item in found)))
    return claims


def _named(one: Assigned) -> str:
    """What an assignment is of: a thing by its name, a paper by its title."""
    return one.subject if one.subject_kind == "entity" else f"“{_cut(one.subject, _TITLE)}”"


_LEADS = {
    "definition": "it is said",
    "method_description": "it is said",
    "dataset": "it is said",
    "theoretical_result": "it is derived",
    "finding": "it is found",
}


def _disagreement(bundle: Bundle) -> list[Claim]:
    every = tuple(item.fact.id for item in bundle.items)
    claims = [Claim(f"On {bundle.about}, different studies say different things.", (*bundle.relations, *every))]
    for number, item in enumerate(bundle.items):
        lead = "Reported" if not number else "Against it" if item.role == "opposing" else "Reported too"
        claims.append(_quoting(lead, item))
    shared = bundle.items[0].fact.context
    if shared:
        claims.append(Claim(f"The conditions that are stated are the same: {_conditions(shared)}.", every))
    else:
        claims.append(Claim("No condition is stated that would tell them apart.", every))
    return claims


def _context(bundle: Bundle) -> list[Claim]:
    every = tuple(item.fact.id for item in bundle.items)
    claims = [
        Claim(
            f"Findings on {bundle.about} were made under different conditions, and are not set against each other.",
            (*bundle.relations, *every),
        )
    ]
    claims += [_quoting("Reported", item) for item in bundle.items]
    for kind in bundle.differing:
        sides = list(dict.fromkeys(_of_kind(item, kind) for item in bundle.items))
        claims.append(Claim(f"They differ in {kind}: {' against '.join(sides)}.", every))
    return claims


def _of_kind(item: Item, kind: str) -> str:
    found = [f"“{_cut(entry.text)}”" for entry in item.fact.context if entry.kind == kind]
    return " and ".join(found) or "none stated"


def _open_problem(bundle: Bundle) -> list[Claim]:
    left = [item for item in bundle.items if item.role == "supporting"]
    claims = [Claim(f"Different studies leave something open about {bundle.about}.", tuple(item.fact.id for item in left))]
    leads = {"limitation": "A limitation is stated", "hypothesis": "It is supposed"}
    claims += [_quoting(leads.get(item.fact.type, "It is said to be open"), item) for item in left]
    return claims + [_quoting("Found so far", item) for item in bundle.items if item.role == "limiting"]


def _quoting(lead: str, item: Item, beside: Sequence[str] = ()) -> Claim:
    under = f" ({_conditions(item.fact.context)})" if item.fact.context else ""
    doubt = " Whether its source supports it is unresolved." if item.fact.verification == "unresolved" else ""
    return Claim(f"{lead}{under}: “{_cut(item.fact.statement)}”{doubt}", (item.fact.id, *beside))


def _conditions(context: Sequence[Context]) -> str:
    return "; ".join(f"{entry.kind}: {_cut(entry.text)}" for entry in context)


def _cut(text: str, longest: int = _LONGEST) -> str:
    plain = " ".join(text.split())
    if len(plain) <= longest:
        return plain
    return plain[:longest].rsplit(" ", 1)[0] + " …"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_CLAIMS = {
    "family_overview": _family,
    "disagreement": _disagreement,
    "context_difference": _context,
    "open_problem": _open_problem,
}
