"""The true answers: what a right reading of a generated dump must come to, counted from how the dump was made.

`truth.json` holds counts, places of bad lines and, for dumps of up to INLINE papers, every cluster. `truth/records.parquet` beside
it holds the clusters of larger dumps. Nothing here reads a dump or calls a stage of the pipeline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import xxhash

from scholarlake.lake.files import write_json
from scholarlake.sample.graph import Graph
from scholarlake.sample.parts import Part
from scholarlake.sample.plan import Plan

FORMAT: Final = 1
INLINE: Final = 20_000  # papers up to which truth.json names every cluster
DIGEST_UP_TO: Final = 300_000  # papers up to which all citations are hashed
_WORKS_AT_ONCE: Final = 100_000
CORES: Final = ((8, 3), (40, 10))  # (least total, least in): those of the sample's profile and of the whole graph's


class Ledger:
    """What was written, as it is written."""

    def __init__(self, plan: Plan, graph: Graph) -> None:
        self.plan, self.graph = plan, graph
        self.members: dict[int, list[tuple[str, str]]] = {}  # (edition, record id), of works with several records
        self.shared_dois: dict[str, list[int]] = {}
        self.rejects: list[tuple[str, int, int, str]] = []
        self.records = 0
        self.repeated_records = 0
        self._last: tuple[int, str, str, bytes] | None = None

    def record(self, work: int, record_id: str, edition: str, doi: str | None, *, several: bool, line: bytes) -> None:
        self.records += 1
        if several:
            entry = (work, record_id, edition, line)
            self.repeated_records += self._last == entry
            self._last = entry
            self.members.setdefault(work, []).append((edition, record_id))
        alike = self.plan.alike.get(work)
        if alike and alike.kind == "one_doi_two_works" and doi:
            self.shared_dois.setdefault(doi, []).append(work)

    def reject(self, part: Part, offset: int, length: int, reason: str) -> None:
        self.rejects.append((part.name, offset, length, reason))

    def paper_id(self, work: int) -> str:
        """Record id of the representative: the smallest (edition, id)."""
        if work in self.members:
            return min(self.members[work])[1]
        return self.plan.ids[work]


def write_truth(out: Path, arguments: Mapping[str, Any], parts: list[Part], ledger: Ledger) -> dict[str, Any]:
    """Write truth.json, and truth/records.parquet for a large dump; the content of truth.json."""
    plan = ledger.plan
    truth: dict[str, Any] = {
        "format": FORMAT,
        "generated": dict(arguments),
        "counts": _counts(parts, ledger),
        "core": _cores(ledger.graph),
        "rejects": dict(sorted(Counter(reason for *_, reason in ledger.rejects).items())),
        "parts": [
            {
                "dump_part": part.name,
                "edition": part.edition,
                "lines": part.lines,
                "records": part.records,
                "uncompressed_bytes": part.bytes,
            }
            for part in parts
        ],
        "bad_lines": [
            {"dump_part": name, "byte_offset": offset, "byte_length": length, "reason": reason}
            for name, offset, length, reason in ledger.rejects
        ],
        "doi_conflicts": [
            {"doi": doi, "papers": sorted(ledger.paper_id(work) for work in works)} for doi, works in sorted(ledger.shared_dois.items())
        ],
        "apart": _apart(ledger),
        "most_cited": _most_cited(ledger),
    }
    if plan.works <= DIGEST_UP_TO:
        truth["citations_digest"] = citations_digest(_citations(ledger))
    if plan.works <= INLINE:
        truth["clusters"] = [
            {"paper_id": ledger.paper_id(work), "kind": plan.kind_name(work), "records": [list(member) for member in sorted(set(members))]}
            for work, members in sorted(ledger.members.items())
        ]
    else:
        _write_records(out / "truth" / "records.parquet", ledger)
    write_json(out / "truth.json", truth)
    return truth


def citations_digest(pairs: Any) -> str:
    """A hash of a set of citations, whatever their order. pairs: (citing paper id, cited paper id), each once."""
    total = 0
    for citing, cited in pairs:
        total += xxhash.xxh3_64_intdigest(f"{citing}\t{cited}".encode())
    return f"{total % (1 << 64):016x}"


def _counts(parts: list[Part], ledger: Ledger) -> dict[str, int]:
    graph = ledger.graph
    lines = sum(part.lines for part in parts)
    return {
        "lines": lines,
        "records": ledger.records,
        "rejects": len(ledger.rejects),
        "distinct_records": ledger.records - ledger.repeated_records,
        "record_ids": len(ledger.plan.ids),
        "papers": ledger.plan.works,
        "papers_of_several_records": len(ledger.members),
        "citations": len(graph.targets),
        "self_references": int(graph.selves.sum()),
        "repeated_references": int(graph.repeats.sum()),
        "unresolved_references": int(graph.outside.sum()),
    }


def _cores(graph: Graph) -> list[dict[str, int]]:
    found = []
    cited, citing = graph.in_degree, graph.out_degree
    for least_total, least_in in CORES:
        core = (cited + citing >= least_total) & (cited >= least_in)
        inside = 0
        for begin in range(0, len(core), _WORKS_AT_ONCE):
            end = min(len(core), begin + _WORKS_AT_ONCE)
            citing_core = np.repeat(core[begin:end], np.diff(graph.starts[begin : end + 1]))
            inside += int((core[graph.targets[graph.starts[begin] : graph.starts[end]]] & citing_core).sum())
        found.append({"min_total": least_total, "min_in": least_in, "papers": int(core.sum()), "citations": inside})
    return found


def _apart(ledger: Ledger) -> list[dict[str, Any]]:
    """Groups of papers that look alike and must stay apart."""
    groups: dict[tuple[str, int], list[str]] = {}
    for work, alike in sorted(ledger.plan.alike.items()):
        groups.setdefault((alike.kind, alike.group), []).append(ledger.paper_id(work))
    return [{"kind": kind, "papers": papers} for (kind, _), papers in sorted(groups.items())]


def _most_cited(ledger: Ledger) -> list[dict[str, Any]]:
    cited = ledger.graph.in_degree
    first = sorted((-int(cited[work]), ledger.paper_id(int(work))) for work in np.argsort(-cited, kind="stable")[:30])
    return [{"paper_id": paper, "in_degree": -count} for count, paper in first[:10]]


def _citations(ledger: Ledger) -> Any:
    graph = ledger.graph
    names = [ledger.paper_id(work) for work in range(ledger.plan.works)]
    for citing in range(ledger.plan.works):
        for cited in graph.targets[graph.starts[citing] : graph.starts[citing + 1]].tolist():
            yield names[citing], names[cited]


def _write_records(path: Path, ledger: Ledger) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        (record_id, edition, ledger.paper_id(work), ledger.plan.kind_name(work))
        for work, members in sorted(ledger.members.items())
        for edition, record_id in sorted(set(members))
    ]
    pl.DataFrame(rows, schema=["record_id", "edition", "paper_id", "kind"], orient="row").write_parquet(path, compression="zstd")
