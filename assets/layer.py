"""The layers of a collection as they are read: the index over all of them."""

from __future__ import annotations

from assets.stage import Made, Step, makes
from scholarlake.knowledge.layer.index import build_knowledge_index


@makes("knowledge_index")
def knowledge_index(step: Step) -> Made:
    """Exact vectors and weighted words over sentences and the objects of all layers. A text that had a vector keeps it."""
    report = build_knowledge_index(step.lake, step.key, step.models.embedder(), step.previous_artifact, step.progress)
    return Made(
        data_version=report.artifact.digest,
        rows=report.objects,
        bytes=report.artifact.bytes,
        artifact=report.artifact,
        facts={
            "objects_by_kind": report.by_kind,
            "embedded": report.embedded,
            "kept": report.kept,
            "resumed": report.resumed,
            "not_embedded": report.not_embedded,
        },
    )
