"""A dump as a model: parts that hold lines, the ways in which sources change, and small worlds of values that meet each other."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

IDS = [f"id{n}" for n in range(9)]
TITLES = [
    "Spike trains as event sequences",
    "SPIKE TRAINS AS EVENT SEQUENCES.",
    "A survey of citation graphs",
    "Editorial",
    "深度学习综述研究",
    "Введение в алгебру",
    "RETRACTED: Spike trains as event sequences",
    "Retraction note to: A survey of citation graphs",
    None,
]
DOIS = ["10.1000/a", "https://doi.org/10.1000/A", "10.1000/b", "10.48550/arXiv.1706.1", "10.21203/rs.3.rs-7/v1", "not a doi", None, None]
AUTHORS = [[{"name": "Ada Byron"}], [{"name": "A. Byron"}, {"name": "Bo Chen"}], []]
ABSTRACTS = [None, "Short.", "A longer abstract that says something about spikes.", "This paper has been withdrawn by its authors."]

records = st.fixed_dictionaries(
    {
        "id": st.sampled_from(IDS),
        "title": st.sampled_from(TITLES),
        "doi": st.sampled_from(DOIS),
        "year": st.sampled_from([1999, 2000, 2004, "c. 1990", None]),
        "authors": st.sampled_from(AUTHORS),
        "abstract": st.sampled_from(ABSTRACTS),
        "venue": st.sampled_from([None, "arXiv", "Neuron"]),
        "references": st.lists(st.sampled_from([*IDS, "elsewhere"]), max_size=4),
    }
)
lines = st.one_of(records.map(lambda record: json.dumps(record, ensure_ascii=False)), st.sampled_from(["{broken", ""]))
names = st.sampled_from(["a.jsonl", "b.jsonl", "o'brien.jsonl", "v2/a.jsonl", "v2/x' OR '1'='1.jsonl"])

#: A part of nothing but damage would be in no known format: each begins with a record, if one without an id.
FIRST = '{"id": null, "title": null, "year": null, "references": []}'


@dataclass
class Dump:
    """The parts of a dump: name → lines."""

    parts: dict[str, list[str]] = field(default_factory=dict)

    def lay_down(self, folder: Path) -> None:
        """Write the parts, and nothing else. A part whose bytes are the same is left as it lies."""
        wanted = {name: "".join(line + "\n" for line in [FIRST, *held]) for name, held in self.parts.items()}
        for path in [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []:
            if path.relative_to(folder).as_posix() not in wanted:
                path.unlink()
        for name, text in wanted.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)

    def edit(self, name: str, place: int, line: str) -> None:
        held = self.parts.get(name, [])
        if held:
            held[place % len(held)] = line

    def remove(self, name: str, place: int) -> None:
        held = self.parts.get(name, [])
        if held:
            del held[place % len(held)]

    def rename(self, name: str, other: str) -> None:
        if name in self.parts and other not in self.parts:
            self.parts[other] = self.parts.pop(name)

    def split(self, name: str, other: str) -> None:
        """Move the second half of a part into another."""
        held = self.parts.get(name, [])
        if held and name != other:
            half = len(held) // 2
            self.parts[other] = [*self.parts.get(other, []), *held[half:]]
            self.parts[name] = held[:half]
