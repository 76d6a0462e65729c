"""The graph of assets: every stage's dependencies, partitioning, outputs and version, in one place.

Dagster's assets take theirs from here, and so do the judgement of what is stale and the release's proof of one cut.
What does not belong here: how a stage works, and what state it is in (`judgement`).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from scholarlake.errors import LakeError
from scholarlake.lake.hashing import digest, file_checksum
from scholarlake.profile import Profile

PART, SHARD, COLLECTION, BATCH = "dump_part", "shard", "collection", "subgraph_batch"

#: Data that facts depend on as they do on code: what wordings say of sentences, and what each role is asked.
_KNOWLEDGE = Path(__file__).resolve().parents[1] / "knowledge"
_DATA_OF_FACTS = {"cues": "cues.yaml", "extractor": "prompts/extract.j2", "verifier": "prompts/verify.j2"}

#: The same of what is made of facts.
_DATA_OF_ORGANIZATION = {
    "entities": "organization/entities.yaml",
    "outcomes": "organization/outcomes.yaml",
    "taxonomy": "organization/prompts/taxonomy.j2",
    "relations": "organization/relations.yaml",
    "same": "organization/prompts/same.j2",
    "sort": "organization/prompts/sort.j2",
    "judge": "organization/prompts/judge.j2",
    "relate": "organization/prompts/relate.j2",
}
#: The settings of training that say what subgraphs are.
_OF_SUBGRAPHS = {"seed", "walks", "steps", "train", "validation", "test", "held_out", "train_batches"}
#: What accounts depend on so: what each role is asked.
_DATA_OF_SYNTHESES = {"synthesizer": "prompts/synthesize.j2", "verifier": "prompts/review.j2"}

#: The kinds of partitions that come and go with the sources, and the observed asset whose partitions say which there are.
OBSERVED_BY = {PART: "oag_dump", COLLECTION: "collection_file"}


@dataclass(frozen=True)
class Settings:
    """What a build is configured with: the profile, and the fingerprints of the models bound to it.

    roles: of every role that a language model plays. A role that is not there is played by its deterministic method.
    """

    profile: Profile
    embedder: str
    roles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """One asset.

    partitions: None, "dump_part", "shard", "collection" or "subgraph_batch". tables: what it writes. version: raised by hand when its
    code changes what it makes.
    settings: the part of the configuration that its result depends on; a change of it is a change of code version.
    observed: an asset that nothing computes: another stage, or a look at the outside, reports it.
    blocking: the checks that must have passed on every partition before a release pins it.
    """

    name: str
    group: str
    about: str
    deps: tuple[str, ...] = ()
    partitions: str | None = None
    tables: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    version: str = "1"
    settings: Callable[[Settings], Any] = field(default=lambda _: None, repr=False)
    observed: bool = False
    artifact: bool = False
    blocking: tuple[str, ...] = ()

    def code_version(self, settings: Settings) -> str:
        chosen = self.settings(settings)
        return self.version if chosen is None else f"{self.version}-{digest([_canonical(chosen)])[:12]}"


def _organized_by(settings: Settings, roles: tuple[str, ...], data: tuple[str, ...]) -> Any:
    """What organizing depends on besides its inputs: the models that are asked, what they are asked, and what words say to rules."""
    files = {name: _DATA_OF_ORGANIZATION[name] for name in data}
    return {
        "roles": {role: settings.roles[role] for role in roles if role in settings.roles},
        "data": {name: file_checksum(_KNOWLEDGE / path) for name, path in files.items()},
    }


def _is_at_work(name: str, settings: Settings) -> bool:
    """Whether facts are made with that data: prompts of roles that are bound, cues where no extractor is."""
    return name in settings.roles if name != "cues" else "extractor" not in settings.roles


def _canonical(value: Any) -> str:
    plain = value.model_dump() if hasattr(value, "model_dump") else value
    return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS).decode()


STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            "oag_dump",
            "sources",
            "A file of the dump, as observed in the dump folder: its data version is its content.",
            partitions=PART,
            observed=True,
            kinds=("json",),
        ),
        Stage(
            "dump_manifest",
            "sources",
            "The sorted list of parts and their checksums: its change is what makes a removed part felt.",
            deps=("oag_dump",),
            tables=("dump_manifest",),
            kinds=("polars", "deltalake"),
            blocking=("dump_manifest_contract",),
        ),
        Stage(
            "records",
            "sources",
            "Every parsed record of a part, normalised; beside it `rejects`, every line that is none, with reason and byte offset.",
            deps=("oag_dump",),
            partitions=PART,
            tables=("records", "rejects"),
            kinds=("python", "deltalake"),
            version="3",
            settings=lambda settings: settings.profile.reading.max_line_bytes,
            blocking=(
                "records_contract",
                "rejects_contract",
                "nothing_lost",
                "every_byte_covered",
                "most_lines_are_records",
            ),
        ),
        Stage(
            "identities",
            "corpus",
            "Which paper each record belongs to, the rule that decided, and the shard; beside it `work_versions`, preprints and what was "
            "published of them, `withdrawals`, papers that a notice is about, and `tombstones`, papers that are gone.",
            deps=("dump_manifest", "records"),
            tables=("identities", "work_versions", "withdrawals", "tombstones"),
            kinds=("polars", "deltalake"),
            version="4",
            settings=lambda settings: settings.profile.shards,
            blocking=(
                "identities_contract",
                "work_versions_contract",
                "withdrawals_contract",
                "tombstones_contract",
                "no_line_of_a_gone_part",
                "every_record_has_a_paper",
                "one_paper_per_record_id",
                "one_paper_per_doi",
                "representative_is_a_member",
                "papers_lie_in_their_shard",
                "tombstones_are_of_papers_that_are_gone",
                "versions_lead_to_what_stands_for_the_work",
                "withdrawals_and_notices_are_papers",
            ),
        ),
        Stage(
            "shard_inputs",
            "corpus",
            "What a shard's papers are made from: reported by `identities`, only for shards whose members, or what was decided about them, "
            "changed.",
            deps=("identities",),
            partitions=SHARD,
            observed=True,
        ),
        Stage(
            "works",
            "corpus",
            "Which papers are versions of one work: reported by `identities`, only where that changed.",
            deps=("identities",),
            observed=True,
        ),
        Stage(
            "papers",
            "corpus",
            "Papers merged from their records.",
            deps=("shard_inputs",),
            partitions=SHARD,
            tables=("papers",),
            kinds=("polars", "deltalake"),
            version="2",
            # shard_inputs speaks of the dump's bytes: another reading of the same bytes is felt here.
            settings=lambda settings: STAGES["records"].code_version(settings),
            blocking=(
                "papers_contract",
                "papers_are_those_of_identities",
                "record_ids_resolve",
                "papers_bear_what_was_decided",
            ),
        ),
        Stage(
            "citations",
            "corpus",
            "Resolved citations, paper to paper, each once.",
            deps=("records", "identities"),
            tables=("citations",),
            kinds=("numpy", "deltalake"),
            blocking=(
                "citations_contract",
                "no_dangling_edge",
                "no_self_edge",
                "no_repeated_edge",
            ),
        ),
        Stage(
            "degrees",
            "corpus",
            "In-, out- and total degree of every paper, and whether it is in the core.",
            deps=("identities", "citations"),
            tables=("degrees",),
            kinds=("numpy", "deltalake"),
            settings=lambda settings: settings.profile.core,
            blocking=(
                "degrees_contract",
                "degrees_of_every_paper",
                "degrees_agree_with_citations",
                "core_flags_agree_with_thresholds",
            ),
        ),
        Stage(
            "core_papers",
            "corpus",
            "Papers whose degrees meet the profile's thresholds.",
            deps=("degrees",),
            tables=("core_papers",),
            kinds=("polars", "deltalake"),
            blocking=(
                "core_papers_contract",
                "core_papers_are_the_core",
            ),
        ),
        Stage(
            "core_citations",
            "corpus",
            "Citations with both ends in the core.",
            deps=("core_papers", "citations"),
            tables=("core_citations",),
            kinds=("polars", "deltalake"),
            blocking=(
                "core_citations_contract",
                "core_citations_are_inside_the_core",
            ),
        ),
        Stage(
            "embeddings",
            "dense",
            "The vector of every paper, with its vector id and the hash of the text it was made from.",
            deps=("papers",),
            partitions=SHARD,
            tables=("embeddings", "embedding_failures", "faiss_ids"),
            kinds=("onnx", "deltalake"),
            settings=lambda settings: {"model": settings.embedder, "max_characters": settings.profile.dense.max_characters},
            blocking=(
                "embeddings_contract",
                "embedding_failures_contract",
                "faiss_ids_contract",
                "every_paper_embedded_or_listed",
                "vectors_are_sound",
                "one_model",
                "vector_ids_are_handed_out_once",
            ),
        ),
        Stage(
            "vector_index",
            "dense",
            "An inverted-file FAISS index over the shard's vectors, and its manifest.",
            deps=("embeddings",),
            partitions=SHARD,
            artifact=True,
            kinds=("faiss",),
            settings=lambda settings: {
                "centroids": settings.profile.dense.centroids,
                "probes": settings.profile.dense.probes,
                "retrain_drift": settings.profile.dense.retrain_drift,
                "recall_queries": settings.profile.dense.recall_queries,
                "min_recall": settings.profile.dense.min_recall,
            },
            blocking=(
                "artifact_is_intact",
                "indexed_is_embedded",
                "index_is_of_the_model",
                "recall_is_enough",
            ),
        ),
        Stage(
            "search_index",
            "serving",
            "One SQLite file: papers by id, merged id, exact title and vector id, and weighted keyword search.",
            deps=("identities", "papers", "degrees", "embeddings"),
            artifact=True,
            version="2",
            kinds=("sqlite",),
            blocking=(
                "artifact_is_intact",
                "every_paper_is_found",
                "every_id_resolves",
                "every_vector_leads_to_its_paper",
                "one_model",
            ),
        ),
        Stage(
            "citation_graph",
            "serving",
            "The citation graph as memory-mapped arrays, both directions.",
            deps=("identities", "citations", "degrees"),
            artifact=True,
            kinds=("numpy",),
            blocking=(
                "artifact_is_intact",
                "every_paper_is_a_node",
                "every_citation_is_an_edge",
            ),
        ),
        Stage(
            "document_folder",
            "sources",
            "The folder of full texts, as observed: its data version is the digest of its files' names and checksums.",
            observed=True,
            kinds=("xml",),
        ),
        Stage(
            "document_sources",
            "knowledge",
            "Every document that the folder's files hold: text, blocks, sentences; beside it `document_manifest`, what came of each file.",
            deps=("document_folder",),
            tables=("document_sources", "document_manifest"),
            kinds=("python", "deltalake"),
            version="2",
            settings=lambda settings: settings.profile.documents.max_bytes,
            blocking=(
                "document_sources_contract",
                "document_manifest_contract",
                "every_file_is_accounted_for",
            ),
        ),
        Stage(
            "fulltexts",
            "knowledge",
            "Which papers have a text in the document folder; beside it `document_matches`, which paper each document is, or why none.",
            deps=("records", "identities", "document_sources"),
            tables=("fulltexts", "document_matches"),
            kinds=("polars", "deltalake"),
            blocking=(
                "fulltexts_contract",
                "document_matches_contract",
                "every_document_is_decided",
                "one_text_a_paper",
            ),
        ),
        Stage(
            "document_inputs",
            "knowledge",
            "Which texts a shard's papers have: reported by `fulltexts`, only for shards where that changed.",
            deps=("fulltexts",),
            partitions=SHARD,
            observed=True,
        ),
        Stage(
            "collection_file",
            "sources",
            "A file that defines a collection, as observed in the folder of collections: its data version is its content.",
            partitions=COLLECTION,
            observed=True,
            kinds=("yaml",),
        ),
        Stage(
            "taxonomy_file",
            "sources",
            "The file that says by which taxonomy a collection is organized, as observed: its data version is what it says, or none.",
            partitions=COLLECTION,
            observed=True,
            kinds=("yaml",),
        ),
        Stage(
            "collections",
            "knowledge",
            "Which papers belong to which collection, and why: the papers that get knowledge layers.",
            deps=("collection_file", "identities", "papers", "citations", "degrees", "embeddings", "fulltexts"),
            tables=("collections", "collection_catalog"),
            kinds=("scikitlearn", "deltalake"),
            version="2",
            settings=lambda settings: {"selection": settings.profile.selection.model_dump(), "embedder": settings.embedder},
            blocking=(
                "collections_contract",
                "collection_catalog_contract",
                "members_are_papers",
                "ranks_are_whole",
                "one_version_of_a_work",
                "nothing_missing_unsaid",
                "quotas_are_met_or_explained",
            ),
        ),
        Stage(
            "selected_papers",
            "knowledge",
            "Which papers of a shard any collection chose: reported by `collections`, only for shards where that changed.",
            deps=("collections",),
            partitions=SHARD,
            observed=True,
        ),
        Stage(
            "collection_members",
            "knowledge",
            "The papers of a collection: reported by `collections`, only for collections that changed.",
            deps=("collections",),
            partitions=COLLECTION,
            observed=True,
        ),
        Stage(
            "documents",
            "knowledge",
            "The text of the selected papers, as blocks: the full text where there is one, else the abstract.",
            deps=("papers", "document_inputs", "selected_papers"),
            partitions=SHARD,
            tables=("documents",),
            kinds=("polars", "deltalake"),
            settings=lambda settings: settings.profile.documents.abstracts,
            blocking=(
                "documents_contract",
                "documents_are_those_chosen",
            ),
        ),
        Stage(
            "sentences",
            "knowledge",
            "The sentence map of every document: each sentence with its sections and exact offsets.",
            deps=("documents",),
            partitions=SHARD,
            tables=("sentences",),
            kinds=("polars", "deltalake"),
            blocking=(
                "sentences_contract",
                "offsets_are_exact",
                "sentence_ids_are_dense",
                "every_document_is_mapped",
            ),
        ),
        Stage(
            "facts",
            "knowledge",
            "L1: what every document states, with its conditions, its numbers and the sentences that say it; beside it `fact_rejects`, "
            "what was proposed and is no fact, and `fact_sources`, how each document was read.",
            deps=("documents", "sentences"),
            partitions=SHARD,
            tables=("facts", "fact_rejects", "fact_sources"),
            kinds=("python", "deltalake"),
            settings=lambda settings: {
                "knowledge": settings.profile.knowledge.model_dump(),
                "roles": {role: settings.roles[role] for role in ("extractor", "verifier", "adjudicator") if role in settings.roles},
                "data": {name: file_checksum(_KNOWLEDGE / path) for name, path in _DATA_OF_FACTS.items() if _is_at_work(name, settings)},
            },
            blocking=(
                "facts_contract",
                "fact_rejects_contract",
                "fact_sources_contract",
                "every_document_is_read",
                "every_fact_is_accounted_for",
                "evidence_resolves",
                "evidence_is_as_it_was",
                "numbers_stand_in_evidence",
                "verification_follows_from_votes",
            ),
        ),
        Stage(
            "fact_catalog",
            "knowledge",
            "What each collection has to be organized: its papers and their facts in numbers, and the digest of all of it.",
            deps=("facts", "collections"),
            tables=("fact_catalog",),
            kinds=("polars", "deltalake"),
            blocking=(
                "fact_catalog_contract",
                "every_collection_is_listed",
            ),
        ),
        Stage(
            "collection_facts",
            "knowledge",
            "The facts of a collection: reported by `fact_catalog`, only for collections whose papers, texts or facts changed.",
            deps=("fact_catalog",),
            partitions=COLLECTION,
            observed=True,
        ),
        Stage(
            "taxonomies",
            "knowledge",
            "The categories that a collection is organized by: those of its file, else prepared from its facts.",
            deps=("taxonomy_file", "collection_facts"),
            partitions=COLLECTION,
            tables=("taxonomies",),
            kinds=("python", "deltalake"),
            settings=lambda settings: _organized_by(settings, ("organizer",), ("entities", "outcomes", "taxonomy")),
            blocking=(
                "taxonomies_contract",
                "one_taxonomy_a_collection",
                "parents_are_of_their_dimension_and_no_loop",
            ),
        ),
        Stage(
            "attended_facts",
            "knowledge",
            "L1 as well: what papers that no category fits state of the categories, read again under the taxonomy.",
            deps=("taxonomies", "collection_facts"),
            partitions=COLLECTION,
            tables=("attended_facts",),
            kinds=("python", "deltalake"),
            settings=lambda settings: {
                "facts": STAGES["facts"].code_version(settings),
                **_organized_by(settings, (), ("entities",)),
            },
            blocking=(
                "attended_facts_contract",
                "attended_facts_stand_in_their_sentences",
                "attended_facts_are_of_the_taxonomy",
            ),
        ),
        Stage(
            "entities",
            "knowledge",
            "Canonical research objects: one identity for all names of one thing; beside it `entity_mentions`, where each is named, and "
            "`entity_decisions`, which names were taken for one, which not, and why.",
            deps=("taxonomies", "taxonomy_file", "collection_facts", "attended_facts"),
            partitions=COLLECTION,
            tables=("entities", "entity_mentions", "entity_decisions"),
            kinds=("python", "deltalake"),
            settings=lambda settings: {
                **_organized_by(settings, ("adjudicator",), ("entities", "same")),
                "votes": settings.profile.knowledge.votes if "adjudicator" in settings.roles else None,
            },
            blocking=(
                "entities_contract",
                "entity_mentions_contract",
                "entity_decisions_contract",
                "every_mention_is_of_a_fact_and_an_entity",
                "sources_of_entities_are_their_mentions",
                "what_is_ruled_holds",
            ),
        ),
        Stage(
            "assignments",
            "knowledge",
            "What belongs to which category, on which facts, under which conditions; beside it `unclassified_facts`, what fits none, and "
            "`taxonomy_proposals`, categories that those suggest.",
            deps=("taxonomies", "entities", "collection_facts", "attended_facts"),
            partitions=COLLECTION,
            tables=("assignments", "unclassified_facts", "taxonomy_proposals"),
            kinds=("python", "deltalake"),
            settings=lambda settings: {
                **_organized_by(settings, ("organizer", "verifier"), ("entities", "sort", "judge")),
                "votes": settings.profile.knowledge.votes if "verifier" in settings.roles else None,
            },
            blocking=(
                "assignments_contract",
                "unclassified_facts_contract",
                "taxonomy_proposals_contract",
                "assignments_rest_on_what_is_there",
                "conditions_of_assignments_are_those_of_their_facts",
                "every_fact_is_sorted_or_listed",
            ),
        ),
        Stage(
            "relations",
            "knowledge",
            "Typed relations between research objects, anchored in the facts that say them, and citations between the collection's papers.",
            deps=("entities", "collection_facts", "attended_facts", "citations"),
            partitions=COLLECTION,
            tables=("relations",),
            kinds=("python", "networkx", "deltalake"),
            settings=lambda settings: _organized_by(settings, ("organizer",), ("entities", "relations", "relate")),
            blocking=(
                "relations_contract",
                "relations_rest_on_what_is_there",
                "numbers_of_relations_stand_in_their_facts",
                "citations_of_the_collection_are_relations",
            ),
        ),
        Stage(
            "syntheses",
            "knowledge",
            "L3: scoped accounts across the papers of a collection, each claim citing facts, assignments and relations; beside it "
            "`synthesis_rejects`, what was proposed and is none.",
            deps=("taxonomies", "entities", "assignments", "relations", "collection_facts", "attended_facts"),
            partitions=COLLECTION,
            tables=("syntheses", "synthesis_rejects"),
            kinds=("python", "deltalake"),
            settings=lambda settings: {
                "syntheses": settings.profile.syntheses.model_dump(),
                "roles": {role: settings.roles[role] for role in ("synthesizer", "verifier") if role in settings.roles},
                "data": {name: file_checksum(_KNOWLEDGE / path) for name, path in _DATA_OF_SYNTHESES.items() if name in settings.roles},
            },
            blocking=(
                "syntheses_contract",
                "synthesis_rejects_contract",
                "every_basis_resolves",
                "every_claim_cites_its_basis",
                "numbers_stand_in_the_basis",
                "sources_are_works_that_count",
                "reviews_follow_from_votes",
            ),
        ),
        Stage(
            "knowledge_index",
            "knowledge",
            "What a collection's layers are read through: every object, what it rests on, its words, and its vector, searched exactly.",
            deps=("collection_facts", "attended_facts", "taxonomies", "entities", "assignments", "relations", "syntheses"),
            partitions=COLLECTION,
            artifact=True,
            kinds=("sqlite", "numpy"),
            # collection_facts speaks of documents and facts: other sentences, or other words about the same facts, are felt here.
            settings=lambda settings: [settings.embedder, *(STAGES[name].code_version(settings) for name in ("sentences", "facts"))],
            blocking=(
                "artifact_is_intact",
                "every_object_is_indexed",
                "every_link_resolves",
                "vectors_are_those_of_the_objects",
                "index_is_of_the_model",
            ),
        ),
        Stage(
            "registry",
            "knowledge",
            "Every object of the three layers, and what tasks made, in every version that it had; beside it `registry_dependencies`, what "
            "rests on what, and `registry_events`, what happened and why.",
            deps=("facts", "taxonomies", "attended_facts", "entities", "assignments", "relations", "syntheses"),
            tables=("registry", "registry_dependencies", "registry_events"),
            kinds=("polars", "deltalake"),
            blocking=(
                "registry_contract",
                "registry_dependencies_contract",
                "registry_events_contract",
                "every_object_is_registered",
                "versions_follow_each_other",
                "dependencies_resolve",
                "every_basis_is_a_dependency",
                "every_change_was_told",
                "nothing_rests_on_what_moved",
            ),
        ),
        Stage(
            "subgraphs",
            "training",
            "Neighbourhoods of the core, walked at random along citations, for training, validation and test apart; beside it "
            "`subgraph_batches`, how many each batch has, and why fewer than were asked for.",
            deps=("works", "core_papers", "core_citations"),
            partitions=BATCH,
            tables=("subgraphs", "subgraph_batches"),
            kinds=("numpy", "deltalake"),
            settings=lambda settings: settings.profile.training.model_dump(include=_OF_SUBGRAPHS),
            blocking=(
                "subgraphs_contract",
                "subgraph_batches_contract",
                "walks_follow_citations",
                "splits_share_nothing",
                "little_is_held_out",
                "no_subgraph_missing_unsaid",
            ),
        ),
        Stage(
            "questions",
            "training",
            "Questions composed from the citation graph, each with one answer in the whole corpus; beside it `question_batches`, how many "
            "each batch has, and why no more.",
            deps=("subgraphs", "works", "core_papers", "core_citations", "papers", "degrees", "citation_graph", "facts"),
            partitions=BATCH,
            tables=("questions", "question_batches"),
            kinds=("numpy", "deltalake"),
            settings=lambda settings: settings.profile.training.model_dump(include=_OF_SUBGRAPHS | {"questions"}),
            blocking=(
                "questions_contract",
                "question_batches_contract",
                "every_question_has_one_answer",
                "no_question_tells_its_answer",
                "questions_name_their_own_papers",
                "no_question_missing_unsaid",
            ),
        ),
        Stage(
            "rubrics",
            "training",
            "What a rollout that answers a question is judged by: criteria of its answer, its planning and its grounding, with weights.",
            deps=("questions", "papers"),
            partitions=BATCH,
            tables=("rubrics",),
            kinds=("python", "deltalake"),
            blocking=(
                "rubrics_contract",
                "every_question_has_a_rubric",
                "weights_sum_to_100",
                "no_criterion_twice",
            ),
        ),
        Stage(
            "release",
            "publish",
            "A manifest that pins every table's version and every index's checksum: what readers read.",
            deps=(
                "dump_manifest",
                "records",
                "identities",
                "papers",
                "citations",
                "degrees",
                "core_papers",
                "core_citations",
                "embeddings",
                "vector_index",
                "search_index",
                "citation_graph",
                "fulltexts",
                "collections",
                "documents",
                "sentences",
                "facts",
                "fact_catalog",
                "taxonomies",
                "subgraphs",
                "knowledge_index",
                "attended_facts",
                "entities",
                "questions",
                "syntheses",
                "registry",
                "assignments",
                "relations",
                "rubrics",
            ),
            kinds=("json",),
        ),
        Stage(
            "release_diff",
            "publish",
            "What changed since the release before: rows that came, went and changed, of every table that is pinned.",
            deps=("release",),
            tables=("release_changes", "release_change_counts"),
            kinds=("polars", "deltalake"),
            blocking=(
                "release_changes_contract",
                "release_change_counts_contract",
            ),
        ),
    )
}


def stage(name: str) -> Stage:
    """The stage of that name. Raises LakeError, naming the stages there are."""
    if name not in STAGES:
        near = difflib.get_close_matches(name.lower(), STAGES, n=1)
        meant = f"; do you mean {near[0]}?" if near else ""
        raise LakeError(f"no asset {name!r}{meant}; there are: {', '.join(STAGES)}")
    return STAGES[name]
