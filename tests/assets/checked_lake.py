"""A lake of a handful of papers in which everything holds, and a way to break one table of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from scholarlake.knowledge.facts import source_hash
from scholarlake.knowledge.objects import evidence_hash
from scholarlake.knowledge.organization.taxonomy import Category, Dimension, Taxonomy
from scholarlake.knowledge.registry.build import build_registry
from scholarlake.knowledge.syntheses.objects import Basis, Claim, Proposal, Synthesis, row_of
from scholarlake.lake import delta
from scholarlake.lake.contracts import table
from scholarlake.lake.hashing import stable_key, text_hash
from scholarlake.lake.home import Lake
from scholarlake.profile import Core, Dense, Profile, Reading, Training

PROFILE = Profile(
    name="test",
    shards=2,
    reading=Reading(reject_warn=0.1, reject_block=0.5),
    core=Core(min_total=2, min_in=1),
    dense=Dense(centroids=2, probes=2, recall_queries=4),
    training=Training(walks=1, steps=1, train=1, validation=0, test=1, train_batches=1),
)
RUN = delta.Commit("run", "1")
PART, OTHER = "a.jsonl", "o'brien/b.jsonl"
LINE = 100  # bytes of each record's line, without its line end

# record → (part, paper, DOI, flags): p1 has two copies, and one DOI stands on a book and on its chapter.
RECORDS = {
    "p1": (PART, "p1", "10.1/x", []),
    "p2": (OTHER, "p1", "10.1/x", []),
    "p3": (PART, "p3", None, []),
    "p4": (PART, "p4", "10.1/book", ["doi_conflict"]),
    "p5": (OTHER, "p5", "10.1/book", ["doi_conflict"]),
}
VERSION, WORK, NOTICE = "p5", "p4", "p3"  # a preprint of p4 that p3 says was withdrawn
EDGES = [("p1", "p3"), ("p4", "p3"), ("p5", "p3"), ("p4", "p1")]
_PAIR = {"release": "r0002", "previous": "r0001", "table": "papers"}
SENTENCE = "This sentence has 37 words."
SUBGRAPH = f"subgraph-{'0' * 32}"
_RELATION = {"kind": "cites", "value": "", "paper": "p3", "year": None, "venue": None, "alone": 3, "left": 3}
_KEYWORD = {"kind": "keyword", "value": "a keyword", "paper": None, "year": None, "venue": None, "alone": 2, "left": 1}
QUESTION: dict[str, object] = {
    "subgraph_batch": "train-00",
    "split": "train",
    "question_id": f"question-{'0' * 32}",
    "subgraph_id": SUBGRAPH,
    "answer_kind": "venue",
    "question": "Take the paper that cites “The third of these papers” and lists “a keyword” among its keywords. Where is it from?",
    "answer": "Journal of Examples",
    "answer_paper": "p1",
    "hops": 1,
    "parts": [_RELATION, _KEYWORD],
    "history": [{"edit": "added cites", "question": "x", "candidates": 3}, {"edit": "added keyword", "question": "y", "candidates": 1}],
    "method": "graph_composed",
}
CRITERIA: list[dict[str, object]] = [
    {"dimension": "answer", "description": "It is right.", "weight": 40, "method": "derived"},
    {"dimension": "planning", "description": "It was taken apart.", "weight": 30, "method": "derived"},
    {"dimension": "grounding", "description": "It was looked up.", "weight": 30, "method": "derived"},
]
FACT = f"fact-{'0' * 32}"
ATTENDED = f"fact-{'1' * 32}"
ENTITY = f"entity-{'0' * 32}"
REMARK = f"fact-{'2' * 32}"  # of p4, as ATTENDED read under the taxonomy of the collection "some"
ACCOUNT = Synthesis(
    Proposal(
        "some",
        "open_problem",
        "sentences",
        "Sentences: what is left open",
        (Claim("One has 37 words, and of another it is not known.", (FACT, REMARK)),),
        (Basis(FACT, "supporting", "it counts"), Basis(REMARK, "limiting", "it does not")),
        method="rules",
    ),
    {FACT: "fact", REMARK: "fact"},
    ("p1", "p4"),
    2,
)
NOT_EMBEDDED = "p5"
# name, method, role, members with their topics
COLLECTIONS = [("some", "conditions", "member", [("p4", None), ("p1", None)]), ("by-topic", "topics", "quota", [("p3", "t"), ("p4", "u")])]
DEFINITIONS = {
    "some": '{"where":{"ids":["p1","p4"]}}',
    "by-topic": '{"topics":{"quota":1,"size":2,"topics":[{"name":"t","queries":["x"]},{"name":"u","queries":["y"]}]}}',
}
WANTED = {"some": None, "by-topic": 2}
TAXONOMY = Taxonomy(
    (Dimension("kind of text", (Category("sentence", "It ends with a full stop."),), subject_types=("concept",)),), "supplied", "file"
)
VECTORS = {"p1": [1.0, 0.0, 0.0, 0.0], "p3": [0.6, 0.8, 0.0, 0.0], "p4": [0.0, 0.0, 1.0, 0.0]}
LINES = {PART: 4, OTHER: 2}  # the first part has a rejected line at its end
BYTES = {PART: 3 * (LINE + 1) + 10, OTHER: 2 * (LINE + 1)}


def good_lake(root: Path) -> Lake:
    """A lake in which every invariant and every contract holds."""
    lake = Lake.create(root, PROFILE.shards, PROFILE.training.train_batches)
    for name, frame in _tables(lake).items():
        replace(lake, name, frame)
    build_registry(lake, RUN)
    return lake


def frame_of(name: str, rows: list[dict[str, object]]) -> pl.DataFrame:
    """Rows as a frame of the table's contract; what is not given is null, 0, false, "x" or an empty list."""
    contract = table(name)
    return pl.DataFrame([{**{c: _empty(c, name) for c in contract.columns}, **row} for row in rows], schema=contract.schema)


def replace(lake: Lake, name: str, frame: pl.DataFrame) -> None:
    """Make a frame the whole content of a table, without the writer's look at keys: a broken lake must be possible."""
    by = table(name).partition_by
    if by is None:
        delta.commit_staged(lake, name, None, [delta.stage(lake, name, None, frame)], RUN)
        return
    for partition in sorted({*delta.partitions(lake, name), *frame[by].unique()}):
        rows = frame.filter(pl.col(by) == partition)
        delta.commit_staged(lake, name, partition, [delta.stage(lake, name, partition, rows)] if rows.height else [], RUN)


def broken(lake: Lake, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Lake:
    """The lake with one of its tables changed."""
    replace(lake, name, change(lake.scan(name).collect()))
    return lake


def _tables(lake: Lake) -> dict[str, pl.DataFrame]:
    papers = sorted({paper for _, paper, _, _ in RECORDS.values()})
    shard = {paper: lake.shard_of(paper) for paper in papers}
    ids = {paper: int(shard[paper]) * 10**10 + place for place, paper in enumerate(papers)}
    degree = {p: (sum(cited == p for _, cited in EDGES), sum(citing == p for citing, _ in EDGES)) for p in papers}
    core = [p for p in papers if sum(degree[p]) >= PROFILE.core.min_total and degree[p][0] >= PROFILE.core.min_in]
    degrees = [{"paper_id": p, "shard": shard[p], "in_degree": i, "out_degree": o, "total_degree": i + o} for p, (i, o) in degree.items()]
    edges = [{"citing_id": a, "cited_id": b, "shard": shard[a]} for a, b in EDGES]
    place = {part: iter(range(9)) for part in LINES}
    return {
        "dump_manifest": frame_of(
            "dump_manifest",
            [{"dump_part": part, "edition": "", "bytes": BYTES[part], "checksum": "0" * 32, "format": "oag-jsonl"} for part in LINES],
        ),
        "records": frame_of(
            "records",
            [
                {
                    "dump_part": part,
                    "edition": "",
                    "byte_offset": next(place[part]) * (LINE + 1),
                    "byte_length": LINE,
                    "record_id": record,
                    "record_key": stable_key(record),
                    "content_hash": stable_key(f"{record}!"),
                    "doi": doi,
                }
                for record, (part, _, doi, _) in RECORDS.items()
            ],
        ),
        "rejects": frame_of(
            "rejects", [{"dump_part": PART, "byte_offset": 3 * (LINE + 1), "byte_length": 9, "reason": "not_json", "excerpt": "{"}]
        ),
        "identities": frame_of(
            "identities",
            [
                {
                    "record_id": record,
                    "record_key": stable_key(record),
                    "edition": "",
                    "content_hash": stable_key(f"{record}!"),
                    "copies": 1,
                    "is_current": True,
                    "paper_id": paper,
                    "paper_key": stable_key(paper),
                    "shard": shard[paper],
                    "flags": flags,
                    "rule": "representative" if record == paper else "same_doi",
                }
                for record, (_, paper, _, flags) in RECORDS.items()
            ],
        ),
        "work_versions": frame_of(
            "work_versions", [{"paper_id": VERSION, "shard": shard[VERSION], "version_of": WORK, "rule": "title_and_author"}]
        ),
        "withdrawals": frame_of("withdrawals", [{"paper_id": VERSION, "shard": shard[VERSION], "notice_id": NOTICE}]),
        "tombstones": frame_of(
            "tombstones",
            [
                {"paper_id": "p2", "shard": lake.shard_of("p2"), "reason": "merged", "into": "p1"},
                {"paper_id": "p0", "shard": lake.shard_of("p0"), "reason": "removed"},
            ],
        ),
        "papers": frame_of(
            "papers",
            [
                {
                    "paper_id": p,
                    "paper_key": stable_key(p),
                    "shard": shard[p],
                    "record_ids": sorted(r for r, (_, of, _, _) in RECORDS.items() if of == p),
                    **(
                        {"version_of": WORK, "withdrawn": True, "withdrawn_by": "notice", "withdrawal_notice": NOTICE}
                        if p == VERSION
                        else {}
                    ),
                }
                for p in papers
            ],
        ),
        "citations": frame_of("citations", edges),
        "degrees": frame_of("degrees", [{**row, "is_core": row["paper_id"] in core, "reason": _reason(row)} for row in degrees]),
        "core_papers": frame_of("core_papers", [row for row in degrees if row["paper_id"] in core]),
        "core_citations": frame_of("core_citations", [edge for edge in edges if edge["citing_id"] in core and edge["cited_id"] in core]),
        "embeddings": frame_of(
            "embeddings",
            [
                {"paper_id": p, "shard": shard[p], "faiss_id": ids[p], "text_hash": text_hash(p), "model": "m", "vector": vector}
                for p, vector in VECTORS.items()
            ],
        ),
        "embedding_failures": frame_of(
            "embedding_failures",
            [{"paper_id": NOT_EMBEDDED, "shard": shard[NOT_EMBEDDED], "text_hash": text_hash("p5"), "model": "m", "reason": "empty_text"}],
        ),
        "release_changes": frame_of("release_changes", [{**_PAIR, "change": "went", "key": "p0", "place": 1}]),
        "release_change_counts": frame_of("release_change_counts", [{**_PAIR, "went": 1, "fields": [{"name": "title", "rows": 1}]}]),
        **_documents(shard),
        **_facts(shard),
        **_subgraphs(),
        **_syntheses(),
        "faiss_ids": frame_of("faiss_ids", [{"paper_id": p, "shard": shard[p], "faiss_id": ids[p]} for p in papers]),
        "collections": frame_of(
            "collections",
            [
                {"collection": name, "paper_id": p, "shard": shard[p], "rank": rank, "role": role, "topic": topic, "method": method}
                for name, method, role, members in COLLECTIONS
                for rank, (p, topic) in enumerate(members, 1)
            ],
        ),
        **_organization(shard),
        "kept_views": frame_of(
            "kept_views",
            [{"view_id": "view-1", "name": "mine", "collection": "some", "release": "r0001", "kept_at": datetime(2030, 1, 2, tzinfo=UTC)}],
        ),
        "collection_catalog": frame_of(
            "collection_catalog",
            [
                {"collection": name, "method": method, "definition": DEFINITIONS[name], "chosen": len(members), "wanted": WANTED[name]}
                for name, method, _, members in COLLECTIONS
            ],
        ),
    }


def _documents(shard: dict[str, str]) -> dict[str, pl.DataFrame]:
    """A file whose one document is p1's text, of a single sentence."""
    file = {"file": "p1.txt", "position": 0, "bucket": "00", "checksum": "0" * 32, "content_hash": text_hash("text"), "format": "text"}
    text = {"text": SENTENCE, "characters": len(SENTENCE), "sentences": 1, "extent": "full_text"}
    span = {"start": 0, "end": len(SENTENCE)}
    blocks = [{"kind": "paragraph", "sections": [], "label": None, **span, "sentences": [span]}]
    paper = {"paper_id": "p1", "shard": shard["p1"]}
    rows: dict[str, dict[str, object]] = {
        "document_manifest": {**file, "bytes": 11, "formats": ["text"], "documents": 1},
        "document_sources": {**file, **text, "ids": ["p1"], "blocks": blocks},
        "document_matches": {**file, **paper, "rule": "id", "outcome": "taken"},
        "fulltexts": {**file, **text, **paper, "rule": "id"},
        "documents": {**file, **text, **paper, "method": "text", "blocks": blocks},
        "sentences": {**file, **text, **paper, **span, "sentence_id": "p1:0", "n": 0, "block": 0, "kind": "paragraph"},
    }
    return {name: frame_of(name, [{key: row[key] for key in row if key in table(name).columns}]) for name, row in rows.items()}


def _fact_of(paper: str, shard: dict[str, str]) -> dict[str, object]:
    said = {"type": "finding", "study_type": "quantitative", "subject": "sentence", "statement": SENTENCE, "evidence": [f"{paper}:0"]}
    return {**said, "paper_id": paper, "shard": shard[paper]}


def _facts(shard: dict[str, str]) -> dict[str, pl.DataFrame]:
    """One fact of the one document, and one that was refused."""
    of = {"paper_id": "p1", "shard": shard["p1"], "n": 0, "method": "extractive"}
    seen = source_hash(text_hash("text"), None, "full_text")
    fact = _fact_of("p1", shard)
    quantities = [{"value": "37", "number": 37.0, "unit": "words", "metric": None, "comparator": None}]
    counts = {"sentences": 1, "candidates": 2, "facts": 1, "rejects": 1}
    rows: dict[str, dict[str, object]] = {
        "facts": {
            **of,
            **fact,
            "fact_id": FACT,
            "quantities": quantities,
            "evidence_hash": evidence_hash([SENTENCE]),
            "verification": "unchecked",
        },
        "fact_rejects": {**of, "reason": "no_evidence", "detail": "no sentence is cited", "candidate": "{}"},
        "fact_sources": {**of, **counts, "content_hash": seen, "study_type": "quantitative"},
    }
    return {name: frame_of(name, [{key: row[key] for key in row if key in table(name).columns}]) for name, row in rows.items()}


def _organization(shard: dict[str, str]) -> dict[str, pl.DataFrame]:
    """What the one fact of the collection "some" comes to."""
    of, entity, cited = {"collection": "some"}, {"entity_id": ENTITY}, {"fact_id": FACT, "paper_id": "p1"}
    return {
        "fact_catalog": frame_of(
            "fact_catalog",
            [
                {"collection": name, "papers": len(members), "facts": int(name == "some"), "content_hash": "0" * 32}
                for name, _, _, members in COLLECTIONS
            ],
        ),
        "taxonomies": frame_of("taxonomies", list(TAXONOMY.rows("some", "x"))),
        "attended_facts": frame_of(
            "attended_facts",
            [
                {
                    **of,
                    **_fact_of("p1", shard),
                    "fact_id": ATTENDED,
                    "taxonomy": TAXONOMY.version,
                    "evidence_hash": evidence_hash([SENTENCE]),
                    "verification": "unchecked",
                },
                {
                    **of,
                    "paper_id": "p4",
                    "shard": shard["p4"],
                    "fact_id": REMARK,
                    "type": "limitation",
                    "study_type": "quantitative",
                    "subject": "sentence",
                    "statement": "It has not been counted.",
                    "evidence": ["p4:0"],
                    "evidence_hash": "0" * 32,
                    "taxonomy": TAXONOMY.version,
                    "verification": "unchecked",
                    "method": "extractive",
                },
            ],
        ),
        "entities": frame_of(
            "entities",
            [
                {
                    **of,
                    **entity,
                    "type": "concept",
                    "name": "sentence",
                    "keys": ["sentence", "sentences"],
                    "papers": ["p1"],
                    "mentions": 1,
                    "certainty": "confirmed",
                }
            ],
        ),
        "entity_mentions": frame_of(
            "entity_mentions", [{**of, **entity, **cited, "role": "subject", "surface": "sentence", "key": "sentence"}]
        ),
        "assignments": frame_of(
            "assignments",
            [
                {
                    **of,
                    "assignment_id": f"assignment-{'0' * 32}",
                    "taxonomy": TAXONOMY.version,
                    "category_id": "kind-of-text/sentence",
                    "subject_kind": "entity",
                    "subject_id": ENTITY,
                    "basis": [FACT],
                    "papers": ["p1"],
                    "inference": "inferred",
                    "certainty": "confirmed",
                    "verification": "unchecked",
                }
            ],
        ),
        "unclassified_facts": frame_of(
            "unclassified_facts",
            [
                {
                    **of,
                    "fact_id": REMARK,
                    "paper_id": "p4",
                    "dimension": "kind of text",
                    "taxonomy": TAXONOMY.version,
                    "reason": "no_entity",
                },
                {
                    **of,
                    "fact_id": ATTENDED,
                    "paper_id": "p1",
                    "dimension": "kind of text",
                    "taxonomy": TAXONOMY.version,
                    "reason": "no_category",
                },
            ],
        ),
        "taxonomy_proposals": frame_of(
            "taxonomy_proposals",
            [{**of, "proposal_id": f"proposal-{'0' * 32}", "taxonomy": TAXONOMY.version, "dimension": "kind of text", "facts": [FACT]}],
        ),
        "relations": frame_of("relations", [_relation(of, "uses", FACT), _relation(of, "cites", None)]),
        "entity_decisions": frame_of(
            "entity_decisions",
            [{**of, "type": "concept", "left": "sentence", "right": "sentences", "verdict": "same", "rule": "ruling"}],
        ),
    }


def _subgraphs() -> dict[str, pl.DataFrame]:
    """The one citation of the core to train on, and nothing to test on."""
    core = {"core_papers": 2, "open_papers": 2, "wanted": 1, "drawn_from": "0" * 32}
    walked = {"seed_id": "p1", "papers": ["p1", "p3"], "walks": [[0, 1]]}
    return {
        "subgraphs": frame_of("subgraphs", [{"subgraph_batch": "train-00", "split": "train", "subgraph_id": SUBGRAPH, "n": 0, **walked}]),
        "subgraph_batches": frame_of(
            "subgraph_batches",
            [
                {"subgraph_batch": "train-00", "split": "train", **core, "made": 1, "papers": 2},
                {"subgraph_batch": "test-00", "split": "test", **core, "made": 0, "papers": 0, "most_papers": 0, "shortfall": "too small"},
            ],
        ),
        "questions": frame_of("questions", [QUESTION]),
        "rubrics": frame_of(
            "rubrics",
            [
                {"subgraph_batch": "train-00", "split": "train", "question_id": QUESTION["question_id"], "n": n, **criterion}
                for n, criterion in enumerate(CRITERIA)
            ],
        ),
        "question_batches": frame_of(
            "question_batches", [{"subgraph_batch": "train-00", "split": "train", "subgraphs": 1, "wanted": 1, "made": 1}]
        ),
    }


def _syntheses() -> dict[str, pl.DataFrame]:
    """An account of two facts, and one that was refused."""
    refused = {"collection": "some", "reason": "one_source", "detail": "it rests on p1 alone", "candidate": "{}"}
    return {
        "syntheses": frame_of("syntheses", [row_of(ACCOUNT)]),
        "synthesis_rejects": frame_of("synthesis_rejects", [refused]),
    }


def _relation(of: dict[str, str], relation: str, fact: str | None) -> dict[str, object]:
    """What p1 uses, or which other paper of the collection cites it."""
    ends = ("p1", "entity", ENTITY) if fact else ("p4", "paper", "p1")
    return {
        **of,
        "relation_id": f"relation-{'0' * 31}{int(fact is None)}",
        "relation": relation,
        "source_kind": "paper",
        "source_id": ends[0],
        "target_kind": ends[1],
        "target_id": ends[2],
        "payload": [{"name": "value", "value": "37"}] if fact else [],
        "basis": [fact] if fact else [],
        "evidence": ["p1:0"] if fact else [],
        "certainty": "confirmed",
        "verification": "unchecked",
    }


def _reason(row: dict[str, object]) -> str:
    enough = (int(str(row["total_degree"])) >= PROFILE.core.min_total, int(str(row["in_degree"])) >= PROFILE.core.min_in)
    return {(True, True): "core", (False, True): "low_total", (True, False): "low_in", (False, False): "low_both"}[enough]


def _empty(column: str, name: str) -> object:
    found = table(name).columns[column]
    if found.nullable:
        return None
    if isinstance(found.dtype, pl.List):
        return []
    return "x" if found.dtype == pl.String else False if found.dtype == pl.Boolean else 0
