"""Serving: the files that readers search and walk."""

from __future__ import annotations

from assets.stage import Made, Step, makes
from scholarlake.corpus import csr
from scholarlake.lake import artifacts
from scholarlake.search import revision


@makes("search_index")
def search_index(step: Step) -> Made:
    """Rows lie in the order of in-degree, year, id: the first ten hits of a word are its ten most cited papers. Where few papers changed,
    only these are exchanged."""
    made = revision.publish(step.lake, step.previous_artifact, step.progress)
    return _made(made, rows=int(made.facts["papers"]))


@makes("citation_graph")
def citation_graph(step: Step) -> Made:
    """Compressed sparse rows, neighbours the most cited first, so that every capped answer is in one order."""
    made = artifacts.publish(step.lake, "citation_graph", None, lambda folder: csr.build(folder, step.lake, step.progress))
    return _made(made, rows=int(made.facts["edges"]))


def _made(made: artifacts.Artifact, rows: int) -> Made:
    return Made(data_version=made.digest, rows=rows, bytes=made.bytes, artifact=made, facts=made.facts)
