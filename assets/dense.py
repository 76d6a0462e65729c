"""The dense tier: a vector for every paper, and an index over them."""

from __future__ import annotations

from assets.stage import Made, Step, makes
from scholarlake import pictures
from scholarlake.dense.embed import embed_shard
from scholarlake.dense.index import build_index
from scholarlake.dense.projection import project
from scholarlake.lake.hashing import digest


@makes("embeddings")
def embeddings(step: Step) -> Made:
    """A text is embedded once, whatever paper, shard or run it comes in; a failed batch is halved down to the text at fault."""
    report = embed_shard(step.lake, step.key, step.models.embedder(), step.profile.dense, step.commit, step.progress)
    tables = {"embeddings": report.embeddings, "embedding_failures": report.embedding_failures, "faiss_ids": report.faiss_ids}
    return Made(
        data_version=digest([written.content_version for written in tables.values()]),
        rows=report.embeddings.rows,
        tables={name: written.version for name, written in tables.items()},
        bytes=report.embeddings.bytes,
        facts={
            "embedded": report.embedded,
            "kept": report.kept,
            "reused": report.reused,
            "resumed": report.resumed,
            "failures": report.failures,
            "removed": report.removed,
            "requests": report.requests,
            "tokens": report.tokens,
            "texts_per_second": round(report.texts_per_second, 1),
            "model": report.model,
            "dimension": report.dimension,
        },
        pictures={"map": lambda: _map(step)},
        changed=report.embeddings.changed,
    )


@makes("vector_index")
def vector_index(step: Step) -> Made:
    """Inverted lists over a flat quantizer, explicit 64-bit ids. Centroids stay through refreshes until too much has drifted."""
    facts = step.resource.embedder_facts()
    report = build_index(
        step.lake,
        step.key,
        str(facts["fingerprint"]),
        int(facts["endpoint"]["dimension"]),
        step.profile.dense,
        step.previous_artifact,
        step.progress,
    )
    return Made(
        data_version=report.artifact.digest,
        rows=report.count,
        bytes=report.artifact.bytes,
        artifact=report.artifact,
        facts={
            "lists": report.lists,
            "added": report.added,
            "removed": report.removed,
            "retrained": report.retrained,
            "drift": round(report.drift, 4),
            "on_gpu": report.on_gpu,
        },
    )


def _map(step: Step) -> bytes:
    plane = project(step.lake, step.key)
    return pictures.embedding_map(plane.points, plane.labels, total=plane.total)
