"""Taxonomy files: what they say is kept, and what can't be is refused in one line that names where."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.project import DATA
from scholarlake.corpus.selection.definition import Collection, Where
from scholarlake.knowledge.organization.merging import Rulings
from scholarlake.knowledge.organization.taxonomy_file import NONE, TaxonomyError, path_of, read, versions

GOOD = """
dimensions:
  - name: method family
    about: How?
    subject_types: [method]
    categories:
      - name: variance reduction
        criterion: A correction is central.
        positive_examples: [SAGA, SVRG]
        terms: [variance-reduced]
      - {name: recursive, criterion: It is made from the one before., parent: variance reduction}
  - {name: regime, compares: true, categories: [{name: convex, criterion: It is convex.}]}
entities: {same: [[SAGA, SAGA method]], apart: [[SAG, SAG index]]}
"""


def file(folder: Path, said: str) -> Path:
    path = folder / "optimization.yaml"
    path.write_text(said)
    return path


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    said = read(file(tmp_path, GOOD))
    assert said.taxonomy is not None
    family, regime = said.taxonomy.dimensions
    assert (family.name, family.about, family.subject_types, family.compares) == ("method family", "How?", ("method",), False)
    assert family.categories[0].positive_examples == ("SAGA", "SVRG")
    assert family.categories[0].wordings == ("variance reduction", "variance-reduced")
    assert family.categories[1].parent == "variance reduction"
    assert (regime.subject_types, regime.compares) == ((), True)
    assert said.rulings == Rulings((("SAGA", "SAGA method"),), (("SAG", "SAG index"),))
    rows = list(said.taxonomy.rows("c", "1"))
    assert [row["category_id"] for row in rows] == ["method-family/variance-reduction", "method-family/recursive", "regime/convex"]
    assert rows[1]["parent"] == "method-family/variance-reduction"


def test_the_version_is_of_what_is_said_and_not_of_how(tmp_path: Path) -> None:
    before = read(file(tmp_path, GOOD)).version
    assert read(file(tmp_path, f"# a comment\n{GOOD}")).version == before
    assert read(file(tmp_path, GOOD.replace("is central", "is the core"))).version != before
    assert read(file(tmp_path, GOOD.replace("[SAG, SAG index]", ""))).version != before


CATEGORY = "{name: b, criterion: c}"


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("[]", "optimization.yaml: give a mapping with dimensions, entities"),
        ("{}", "optimization.yaml: it says nothing; give dimensions or entities"),
        ("dimensions: []", "optimization.yaml: it has no dimension; give at least one"),
        ("dimension: []", "optimization.yaml: dimension: there is no such setting; did you mean dimensions?"),
        ("dimensions: [{name: a, categories: []}]", "optimization.yaml: dimension 'a': it has no category; give at least one"),
        ("dimensions: [{name: a}]", "optimization.yaml: dimension 'a': it has no category; give at least one"),
        ("dimensions: [{categories: []}]", "optimization.yaml: dimension 1: name: give a text"),
        (
            "dimensions: [{name: a, categories: [{name: b}]}]",
            "optimization.yaml: dimension 'a': category 'b': it has no criterion; say when something belongs to it",
        ),
        (
            "dimensions: [{name: a, categories: [{name: b, criterion: c, terms: [2]}]}]",
            "optimization.yaml: dimension 'a': category 'b': terms: 2 is no text; put it in quotes",
        ),
        (
            "dimensions: [{name: a, categories: [{name: b, criterion: c, exmaples: [x]}]}]",
            "optimization.yaml: dimension 'a': category 1: exmaples: there is no such setting; there are: "
            "name, criterion, positive_examples, terms, parent",
        ),
        (
            "dimensions: [{name: a, categories: [{name: b, criterion: c, parents: x}]}]",
            "optimization.yaml: dimension 'a': category 1: parents: there is no such setting; did you mean parent?",
        ),
        (
            f"dimensions: [{{name: a, categories: [{CATEGORY}, {CATEGORY}]}}]",
            "optimization.yaml: dimension 'a': category 'b': there is one of that name already",
        ),
        (
            f"dimensions: [{{name: a, categories: [{CATEGORY}, {{name: B, criterion: c}}]}}]",
            "optimization.yaml: dimension 'a': category 'B': its name is too like 'b'",
        ),
        (
            f"dimensions: [{{name: a, categories: [{CATEGORY}]}}, {{name: a, categories: [{CATEGORY}]}}]",
            "optimization.yaml: dimension 'a': there is one of that name already",
        ),
        (
            f"dimensions: [{{name: a, subject_types: [methods], categories: [{CATEGORY}]}}]",
            "optimization.yaml: dimension 'a': subject_types: there is no type 'methods'; there are: method, dataset, ",
        ),
        (
            "dimensions: [{name: a, categories: [{name: b, criterion: c, parent: d}]}]",
            "optimization.yaml: dimension 'a': category 'b': there is no category 'd' to be its parent",
        ),
        (
            f"dimensions: [{{name: a, categories: [{{name: d, criterion: c, parent: b}}]}}, {{name: e, categories: [{CATEGORY}]}}]",
            "optimization.yaml: dimension 'a': category 'd': parent 'b' is a category of dimension 'e'; a parent is of the same dimension",
        ),
        (
            "dimensions: [{name: a, categories: [{name: b, criterion: c, parent: d}, {name: d, criterion: c, parent: b}]}]",
            "optimization.yaml: dimension 'a': category 'b': its parents lead back to itself: b > d > b",
        ),
        (
            "dimensions: [{name: a, categories: [{name: b, criterion: c, parent: b}]}]",
            "optimization.yaml: dimension 'a': category 'b': its parents lead back to itself: b > b",
        ),
        ("dimensions: [{name: a, name: b}]", "optimization.yaml can't be read: 'name' stands here twice"),
        ("dimensions: {", "optimization.yaml can't be read: "),
        ("entities: {same: [[a]]}", "optimization.yaml: entities: same: ['a'] is no pair of names"),
        ("entities: {same: [[SAG, SAG]]}", "optimization.yaml: entities: same: 'SAG' stands beside itself"),
        ("entities: {same: [[ab, cd]], apart: [[cd, ab]]}", "optimization.yaml: entities: ab and cd can't be the same and apart"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(tmp_path: Path, said: str, refused: str) -> None:
    with pytest.raises(TaxonomyError) as caught:
        read(file(tmp_path, said))
    assert str(caught.value).startswith(refused)
    assert "\n" not in str(caught.value)


def test_a_file_of_rulings_alone_leaves_the_categories_to_be_prepared(tmp_path: Path) -> None:
    said = read(file(tmp_path, "entities: {same: [[ab, cd]]}"))
    assert said.taxonomy is None
    assert said.rulings.same == (("ab", "cd"),)


def collection(**more: str) -> Collection:
    return Collection(name="mine", title="t", about="a", where=Where(words=("x",)), **more)


def test_a_collection_takes_the_file_that_it_names_else_the_one_of_its_name(tmp_path: Path) -> None:
    assert path_of(collection(), tmp_path) is None
    other = file(tmp_path, GOOD)
    assert path_of(collection(), tmp_path) is None
    assert path_of(collection(taxonomy="optimization"), tmp_path) == other
    (tmp_path / "mine.yaml").write_text(GOOD)
    assert path_of(collection(), tmp_path) == tmp_path / "mine.yaml"
    with pytest.raises(TaxonomyError, match=r"^mine.yaml: taxonomy: there is no file lost.yaml in the folder of taxonomies$"):
        path_of(collection(taxonomy="lost"), tmp_path)


def test_the_projects_own_files_can_be_read() -> None:
    found = versions(sorted((DATA / "collections").glob("*.yaml")), DATA / "taxonomies")
    assert found["computing"] != NONE
    assert found["panorama"] == NONE
