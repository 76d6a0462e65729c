"""A trace as a page: one HTML file that needs nothing else, from the account to the sentences in their sections.

Whatever papers and models said is text on it. What does not belong here: what is in a trace (`tree`), the look that all pages share
(`html_page`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from scholarlake.html_page import document
from scholarlake.knowledge.trace.tree import Node, Passage, Source, Trace

_ROLES = {
    "supporting": "What supports it",
    "opposing": "What speaks against it",
    "limiting": "What limits it",
    "evidence": "What it rests on",
}
_KINDS = {
    "family_overview": "Overview of a family",
    "disagreement": "Disagreement",
    "context_difference": "Difference by context",
    "open_problem": "Open problem",
    "hypothesis": "Hypothesis",
    "note": "Note",
}


def html(found: Trace) -> str:
    """The page of a traced object."""
    node, one = found.node, found.object
    numbers = {id: number for number, id in enumerate(dict.fromkeys(below.object.object_id for below in node.basis), 1)}
    parts = [
        f'<p class="kind">{_text(_kind(node))}{f" · {_text(one.collection)}" if one.collection else ""}</p>',
        f"<h1>{_text(one.title)}</h1>",
        f'<p class="marks">{_marks(node)}</p>',
        _warning(found),
        _account(node, numbers),
        _scope(found),
    ]
    for role, heading in _ROLES.items():
        cards = [_card(below, numbers[below.object.object_id]) for below in node.basis if below.role == role]
        if cards:
            parts.append(f'<h2 class="{role}">{heading}</h2>\n{"".join(cards)}')
    if node.source is not None:
        parts.append(f"<h2>What the paper says</h2>\n{_evidence(node)}")
    return document(one.title, "\n".join(filter(None, parts)), _footer(found), _STYLE)


def index(traced: Sequence[tuple[str, Trace]], title: str) -> str:
    """A page that leads to others. traced: file names and what is traced there."""
    by_kind: dict[str, list[str]] = {}
    for name, found in traced:
        sources = found.object.content["sources"]
        link = f'<a href="{escape(name)}">{_text(found.object.title)}</a>'
        about = f'<li>{link} <span class="quiet">{sources} sources</span> {_marks(found.node)}</li>'
        by_kind.setdefault(_kind(found.node), []).append(about)
    lists = "".join(f"<h2>{_text(kind)}</h2>\n<ul class='index'>{''.join(entries)}</ul>\n" for kind, entries in sorted(by_kind.items()))
    return document(title, f"<h1>{_text(title)}</h1>\n{lists or '<p>There is no account.</p>'}", style=_STYLE)


def _kind(node: Node) -> str:
    one = node.object
    if one.kind == "fact":
        return f"Fact: {str(one.content['type']).replace('_', ' ')}"
    return _KINDS.get(str(one.content.get("kind", "")), one.kind.capitalize())


def _warning(found: Trace) -> str:
    if found.gone:
        return f'<p class="warning">{_text(found.gone)}</p>'
    if found.object.status == "needs_recheck":
        return f'<p class="warning">To be looked at again: {_text(found.object.reason)}</p>'
    return ""


def _account(node: Node, numbers: Mapping[str, int]) -> str:
    content, kind = node.object.content, node.object.kind
    if kind == "fact":
        return f'<p class="quiet">On {_text(content["subject"])}</p>{_chips(content["context"])}{_quantities(node)}'
    if kind in ("assignment", "relation"):
        return _judgement(node)
    claims = "".join(
        f"<li>{_text(claim['text'])} "
        + "".join(f'<a class="cite" href="#b{numbers[id]}">[{numbers[id]}]</a>' for id in claim["cites"] if id in numbers)
        + "</li>\n"
        for claim in content.get("claims", ())
    )
    return f'<ol class="claims">\n{claims}</ol>'


def _judgement(node: Node) -> str:
    content = node.object.content
    if node.object.kind == "assignment":
        said = f"{_text(content['subject'])} → <b>{_text(content['category_id'])}</b>"
        rationale = str(content["rationale"]).rstrip(".")
        more = f"{_text(rationale[:1].upper() + rationale[1:])}; {_text(content['inference'])}, {_text(content['certainty'])}."
    else:
        payload = ", ".join(f"{_text(one['name'])}: {_text(one['value'])}" for one in content["payload"])
        said = (
            f"{_text(content['source'] or content['source_id'])} <b>{_text(content['relation'].replace('_', ' '))}</b> "
            f"{_text(content['target'] or content['target_id'])}"
        )
        more = f"{payload}{'. ' if payload else ''}{_text(content['certainty'].capitalize())}."
    return f'<p class="said">{said}</p><p class="quiet">{more}</p>{_chips(content["conditions"])}'


def _scope(found: Trace) -> str:
    content = found.object.content
    if "studies" not in content:
        return ""
    chips = _chips(content["conditions"])
    studies = "".join(f"<li>{_source(one)}</li>" for one in found.studies)
    count = content["sources"]
    heading = f"Scope: {count} source{'s' if count != 1 else ''}"
    return f'<details class="scope" open><summary>{heading}</summary>{chips}<ul>{studies}</ul></details>'


def _card(node: Node, number: int) -> str:
    one = node.object
    parts = [f'<p class="head"><span class="number">{number}</span> {_text(_kind(node))} {_marks(node)}</p>']
    if node.since:
        parts.append(f'<p class="warning">{_text(node.since)}</p>')
    if one.kind == "fact":
        subject = f'<span class="quiet">On {_text(one.content["subject"])}:</span> '
        parts.append(f'<p class="said">{subject}{_text(one.content["statement"])}</p>{_chips(one.content["context"])}{_quantities(node)}')
        parts.append(_evidence(node))
    else:
        parts.append(_judgement(node) if one.kind in ("assignment", "relation") else f'<p class="said">{_text(one.title)}</p>')
        inner = "".join(_inner(below) for below in node.basis if below.object.kind == "fact")
        if inner:
            parts.append(f"<details><summary>The facts under it</summary>{inner}</details>")
    parts.append(_votes(node))
    if node.why:
        parts.append(f'<p class="why">{_text(node.why)}</p>')
    return f'<article id="b{number}" class="card {escape(node.role or "")}">{"".join(parts)}</article>\n'


def _inner(node: Node) -> str:
    """A fact under an assignment or a relation."""
    said = f'<span class="quiet">{_text(_kind(node))}.</span> {_text(node.object.title)} {_marks(node)}'
    return f'<div class="inner"><p class="said">{said}</p>{_evidence(node)}</div>'


def _evidence(node: Node) -> str:
    if node.source is None:
        return ""
    note = f'<p class="warning">{_text(node.note)}</p>' if node.note else ""
    said = str(node.object.content["statement"])
    passages = "".join(_passage(one, said) for one in node.passages)
    return f'<div class="evidence"><p class="source">{_source(node.source)}</p>{note}{passages}</div>'


def _passage(passage: Passage, said: str) -> str:
    section = f'<p class="section">{" › ".join(map(_text, passage.section))}</p>' if passage.section else ""
    sentences = " ".join(f"<mark>{_stretch(text, said)}</mark>" if cited else _text(text) for _, text, cited in passage.sentences)
    return f"{section}<p>{sentences}</p>"


def _stretch(text: str, said: str) -> str:
    """A cited sentence, with what the fact takes from it set off where that is not all of it."""
    at = text.find(said)
    if at < 0 or len(said) == len(text):
        return _text(text)
    return f"{_text(text[:at])}<b>{_text(said)}</b>{_text(text[at + len(said) :])}"


def _source(source: Source) -> str:
    year = f" ({source.year})" if source.year else ""
    notes = "".join(f' <span class="mark doubt">{_text(note)}</span>' for note in source.notes)
    return f'<cite>{_text(source.title or source.paper_id)}</cite>{year} <span class="id">{_text(source.paper_id)}</span>{notes}'


def _chips(conditions: Iterable[Mapping[str, str]]) -> str:
    chips = "".join(f'<li><span class="quiet">{_text(one["kind"])}</span> {_text(one["text"])}</li>' for one in conditions)
    return f'<ul class="chips">{chips}</ul>' if chips else ""


def _quantities(node: Node) -> str:
    told = (
        " ".join(filter(None, (f"{one['metric']}:" if one["metric"] else "", one["comparator"], one["value"], one["unit"])))
        for one in node.object.content["quantities"]
    )
    shown = "".join(f"<li>{_text(one)}</li>" for one in told)
    return f'<ul class="chips numbers">{shown}</ul>' if shown else ""


def _votes(node: Node) -> str:
    votes = node.object.content.get("votes") or ()
    told = "".join(
        f"<li>{_text(vote['verdict'])}: {_text(vote['reason'])} <span class='quiet'>{_text(vote['method'])}</span></li>" for vote in votes
    )
    return f"<details><summary>{len(votes)} vote{'s' if len(votes) != 1 else ''}</summary><ul>{told}</ul></details>" if told else ""


_GOOD, _BAD = ("supported", "current", "confirmed"), ("failed", "retracted")


def _marks(node: Node) -> str:
    one = node.object
    found = []
    for mark in filter(None, (one.review, one.verification, None if one.status == "current" else one.status)):
        look = "good" if mark in _GOOD else "bad" if mark in _BAD else "plain" if mark in ("unchecked", "unreviewed") else "doubt"
        found.append(f'<span class="mark {look}">{_text(mark.replace("_", " "))}</span>')
    return " ".join(found)


def _footer(found: Trace) -> str:
    one = found.object
    rows = "".join(
        f"<tr><td>{version.version}</td><td>{_text(version.status.replace('_', ' '))}</td><td>{version.created_at:%Y-%m-%d %H:%M}</td>"
        f"<td>{_text(version.reason)}</td></tr>"
        for version in found.versions
    )
    events = "".join(
        f"<li>{event.at:%Y-%m-%d %H:%M} · version {event.version} {_text(event.event.replace('_', ' '))}: {_text(event.reason)}</li>"
        for event in found.events
    )
    origin = one.stage if one.chain == "pipeline" else f"{one.chain}, {one.stage}"
    return (
        f"<section>{_votes(found.node)}<h2>Versions</h2><table><thead><tr><th></th><th>status</th><th>made</th><th>why</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
        f"<details><summary>What happened to it</summary><ul>{events}</ul></details>"
        f'<p class="quiet">From {_text(origin)}, by {_text(one.method)}; {_text(found.release)}. '
        f'<span class="id">{_text(one.object_id)}</span></p></section>'
    )


def _text(value: object) -> str:
    """Whatever it is, as text of the page."""
    return escape(" ".join(str("" if value is None else value).split()))


_STYLE = """
.kind, .marks, .head, .section, .source, .why, .quiet, .chips, .mark, .index, details, .warning { font-family: system-ui, "Segoe UI",
  "Liberation Sans", Arial, sans-serif; }
.kind { margin: 0 0 0.4rem; color: #51606d; font-size: 0.85rem; letter-spacing: 0.02em; } .marks { margin: 0.4rem 0 1.2rem; }
h2 { margin-top: 2.4rem; padding-bottom: 0.3rem; border-bottom: 2px solid #1f5d92; } h2.opposing { border-color: #9c2f26; }
h2.limiting { border-color: #a86a00; }
.claims { padding-left: 1.4rem; } .claims li { margin: 0.6rem 0; } .claims li::marker { color: #8a97a3; font-size: 0.85em; }
.card { margin: 1.1rem 0; padding: 0.9rem 1.1rem; border: 1px solid #d5dce2; border-left: 4px solid #1f5d92; border-radius: 4px; }
.card.opposing { border-left-color: #9c2f26; } .card.limiting { border-left-color: #c98a1b; } .card:target { background: #f4f8fc; }
.card p { margin: 0.45rem 0; } .head { font-size: 0.8rem; color: #51606d; } .said { font-size: 1.05rem; }
.number { display: inline-block; min-width: 1.5em; padding: 0 0.3em; border-radius: 3px; background: #1f5d92; color: #fff;
  text-align: center; }
.card.opposing .number { background: #9c2f26; } .card.limiting .number { background: #a86a00; }
.mark { padding: 0.05rem 0.45rem; border-radius: 9px; font-size: 0.75rem; white-space: nowrap; background: #e9edf0; color: #43515d; }
.mark.good { background: #dff0e3; color: #1d5a2c; } .mark.bad { background: #f8e0dd; color: #8a231b; }
.mark.doubt { background: #fbeccd; color: #6d4700; }
.warning { margin: 0.6rem 0; padding: 0.4rem 0.7rem; border-radius: 4px; background: #fbeccd; color: #6d4700; font-size: 0.9rem; }
.evidence { margin-top: 0.8rem; padding: 0.7rem 0.9rem; background: #f7f8f9; border-radius: 4px; font-size: 0.95rem; line-height: 1.55;
  color: #5b6873; }
.evidence mark { padding: 0.1em 0; background: #fdf0b5; color: #22303c; } .source { font-size: 0.82rem; } .source cite { color: #22303c; }
.section { font-size: 0.78rem; color: #76838f; } .why, .quiet { color: #66737f; font-size: 0.82rem; } .id { color: #8a97a3;
  font-size: 0.75rem;
  font-family: ui-monospace, "Liberation Mono", Menlo, monospace; }
.chips { display: flex; flex-wrap: wrap; gap: 0.35rem; margin: 0.5rem 0; padding: 0; list-style: none; font-size: 0.8rem; }
.chips li { padding: 0.1rem 0.55rem; border: 1px solid #c9d2d9; border-radius: 10px; } .chips .quiet { font-size: inherit; }
.numbers li { border-color: #b9cfe3; background: #f0f6fb; font-variant-numeric: tabular-nums; }
.inner { margin: 0.7rem 0; padding-left: 0.8rem; border-left: 2px solid #d5dce2; } .inner .said { font-size: 0.95rem; }
.scope ul:not(.chips) { padding-left: 1.2rem; } .evidence p { margin: 0.4rem 0; } .why::first-letter { text-transform: uppercase; }
.index { padding-left: 1.2rem; } .index li { margin: 0.45rem 0; }
@media print { .card { break-inside: avoid; } }
"""
