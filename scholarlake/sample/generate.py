"""Writing a dump: work by work, each record to a part, bad lines in between, and the true answers beside it.

Memory holds the plan, the graph and one block of lines; everything else streams.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from scholarlake.errors import SourceError
from scholarlake.lake.files import write_json
from scholarlake.sample.documents import write_documents
from scholarlake.sample.draws import OUTSIDE, REJECT, Ints, hex_id, hex_ids, uniform
from scholarlake.sample.faults import ODD_SHARE, bad_lines, bare_tokens, make_odd
from scholarlake.sample.graph import Graph, make_graph
from scholarlake.sample.kinds import Copy
from scholarlake.sample.parts import Compression, Part, make_parts
from scholarlake.sample.plan import BEYOND_64_BITS, Plan, make_plan
from scholarlake.sample.records import Draft, Fields, Scribe
from scholarlake.sample.truth import Ledger, write_truth

Progress = Callable[[int, "int | None", str], None]

_BLOCK: Final = 2048  # works whose lines are held at a time
_BY_ALIAS: Final = 0.4  # of the references to a work with several ids, those that use another than its own
_CRLF: Final = 0.02
_BAD_LINE_EVERY: Final = 2_000  # works
_MOST_WORKS: Final = 200_000_000


@dataclass(frozen=True)
class SampleFacts:
    """What was written. papers: after identity; bytes: of the files, as compressed."""

    papers: int
    records: int
    lines: int
    rejects: int
    citations: int
    parts: int
    bytes: int
    documents: int
    dumps: Path
    truth: Path


def generate(
    out: Path,
    papers: int,
    parts: int,
    seed: int,
    *,
    compression: Compression = "mixed",
    faults: bool = True,
    progress: Progress | None = None,
) -> SampleFacts:
    """Write a dump of that many papers to out/dumps, full texts of some of them to out/documents, and the true answers to
    out/truth.json (and out/truth).

    The same arguments give the same bytes. compression: "mixed" makes gzip, zstd and plain parts, "none" plain ones. faults: without them
    every line is a record of the usual shape, and its duplicates are those that a short SQL script gets right.
    Raises SourceError where the numbers can't be, or where out/dumps holds something else than an earlier sample.
    """
    if not 1 <= papers <= _MOST_WORKS:
        raise SourceError(f"a sample has 1 to {_MOST_WORKS:,} papers, not {papers}; set --papers")
    if not 1 <= parts <= 512:
        raise SourceError(f"a sample has 1 to 512 parts, not {parts}; set --parts")
    if seed < 0:
        raise SourceError(f"a seed is 0 or more, not {seed}; set --seed")
    dumps = out / "dumps"
    if dumps.exists() and any(dumps.iterdir()) and not (out / "truth.json").is_file():
        raise SourceError(f"{dumps} is not empty and holds no generated sample; name another folder")
    shutil.rmtree(dumps, ignore_errors=True)
    shutil.rmtree(out / "truth", ignore_errors=True)
    shutil.rmtree(out / "documents", ignore_errors=True)
    write_json(out / "truth.json", {"unfinished": True})  # so that a killed run can be started again
    writing = _Writing(dumps, papers, parts, seed, compression, faults, progress or _silent)
    return writing.run(out)


def _silent(done: int, total: int | None, what: str) -> None:
    pass


class _Writing:
    """One dump under way."""

    def __init__(self, dumps: Path, papers: int, parts: int, seed: int, compression: Compression, faults: bool, progress: Progress) -> None:
        self.progress = progress
        self.compression = compression
        progress(0, papers, "planning")
        self.plan: Plan = make_plan(papers, seed, faults=faults, later_edition=parts > 1)
        self.graph: Graph = make_graph(self.plan)
        self.in_degree = self.graph.in_degree
        self.scribe = Scribe(self.plan)
        self.older, self.later = make_parts(dumps, parts, compression, faults=faults)
        self.ledger = Ledger(self.plan, self.graph)
        self.bad = self._place_bad_lines() if faults else {}
        self.beyond = str(BEYOND_64_BITS)
        self.outside = 0

    def _place_bad_lines(self) -> dict[int, list[int]]:
        """Numbers of bad lines by the work after which they stand. Small dumps have some two of every sort."""
        works = self.plan.works
        count = max(min(26, works // 10), works // _BAD_LINE_EVERY)
        places: dict[int, list[int]] = {}
        for number, place in enumerate((uniform(count, self.plan.seed, 40) * works).astype(np.int64).tolist()):
            places.setdefault(place, []).append(number)
        return places

    def run(self, out: Path) -> SampleFacts:
        plan = self.plan
        for begin in range(0, plan.works, _BLOCK):
            end = min(plan.works, begin + _BLOCK)
            lists = self._reference_lists(begin, end)
            citations = self.in_degree[begin:end].tolist()
            for work in range(begin, end):
                self._write_work(work, lists[work - begin], citations[work - begin])
                for number in self.bad.get(work, ()):
                    self._write_bad(work, number)
            for part in (*self.older, *self.later):
                part.flush()
            self.progress(end, plan.works, "writing records")
        if self.later and plan.faults:
            self._write_cut_off(self.later[-1])
        for part in (*self.older, *self.later):
            part.close()
        made = [*self.older, *self.later]
        arguments = {"papers": plan.works, "parts": len(made), "seed": plan.seed, "compression": self.compression, "faults": plan.faults}
        truth = write_truth(out, arguments, made, self.ledger)
        counts = truth["counts"]
        return SampleFacts(
            papers=counts["papers"],
            records=counts["records"],
            lines=counts["lines"],
            rejects=counts["rejects"],
            citations=counts["citations"],
            parts=len(made),
            bytes=sum(part.path.stat().st_size for part in made),
            documents=write_documents(out / "documents", self.scribe),
            dumps=out / "dumps",
            truth=out / "truth.json",
        )

    def _reference_lists(self, begin: int, end: int) -> list[tuple[list[str], list[str]]]:
        """For each work of a block the ids of the works it cites, and those of its other references: itself, repeats, outside."""
        plan, graph = self.plan, self.graph
        low, high = int(graph.starts[begin]), int(graph.starts[end])
        numbers: Ints = graph.targets[low:high].astype(np.int64)
        others = plan.aliases[numbers]
        draw = uniform(len(numbers), plan.seed, 41, begin)
        by_alias = np.flatnonzero((others > 0) & (draw < _BY_ALIAS))
        numbers[by_alias] = plan.first_alias[numbers[by_alias]] + (draw[by_alias] / _BY_ALIAS * others[by_alias]).astype(np.int64)
        names = [plan.ids[number] for number in numbers.tolist()]
        bounds = (graph.starts[begin : end + 1] - low).tolist()
        outside = graph.outside[begin:end].tolist()
        total = sum(outside)
        lost = hex_ids(OUTSIDE, np.arange(self.outside, self.outside + total), plan.seed)
        self.outside += total
        lists: list[tuple[list[str], list[str]]] = []
        at = 0
        selves, repeats = graph.selves[begin:end].tolist(), graph.repeats[begin:end].tolist()
        for place, work in enumerate(range(begin, end)):
            beside = lost[at : at + outside[place]]
            at += outside[place]
            if selves[place]:
                beside.append(
                    plan.ids[int(plan.first_alias[work])] if plan.aliases[work] and plan.kind_name(work) != "chain" else plan.ids[work]
                )
            if repeats[place]:
                beside.append(self._again(int(graph.targets[low + bounds[place]]), names[bounds[place]]))
            lists.append((names[bounds[place] : bounds[place + 1]], beside))
        return lists

    def _again(self, target: int, written: str) -> str:
        """The id of a target that was named already: another of its ids where it has one."""
        plan = self.plan
        if not plan.aliases[target]:
            return written
        other = plan.ids[int(plan.first_alias[target])]
        return plan.ids[target] if written == other else other

    def _write_work(self, work: int, references: tuple[list[str], list[str]], citations: int) -> None:
        plan, scribe = self.plan, self.scribe
        draft = scribe.draft(work, citations)
        copies = scribe.copies(work)
        where, later_only = draft.dice >> 8, bool(plan.later_only[work])
        ordinary = plan.faults and len(copies) == 1 and work not in plan.alike
        odd = scribe.dice(work, 4) if ordinary else 0
        for number, copy in enumerate(copies):
            cited, beside = references
            given: list[Any] = (
                [*cited, *beside] if copy.references == "all" else cited[: len(cited) // 2] if copy.references == "half" else []
            )
            fields = scribe.record(draft, copy, self._bare_numbers(given, work) if plan.faults else given)
            later = (copy.later or later_only) and bool(self.later)
            parts = self.later if later else self.older
            line = self._line(draft, fields, copy, odd)
            end = b"\r\n" if plan.faults and (where >> 20) % 1000 < _CRLF * 1000 else b"\n"
            part = parts[(where + number) % len(parts)]
            part.add(line, end)
            self.ledger.record(work, fields["id"], part.edition, draft.doi, several=len(copies) > 1, line=line)

    def _bare_numbers(self, ids: list[str], work: int) -> list[Any]:
        """Ids that are whole numbers written as numbers, by every other work."""
        whole = self.plan.whole_number
        if work % 2 or not whole:
            return list(ids)
        return [int(one) if one in whole and one != self.beyond else one for one in ids]

    def _line(self, draft: Draft, fields: Fields, copy: Copy, odd: int) -> bytes:
        changed = odd and (odd >> 40) % 1000 < ODD_SHARE * 1000
        if changed:
            make_odd(fields, odd)
        line = orjson.dumps(fields)
        if self.plan.faults:
            if fields["id"] in self.plan.whole_number and not copy.later:
                line = line.replace(b'"id":"%b"' % fields["id"].encode(), b'"id":%b' % fields["id"].encode(), 1)
            if changed:
                line = bare_tokens(line, odd >> 24)
        return line

    def _write_bad(self, work: int, number: int) -> None:
        draft = self.scribe.draft(work, 0)
        fields = {**draft.fields, "id": hex_id(REJECT, number, self.plan.seed), "title": f"Not a record {number}"}
        lines = bad_lines(fields)
        reason, line = lines[number % len(lines)]
        part = self.older[number % len(self.older)]
        self.ledger.reject(part, part.add(line, is_record=False), len(line), reason)

    def _write_cut_off(self, part: Part) -> None:
        """A last line that breaks off, as a download does."""
        draft = self.scribe.draft(0, 0)
        line = orjson.dumps({**draft.fields, "id": hex_id(REJECT, 1 << 40, self.plan.seed)})[:99]
        self.ledger.reject(part, part.add(line, b"", is_record=False), len(line), "truncated")


def facts_as_json(facts: SampleFacts) -> dict[str, Any]:
    """The facts with plain values, for a command's --json."""
    return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(facts).items()}
