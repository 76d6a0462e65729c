"""Claims about collection files: what they may say, and the one line that refuses what they may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.project import DATA
from scholarlake.corpus.selection.definition import Collection, CollectionError, load, load_all
from scholarlake.profile import Selection

HEAD = "title: A title\nabout: What it is for\n"
PROFILE = Selection()  # type: ignore[call-arg]
TOPIC = "{name: a, queries: [x]}"


def written(folder: Path, text: str, name: str = "some-papers") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def said(folder: Path, text: str, name: str = "some-papers") -> Collection:
    return load(written(folder, HEAD + text, name))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("where: {yeers: {from: 1990}}", "where.yeers: there is no such setting"),
        ("colour: red\nwhere: {ids: [a]}", "colour: there is no such setting"),
        ("where: {ids: []}", "where.ids: .*at least 1 item"),
        ("where: {any_of: []}", "where.any_of: .*at least 1 item"),
        ("where: {any_of: [{}]}", "where.any_of.0: it says nothing; give a condition"),
        ("where: {}", "where: it says nothing; give a condition"),
        ("where: {ids: [0001001]}", "where.ids.0: .*put it in quotes"),  # YAML reads it as the octal number 513
        ("where: {words: ['  ']}", "where.words.0: .*at least 1 character"),
        ("where: {years: {from: 90}}", "where.years.from: .*greater than or equal to 1000"),
        ("where: {years: {from: 2101}}", "where.years.from: .*less than or equal to 2100"),
        ("where: {years: {from: '1990'}}", "where.years.from: .*valid integer"),
        ("where: {years: {from: 2001, to: 2000}}", "where.years: from 2001 is after to 2000"),
        ("where: {years: {}}", "where.years: give `from`, `to` or both"),
        ("where: {in_degree: {at_least: 5, at_most: 4}}", "where.in_degree: at_least 5 is more than at_most 4"),
        ("where: {none_of: [{query: {text: x, k: 0}}]}", "where.none_of.0.query.k: .*greater than or equal to 1"),
        ("where: {near: {of: [a], hops: 0}}", "where.near.hops: .*greater than or equal to 1"),
        ("where: {ids: [a]}\nfirst: {by: beauty}", "first.by: .*'relevance'"),
        ("first: {limit: 3}", "give `where`, `representatives` or `topics`"),
        ("", "give `where`, `representatives` or `topics`"),
        ("where: {ids: [a]}\nfirst: {limit: 3}\nrepresentatives: {size: 4}", "first and representatives are two ways to choose; give one"),
        ("representatives: {anchors: 1.0}", "representatives.anchors: .*less than 1"),
        ("representatives: {text: the lot}", "representatives.text: .*'full_text' or 'abstract'"),
        (f"topics: {{topics: [{TOPIC}, {TOPIC}]}}", "topics: two topics are named 'a'"),
        (f"topics: {{size: 44, topics: [{TOPIC}]}}", "topics: size 44 is less than 45 papers for each of 1 topics"),
        ("where: {ids: [a]}\nwhere: {ids: [b]}", "'where' stands here twice.* line 4"),
        ("where: {ids: [a], ids: [b]}", "'ids' stands here twice"),
        ("where: {ids: [a}", "can't be read: .*line 3"),
        ("name: other\nwhere: {ids: [a]}", "name: 'other' is not the file's own; rename one of them"),
    ],
)
def test_what_can_not_be_is_refused_in_one_line_that_says_where(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(CollectionError, match=fault) as refused:
        said(tmp_path, text)
    message = str(refused.value)
    assert message.startswith("some-papers.yaml")
    assert "\n" not in message


def test_a_file_without_title_or_of_no_mapping_or_of_an_odd_name_is_refused(tmp_path: Path) -> None:
    for text, name, fault in (
        ("about: x\nwhere: {ids: [a]}", "some-papers", "title: field required"),
        ("- a\n- b", "some-papers", "give a mapping"),
        ("", "some-papers", "give a mapping"),
        (HEAD + "where: {ids: [a]}", "Some Papers", "small letters, digits"),
        (HEAD + "where: {ids: [a]}", "o'brien", "small letters, digits"),
    ):
        with pytest.raises(CollectionError, match=fault):
            load(written(tmp_path, text, name))


def test_a_query_independent_selection_is_by_default_that_of_the_paper(tmp_path: Path) -> None:
    chosen = said(tmp_path, "representatives: {}").settled(PROFILE).representatives
    assert chosen is not None
    assert (chosen.size, chosen.anchors, chosen.min_characters, chosen.min_sentences) == (900, 0.2, 1, 0)
    assert (chosen.text, chosen.vectors) == ("full_text", "title_and_abstract")


def test_topics_have_by_default_the_quota_and_the_texts_of_the_paper(tmp_path: Path) -> None:
    topics = said(tmp_path, f"topics: {{topics: [{TOPIC}, {{name: b, queries: [y, z]}}]}}").settled(PROFILE).topics
    assert topics is not None
    assert (topics.quota, topics.wanted, topics.min_characters, topics.min_sentences, topics.text) == (45, 90, 2_000, 10, "full_text")


def test_a_file_goes_before_the_profile_and_the_profile_before_nothing(tmp_path: Path) -> None:
    profile = Selection(text="abstract", vectors="corpus")
    left = said(tmp_path, "representatives: {}").settled(profile).representatives
    given = said(tmp_path, "representatives: {text: full_text, vectors: title_and_abstract}").settled(profile).representatives
    assert left is not None
    assert given is not None
    assert (left.text, left.vectors) == ("abstract", "corpus")
    assert (given.text, given.vectors) == ("full_text", "title_and_abstract")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("where: {years: {from: 1990}}", set()),
        ("where: {words: [x]}", set()),
        ("where: {query: {text: x, mode: keyword}}", set()),
        ("where: {query: {text: x}}", {"embeddings"}),
        ("where: {none_of: [{query: {text: x, mode: dense}}], years: {to: 1990}}", {"embeddings"}),
        ("where: {ids: [a]}", {"identities"}),
        ("where: {any_of: [{near: {of: [a]}}]}", {"identities", "citations"}),
        ("representatives: {vectors: corpus}", {"embeddings", "fulltexts"}),
        ("representatives: {vectors: title_and_abstract}", {"fulltexts"}),
        (f"topics: {{topics: [{TOPIC}]}}", {"embeddings", "fulltexts"}),
    ],
)
def test_a_collection_depends_on_what_its_choice_looks_at_alone(tmp_path: Path, text: str, read: set[str]) -> None:
    assert said(tmp_path, text).settled(PROFILE).reads == {"papers", "degrees"} | read


def test_the_project_s_own_files_are_good_and_each_shows_another_way_to_choose() -> None:
    found = load_all(DATA / "collections")
    assert {collection.method for collection in found.values()} == {"conditions", "representatives", "topics"}


def test_a_folder_that_is_not_there_has_no_collections(tmp_path: Path) -> None:
    assert load_all(tmp_path / "none") == {}
