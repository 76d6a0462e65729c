"""The generator of dumps: the same bytes always, and a truth that agrees with what the lines say."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import zstandard

from scholarlake import profile
from scholarlake.errors import SourceError
from scholarlake.sample import generate
from scholarlake.sample.graph import make_graph
from scholarlake.sample.kinds import KINDS, LOOK_ALIKES
from scholarlake.sample.plan import make_plan
from scholarlake.sample.text import foreign_title, theme_of, title_of
from scholarlake.sample.topics import TOPICS
from scholarlake.sample.truth import citations_digest

REPOSITORY = Path(__file__).parents[2]
COMMITTED = REPOSITORY / "data" / "sample"
Json = dict[str, Any]


def content(path: Path) -> bytes:
    """A part's bytes, uncompressed."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".zst":
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes()), read_across_frames=True) as stream:
            return stream.read()
    return path.read_bytes()


def parts_of(folder: Path) -> dict[str, bytes]:
    dumps = folder / "dumps"
    return {path.relative_to(dumps).as_posix(): content(path) for path in sorted(dumps.rglob("*")) if path.is_file()}


def lines_of(data: bytes) -> list[tuple[int, bytes]]:
    """(offset, line without its end) of a part."""
    found, offset = [], 0
    for line in data.split(b"\n"):
        found.append((offset, line.removesuffix(b"\r")))
        offset += len(line) + 1
    if not found[-1][1]:
        found.pop()
    return found


def parsed(line: bytes) -> Any:
    return json.loads(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    generate(folder, 1500, 5, seed=3)
    return folder


@pytest.fixture(scope="module")
def truth(sample: Path) -> Json:
    found: Json = json.loads((sample / "truth.json").read_bytes())
    return found


@pytest.fixture(scope="module")
def records(sample: Path, truth: Json) -> list[tuple[str, Json]]:
    """(edition, record) of every line that the truth does not call bad."""
    bad = {(line["dump_part"], line["byte_offset"]) for line in truth["bad_lines"]}
    return [
        (name.split("/")[0], parsed(line))
        for name, data in parts_of(sample).items()
        for at, line in lines_of(data)
        if (name, at) not in bad
    ]


def references_of(record: Json) -> list[str]:
    given = record.get("references")
    given = [] if given is None else given if isinstance(given, list) else [given]
    return [str(one["id"] if isinstance(one, dict) else one) for one in given]


def test_the_same_seed_gives_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from scholarlake.sample import generate; generate(Path(sys.argv[1]), 400, 4, seed=11)"
    for number in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / number)], check=True, cwd=REPOSITORY, env={**os.environ, "PYTHONHASHSEED": number}
        )
    files = [sorted(path.relative_to(tmp_path / number) for path in (tmp_path / number).rglob("*") if path.is_file()) for number in "12"]
    assert files[0] == files[1]
    assert sum(path.parts[0] != "documents" for path in files[0]) == 5
    for path in files[0]:
        assert (tmp_path / "1" / path).read_bytes() == (tmp_path / "2" / path).read_bytes()


def test_another_seed_gives_other_papers(tmp_path: Path) -> None:
    generate(tmp_path / "a", 60, 2, seed=1)
    generate(tmp_path / "b", 60, 2, seed=2)
    ids = [
        {line["id"] for data in parts_of(tmp_path / name).values() for _, raw in lines_of(data) if is_record(line := parse_or_none(raw))}
        for name in "ab"
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def parse_or_none(line: bytes) -> Any:
    try:
        return parsed(line)
    except ValueError:
        return None


def is_record(value: Any) -> bool:
    return isinstance(value, dict) and value.get("id") is not None


def test_the_committed_sample_is_what_the_generator_makes(tmp_path: Path) -> None:
    generate(tmp_path, 1200, 4, seed=7)
    assert parts_of(COMMITTED) == parts_of(tmp_path)  # uncompressed: another zlib may pack otherwise
    assert (COMMITTED / "truth.json").read_bytes() == (tmp_path / "truth.json").read_bytes()


def test_the_committed_documents_are_what_the_generator_makes(tmp_path: Path) -> None:
    generate(tmp_path, 1200, 4, seed=7)
    made, committed = (
        {path.relative_to(folder).as_posix(): content(path) for path in sorted((folder / "documents").rglob("*")) if path.is_file()}
        for folder in (tmp_path, COMMITTED)
    )
    assert made == committed


def test_the_committed_sample_is_small_and_has_a_core_worth_looking_at() -> None:
    sizes = [path.stat().st_size for path in COMMITTED.rglob("*") if path.is_file()]
    assert sum(sizes) < 900_000
    core = profile.load("sample", REPOSITORY / "data" / "profiles").core
    found = json.loads((COMMITTED / "truth.json").read_bytes())["core"]
    assert next(one["papers"] for one in found if (one["min_total"], one["min_in"]) == (core.min_total, core.min_in)) in range(150, 501)


def test_every_line_is_counted_as_a_record_or_a_reject(sample: Path, truth: Json) -> None:
    parts = parts_of(sample)
    assert [part["dump_part"] for part in sorted(truth["parts"], key=lambda part: part["dump_part"])] == list(parts)
    for part in truth["parts"]:
        data = parts[part["dump_part"]]
        bad = [line for line in truth["bad_lines"] if line["dump_part"] == part["dump_part"]]
        assert part["uncompressed_bytes"] == len(data)
        assert part["lines"] == len(lines_of(data)) == part["records"] + len(bad)
    counts = truth["counts"]
    assert counts["lines"] == counts["records"] + counts["rejects"]
    assert counts["rejects"] == sum(truth["rejects"].values()) == len(truth["bad_lines"])


def test_bad_lines_are_where_the_truth_says_and_no_other_line_is_bad(sample: Path, truth: Json) -> None:
    bad = {(line["dump_part"], line["byte_offset"]): line for line in truth["bad_lines"]}
    for name, data in parts_of(sample).items():
        for offset, line in lines_of(data):
            said = bad.pop((name, offset), None)
            good = is_record(parse_or_none(line)) and b"\x00" not in line
            assert good == (said is None), (name, offset, line[:80])
            if said:
                assert said["byte_length"] == len(line)
    assert not bad
    assert set(truth["rejects"]) == {"blank", "not_json", "not_an_object", "no_id", "invalid_utf8", "nul_byte", "truncated"}


def test_parts_carry_a_byte_order_mark_carriage_returns_and_an_unfinished_last_line(sample: Path) -> None:
    parts = list(parts_of(sample).values())
    assert sum(data.startswith(b"\xef\xbb\xbf") for data in parts) == 1
    assert any(b"}\r\n" in data for data in parts)
    assert sum(not data.endswith(b"\n") for data in parts) == 2  # a whole record without a line end, and a line cut off


def test_compressed_parts_have_several_members(sample: Path) -> None:
    packed = [path for path in (sample / "dumps").rglob("*") if path.suffix in (".gz", ".zst")]
    assert {path.suffix for path in packed} == {".gz", ".zst"}
    for path in packed:
        magic = b"\x1f\x8b\x08" if path.suffix == ".gz" else b"\x28\xb5\x2f\xfd"
        assert path.read_bytes().count(magic) >= 2
    assert all(path.read_bytes()[4:8] == bytes(4) for path in packed if path.suffix == ".gz")  # no time stamp


def test_each_cluster_is_named_by_its_smallest_edition_and_id(truth: Json, records: list[tuple[str, Json]]) -> None:
    present = {(edition, str(record["id"])) for edition, record in records}
    kinds = Counter(cluster["kind"] for cluster in truth["clusters"])
    assert set(kinds) == set(KINDS)
    named: set[str] = set()
    for cluster in truth["clusters"]:
        members = [(edition, record_id) for edition, record_id in cluster["records"]]
        assert set(members) <= present
        assert cluster["paper_id"] == min(members)[1]
        ids = {record_id for _, record_id in members}
        assert not ids & named
        named |= ids
    alone = {record_id for _, record_id in present} - named
    assert len(alone) + len(truth["clusters"]) == truth["counts"]["papers"] == 1500


def paper_of(truth: Json) -> dict[str, str]:
    return {record_id: cluster["paper_id"] for cluster in truth["clusters"] for _, record_id in cluster["records"]}


def test_counted_references_are_those_that_the_lines_resolve_to(truth: Json, records: list[tuple[str, Json]]) -> None:
    papers = paper_of(truth)
    known = {str(record["id"]) for _, record in records}
    lists: dict[str, Counter[str]] = {}
    for _, record in records:
        record_id = str(record["id"])
        lists.setdefault(papers.get(record_id, record_id), Counter())
        lists[papers.get(record_id, record_id)] |= Counter(references_of(record))  # the union, repeats as in the fullest list
    found = Counter[str]()
    pairs: set[tuple[str, str]] = set()
    for paper, named in lists.items():
        for reference, times in named.items():
            target = papers.get(reference, reference)
            if reference not in known:
                found["unresolved_references"] += times
            elif target == paper:
                found["self_references"] += times
            else:
                found["repeated_references"] += times - ((paper, target) not in pairs)
                pairs.add((paper, target))
    counts = truth["counts"]
    assert len(lists) == counts["papers"]
    assert len(pairs) == counts["citations"]
    assert all(found[name] == counts[name] > 0 for name in found)
    assert citations_digest(pairs) == truth["citations_digest"]
    cited, citing = Counter(target for _, target in pairs), Counter(source for source, _ in pairs)
    assert truth["most_cited"][0]["in_degree"] == max(cited.values()) == cited[truth["most_cited"][0]["paper_id"]]
    for core in truth["core"]:
        inside = {paper for paper in lists if cited[paper] >= core["min_in"] and cited[paper] + citing[paper] >= core["min_total"]}
        assert len(inside) == core["papers"]
        assert sum(source in inside and target in inside for source, target in pairs) == core["citations"]


def test_lines_that_come_twice_are_one_distinct_record(sample: Path, truth: Json) -> None:
    bad = {(line["dump_part"], line["byte_offset"]) for line in truth["bad_lines"]}
    distinct = {
        (name.split("/")[0], line.removeprefix(b"\xef\xbb\xbf"))
        for name, data in parts_of(sample).items()
        for at, line in lines_of(data)
        if (name, at) not in bad
    }
    assert len(distinct) == truth["counts"]["distinct_records"] < truth["counts"]["records"]


def test_works_that_look_alike_are_papers_of_their_own(truth: Json, records: list[tuple[str, Json]]) -> None:
    assert {group["kind"] for group in truth["apart"]} == set(LOOK_ALIKES)
    papers = paper_of(truth)
    by_id = {str(record["id"]): record for _, record in records}
    for group in truth["apart"]:
        members = [by_id[paper] for paper in group["papers"]]
        assert len({papers.get(paper, paper) for paper in group["papers"]}) == len(members) == LOOK_ALIKES[group["kind"]].size
        titles = [member["title"] for member in members]
        if group["kind"] == "other_authors":
            families = [{person["name"].split(" ")[-1] for person in member["authors"]} for member in members]
            assert titles[0] == titles[1]
            assert not families[0] & families[1]
        if group["kind"] == "one_title_two_dois":
            dois = {
                member["doi"].lower()
                for member in members
                if str(member["doi"]).lower().startswith("10.1") or str(member["doi"]).startswith("10.3")
            }
            assert len(set(titles)) == 1
            assert len(dois) == 2


def test_two_works_under_one_doi_share_no_word(truth: Json, records: list[tuple[str, Json]]) -> None:
    by_id = {str(record["id"]): record for _, record in records}
    assert truth["doi_conflicts"]
    for conflict in truth["doi_conflicts"]:
        first, second = (set(words(by_id[paper]["title"])) for paper in conflict["papers"])
        assert first
        assert second
        assert not first & second
        assert {by_id[paper]["doi"].lower() for paper in conflict["papers"]} == {conflict["doi"]}


def words(title: str) -> list[str]:
    kept = "".join(sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in unicodedata.normalize("NFKC", title).casefold())
    return kept.split()


def test_no_two_works_get_one_title_by_accident() -> None:
    titles = {"".join(words(title_of(theme_of(topic, rank)))) for topic in range(len(TOPICS)) for rank in range(4000)}
    assert len(titles) == 4000 * len(TOPICS)
    for script in (1, 2, 3):
        assert len({foreign_title(script, number) for number in range(10_000)}) == 10_000


def test_a_topic_that_runs_out_of_titles_numbers_them() -> None:
    used_up = 20 * 24 * 8 * 8 * 8
    assert title_of(theme_of(4, used_up + 5)) == f"{title_of(theme_of(4, 5))}, part 2"


def test_topics_share_no_method_problem_or_object() -> None:
    for kind in ("methods", "problems", "objects"):
        phrases = [phrase for topic in TOPICS for phrase in getattr(topic, kind)]
        assert len(set(phrases)) == len(phrases) == 8 * len(TOPICS)


def test_citations_prefer_the_cited_the_same_topic_and_older_works() -> None:
    plan = make_plan(20_000, 5, faults=False, later_edition=True)
    graph = make_graph(plan)
    citing = np.repeat(np.arange(plan.works), graph.out_degree)
    cited = np.sort(graph.in_degree)[::-1]
    assert 15 < graph.out_degree.mean() < 25
    assert cited[0] > 25 * cited.mean()
    assert cited[: plan.works // 100].sum() > 0.12 * cited.sum()
    assert (plan.topic[citing] == plan.topic[graph.targets]).mean() > 0.75
    assert 0.98 < (graph.targets < citing).mean() < 1
    assert (graph.targets != citing).all()
    assert len(np.unique(citing.astype(np.int64) << 32 | graph.targets)) == len(citing)


def test_a_clean_dump_has_one_shape_of_record_and_no_bad_line(tmp_path: Path) -> None:
    facts = generate(tmp_path, 500, 3, seed=2, compression="none", faults=False)
    fields: dict[str, set[type]] = {}
    for name, data in parts_of(tmp_path).items():
        assert name.endswith(".json")
        for _, line in lines_of(data):
            for field, value in parsed(line).items():
                fields.setdefault(field, set()).add(type(value))
    assert facts.rejects == 0
    assert facts.lines == facts.records > facts.papers == 500
    assert fields["venue"] == fields["id"] == fields["title"] == {str}
    assert fields["year"] == fields["n_citation"] == {int}
    assert fields["references"] == fields["authors"] == fields["keywords"] == {list}


def test_a_large_dump_has_its_clusters_beside_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate(tmp_path / "inline", 600, 3, seed=2)
    monkeypatch.setattr("scholarlake.sample.truth.INLINE", 100)
    generate(tmp_path / "beside", 600, 3, seed=2)
    inline = json.loads((tmp_path / "inline" / "truth.json").read_bytes())["clusters"]
    rows = pl.read_parquet(tmp_path / "beside" / "truth" / "records.parquet").rows()
    assert "clusters" not in json.loads((tmp_path / "beside" / "truth.json").read_bytes())
    assert sorted(rows) == sorted(
        (record_id, edition, one["paper_id"], one["kind"]) for one in inline for edition, record_id in one["records"]
    )


@pytest.mark.parametrize(("papers", "parts"), [(1, 1), (2, 2), (7, 1), (30, 9), (200, 3)])
def test_small_dumps_keep_their_promises(tmp_path: Path, papers: int, parts: int) -> None:
    facts = generate(tmp_path, papers, parts, seed=1)
    assert facts.papers == papers
    assert facts.parts == parts == len(parts_of(tmp_path))
    assert facts.lines == sum(len(lines_of(data)) for data in parts_of(tmp_path).values())


def test_a_sample_is_written_over_but_nothing_else_is(tmp_path: Path) -> None:
    generate(tmp_path, 40, 2, seed=1)
    before = parts_of(tmp_path)
    generate(tmp_path, 40, 2, seed=1)
    assert parts_of(tmp_path) == before
    (tmp_path / "truth.json").unlink()
    with pytest.raises(SourceError, match="holds no generated sample"):
        generate(tmp_path, 40, 2, seed=1)
    assert parts_of(tmp_path) == before


@pytest.mark.parametrize(("papers", "parts", "seed"), [(0, 1, 1), (10, 0, 1), (10, 1000, 1), (10, 1, -1)])
def test_numbers_that_cannot_be_are_refused_before_anything_is_written(tmp_path: Path, papers: int, parts: int, seed: int) -> None:
    with pytest.raises(SourceError, match="set --"):
        generate(tmp_path / "out", papers, parts, seed)
    assert not (tmp_path / "out").exists()


def test_the_corpus_stage_comes_to_the_truth(sample: Path, truth: Json, tmp_path: Path) -> None:
    """The two share no code and were made from the same rules: every count, cluster, bad line and citation agrees."""
    from scholarlake.lake.home import Lake
    from tests.bench.library_path import run

    counts = run(sample / "dumps", tmp_path / "lake", "sample")["counts"]
    core = truth["core"][0]
    assert counts == {
        **{name: truth["counts"][name] for name in counts if not name.startswith("core_")},
        "core_papers": core["papers"],
        "core_citations": core["citations"],
    }
    lake = Lake.open(tmp_path / "lake")
    papers = paper_of(truth)
    decided = dict(lake.scan("identities").select("record_id", "paper_id").collect().iter_rows())
    assert decided == {record_id: papers.get(record_id, record_id) for record_id in decided}
    flagged = lake.scan("identities").filter(pl.col("flags").list.contains("doi_conflict")).collect()
    assert set(flagged["paper_id"]) == {paper for conflict in truth["doi_conflicts"] for paper in conflict["papers"]}
    columns = ["dump_part", "byte_offset", "byte_length", "reason"]
    assert set(lake.scan("rejects").select(columns).collect().rows()) == {
        tuple(line[name] for name in columns) for line in truth["bad_lines"]
    }
    assert citations_digest(lake.scan("citations").select("citing_id", "cited_id").collect().iter_rows()) == truth["citations_digest"]
