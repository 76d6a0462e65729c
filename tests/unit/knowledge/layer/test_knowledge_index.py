"""The index of a collection holds its layers and nothing else, embeds no text twice, and is refused where it is not what it says."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scholarlake.errors import IndexDamaged, ModelError
from scholarlake.knowledge import layer_invariants as invariants
from scholarlake.knowledge.layer.index import FILE, VECTORS, IndexReport, build_knowledge_index
from scholarlake.knowledge.layer.reader import KnowledgeIndex, Link, Within
from scholarlake.lake import delta
from scholarlake.lake.artifacts import open_artifact
from scholarlake.lake.findings import Finding
from scholarlake.lake.home import Lake
from scholarlake.models.config import open_embedder
from scholarlake.models.protocol import Answer, Kind
from scholarlake.search.text import expression
from tests.unit.knowledge.layer.battery import (
    ASSIGNMENTS,
    COLLECTION,
    FACTS,
    IMMERSION,
    RELATIONS,
    SYNTHESIS,
    TAXONOMIES,
    all_tables,
    fact_id,
    made,
    object_id,
    write,
)
from tests.unit.small_lake import COMMIT, EMBEDDER, frame


class Counting:
    """The hashing embedder, which tells what it was asked for; it refuses a text that says so."""

    def __init__(self, dies_after: int | None = None, **changed: Any) -> None:
        self._embedder = open_embedder(EMBEDDER.model_copy(update=changed), "hashing")
        self._dies_after = dies_after
        self.texts: list[str] = []
        self.name, self.identity, self.fingerprint = self._embedder.name, self._embedder.identity, self._embedder.fingerprint
        self.dimension, self.batch_size = self._embedder.dimension, 4

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Iterator[Answer]:
        for start in range(0, len(texts), self.batch_size):
            part = list(texts[start : start + self.batch_size])
            if self._dies_after is not None and len(self.texts) + len(part) > self._dies_after:
                raise ModelError("the endpoint is gone")
            self.texts += part
            for answer in self._embedder.embed(part, kind):
                yield Answer(answer.positions + start, answer.vectors, answer.fault, answer.usage)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with all_tables():
        yield made(tmp_path / "lake")


def opened(lake: Lake, report: IndexReport) -> KnowledgeIndex:
    return KnowledgeIndex(report.artifact.folder(lake), str(report.artifact.facts["model"]))


def test_every_object_of_the_layers_is_there_and_plain_citations_are_not_searched(lake: Lake) -> None:
    report = build_knowledge_index(lake, COLLECTION, Counting())
    assert report.by_kind == {"fact": 11, "assignment": 4, "relation": 5, "entity": 4, "synthesis": 1, "sentence": 12}
    assert (report.objects, report.artifact.facts["searched"], report.artifact.facts["vectors"]) == (37, 34, 34)
    index = opened(lake, report)
    assert [one.kind for one in index.objects([SYNTHESIS, "p5:1", "no such id", fact_id(11)])] == ["synthesis", "sentence", "fact"]
    assert index.papers == {"p1", "p2", "p3", "p4", "p5"}
    assert list(index.categories) == [row["category_id"] for row in TAXONOMIES]


def test_what_rests_on_what_is_told_both_ways(lake: Lake) -> None:
    index = opened(lake, build_knowledge_index(lake, COLLECTION, Counting()))
    assert index.links([fact_id(2)]) == [Link(fact_id(2), "p1:1", "evidence")]
    assert [(link.basis, link.role) for link in index.links([SYNTHESIS])] == [
        (object_id("assignment", 2), "supporting"),
        (fact_id(2), "supporting"),
        (fact_id(5), "supporting"),
        (fact_id(6), "limiting"),
    ]
    assert {link.dependent for link in index.dependents([fact_id(6)])} == {SYNTHESIS, IMMERSION, object_id("assignment", 4)}
    assert [link.dependent for link in index.dependents(["p2"], ("target",))] == [object_id("relation", 4), object_id("relation", 5)]


def test_words_of_every_script_and_of_programming_languages_are_found(lake: Lake) -> None:
    index = opened(lake, build_knowledge_index(lake, COLLECTION, Counting()))

    def ids(*terms: str) -> list[str]:
        return [one.object_id for one in index.at(at for at, _ in index.by_words(expression(terms) or "", 9))]

    assert ids("C++") == ["p5:1"]
    assert ids("深度学习") == ["p5:1"]
    assert ids("dielectric immersion") == [IMMERSION]


def test_a_search_is_narrowed_by_kind_and_paper(lake: Lake) -> None:
    embedder = Counting()
    index = opened(lake, build_knowledge_index(lake, COLLECTION, embedder))
    query = next(iter(open_embedder(EMBEDDER, "hashing").embed(["peak temperature"], "query"))).vectors
    assert query is not None
    unit = query[0] / np.linalg.norm(query[0])
    found = index.at(at for at, _ in index.by_meaning(unit, 3, Within(("fact",), frozenset(["p2"]))))
    assert {(one.kind, one.papers) for one in found} == {("fact", ("p2",))}
    words = index.at(at for at, _ in index.by_words('"temperature"', 9, Within(("sentence",), frozenset(["p4", "p1"]))))
    assert [one.object_id for one in words] == ["p1:1", "p4:0"]


def test_equal_tables_give_the_same_index_and_nothing_is_embedded_again(lake: Lake) -> None:
    first = build_knowledge_index(lake, COLLECTION, Counting())
    embedder = Counting()
    again = build_knowledge_index(lake, COLLECTION, embedder, first.artifact.path)
    assert again.artifact.digest == first.artifact.digest
    assert (embedder.texts, again.kept, again.embedded) == ([], first.embedded, 0)


def test_only_a_changed_text_is_embedded(lake: Lake) -> None:
    first = build_knowledge_index(lake, COLLECTION, Counting())
    write(lake, "facts", [{**FACTS[0], "statement": "Pouch cells are cooled by oil."}, *FACTS[1:]])
    embedder = Counting()
    second = build_knowledge_index(lake, COLLECTION, embedder, first.artifact.path)
    assert embedder.texts == ["channel cooling: Pouch cells are cooled by oil."]
    anew = build_knowledge_index(lake, COLLECTION, Counting())
    assert second.artifact.digest == anew.artifact.digest


def test_vectors_of_another_model_are_not_kept(lake: Lake) -> None:
    first = build_knowledge_index(lake, COLLECTION, Counting())
    embedder = Counting(revision="2")
    second = build_knowledge_index(lake, COLLECTION, embedder, first.artifact.path)
    assert second.kept == 0
    assert second.embedded == len(set(embedder.texts)) > 0


def test_what_was_embedded_before_the_endpoint_went_is_not_asked_for_again(lake: Lake) -> None:
    with pytest.raises(ModelError):
        build_knowledge_index(lake, COLLECTION, Counting(dies_after=12))
    embedder = Counting()
    report = build_knowledge_index(lake, COLLECTION, embedder)
    assert report.resumed == 12
    assert len(embedder.texts) == report.embedded
    assert not list(lake.spool("embeddings", embedder.fingerprint).glob("*.arrow"))


def test_an_index_of_another_model_or_with_another_matrix_is_refused(lake: Lake) -> None:
    report = build_knowledge_index(lake, COLLECTION, Counting())
    folder = report.artifact.folder(lake)
    with pytest.raises(ModelError, match="not the one"):
        KnowledgeIndex(folder, "f" * 32)
    np.save(folder / VECTORS, np.load(folder / VECTORS)[:-1])
    with pytest.raises(IndexDamaged, match="shape"):
        KnowledgeIndex(folder, str(report.artifact.facts["model"]))
    with pytest.raises(IndexDamaged):
        open_artifact(folder)


def test_one_flipped_byte_is_found_by_its_checksum(lake: Lake) -> None:
    folder = build_knowledge_index(lake, COLLECTION, Counting()).artifact.folder(lake)
    data = bytearray((folder / VECTORS).read_bytes())
    data[-1] ^= 1
    (folder / VECTORS).write_bytes(data)
    with pytest.raises(IndexDamaged, match="checksum"):
        open_artifact(folder)


def test_a_collection_without_any_paper_has_an_empty_index(lake: Lake) -> None:
    report = build_knowledge_index(lake, "nobody", Counting())
    index = opened(lake, report)
    assert (report.objects, index.papers) == (0, frozenset())
    assert index.by_meaning(np.ones(64, np.float32), 3) == index.by_words('"heat"', 3) == []


# -- what must hold --------------------------------------------------------------------------------------------------

Claim = Callable[[Lake, str, Path], Finding]


def _vectors(lake: Lake, collection: str, folder: Path) -> Finding:
    return invariants.vectors_are_those_of_the_objects(folder)


def _model(lake: Lake, collection: str, folder: Path) -> Finding:
    return invariants.index_is_of_the_model(lake, folder)


CLAIMS: tuple[Claim, ...] = (invariants.every_object_is_indexed, invariants.every_link_resolves, _vectors, _model)


def test_a_good_index_passes(lake: Lake) -> None:
    folder = build_knowledge_index(lake, COLLECTION, Counting()).artifact.folder(lake)
    found = [claim(lake, COLLECTION, folder) for claim in CLAIMS]
    assert all(one.passed for one in found), found
    assert [one.counted for one in found] == [37, 51, 34, 34]


@pytest.mark.parametrize(
    ("claim", "statement", "example"),
    [
        (invariants.every_object_is_indexed, "DELETE FROM item WHERE object_id = 'p1:0'", {"object_id": "p1:0"}),
        (invariants.every_object_is_indexed, "UPDATE item SET object_id = 'x' WHERE object_id = 'p1:0'", {"object_id": "x"}),
        (invariants.every_object_is_indexed, "UPDATE item SET content = '{}' WHERE object_id = 'p1:0'", {"object_id": "p1:0"}),
        (invariants.every_object_is_indexed, "UPDATE item SET text_hash = 'x' WHERE object_id = 'p1:0'", {"object_id": "p1:0"}),
        (invariants.every_object_is_indexed, "UPDATE item SET text_hash = 'x' WHERE relation = 'cites'", {}),
        (invariants.every_link_resolves, "DELETE FROM item WHERE object_id = 'p1:1'", {"object_id": fact_id(2), "basis": "p1:1"}),
        (invariants.every_link_resolves, "DELETE FROM category WHERE n = 3", {"object_id": ASSIGNMENTS[3]["assignment_id"]}),
        (_vectors, "UPDATE item SET vector = NULL WHERE object_id = 'p1:0'", {"object_id": "p1:0"}),
        (_vectors, "UPDATE item SET vector = 99 WHERE object_id = 'p1:0'", {"object_id": "p1:0"}),
        (_vectors, "INSERT INTO not_embedded SELECT at, 'x' FROM item WHERE object_id = 'p1:0'", {"object_id": "p1:0"}),
    ],
)
def test_an_index_that_lacks_or_mistakes_something_is_found(lake: Lake, claim: Claim, statement: str, example: dict[str, str]) -> None:
    folder = build_knowledge_index(lake, COLLECTION, Counting()).artifact.folder(lake)
    statement = statement.replace("relation = 'cites'", f"object_id = '{RELATIONS[2]['relation_id']}'")
    with sqlite3.connect(folder / FILE) as connection:
        connection.execute(statement)
    found = claim(lake, COLLECTION, folder)
    assert any(example.items() <= dict(row).items() for row in found.examples), found


def test_an_index_of_another_model_than_the_papers_is_found(lake: Lake) -> None:
    folder = build_knowledge_index(lake, COLLECTION, Counting()).artifact.folder(lake)
    shard = lake.shard_of("p1")
    row = {"paper_id": "p1", "shard": shard, "model": "another", "vector": [1.0]}
    delta.write_partition(lake, "embeddings", shard, frame("embeddings", [row]), COMMIT)
    assert invariants.index_is_of_the_model(lake, folder).examples == ({"model": "another"},)


def test_vectors_that_are_no_unit_vectors_are_found(lake: Lake) -> None:
    folder = build_knowledge_index(lake, COLLECTION, Counting()).artifact.folder(lake)
    matrix = np.load(folder / VECTORS)
    matrix[0] *= 2
    matrix[1] = np.nan
    np.save(folder / VECTORS, matrix)
    assert invariants.vectors_are_those_of_the_objects(folder).failed == 2
