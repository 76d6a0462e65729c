"""The corpus: which records are one paper, the papers, who cites whom, and the core."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from assets.stage import Made, Step, makes, report_observed
from scholarlake import pictures
from scholarlake.corpus import citations as graph
from scholarlake.corpus.identity import build_identities
from scholarlake.corpus.merge import build_papers
from scholarlake.corpus.shard_writer import TableReport
from scholarlake.lake.delta import combined
from scholarlake.lake.home import Lake


@makes("identities")
def identities(step: Step) -> Made:
    """Rules in order: same id; same DOI; a title without DOI to the one DOI cluster that has it; the same title without DOI. Then: which
    papers are preprints of others, and which a notice of retraction is about. Ends by reporting `shard_inputs` for the shards where
    members, or what was decided about them, changed, and `works` where versions did."""
    report = build_identities(step.lake, step.commit, step.progress)
    for shard, version in report.paper_inputs.items():
        report_observed(step.instance, step.lake, "shard_inputs", shard, version, run_id=step.commit.run_id, metadata={})
    works = combined(report.versions.content_versions)
    report_observed(step.instance, step.lake, "works", None, works, run_id=step.commit.run_id, metadata={})
    return Made(
        data_version=combined(report.paper_inputs),
        rows=report.distinct_records,
        tables={
            "identities": report.version,
            "work_versions": report.versions.version,
            "withdrawals": report.withdrawals.version,
            "tombstones": report.tombstones.version,
        },
        facts={
            "records": report.records,
            "papers": report.papers,
            "records_by_rule": report.rules,
            "doi_conflicts": report.doi_conflicts,
            "versions_by_rule": report.versions_by_rule,
            "notices": report.notices,
            "papers_withdrawn_by_notice": report.withdrawals.rows,
            "tombstones": report.tombstones.rows,
            "papers_gone": report.tombstones.inserted,
            "papers_back": report.tombstones.deleted,
            **_changes(report),
        },
        pictures={"rules": lambda: pictures.identity_rules(report.rules)},
        changed=report.changed,
    )


@makes("papers")
def papers(step: Step) -> Made:
    """References are the union, the abstract the longest, other fields the newest edition's with gaps filled from the others."""
    report = build_papers(step.lake, step.key, step.commit, step.progress, recompute=step.is_new_code)
    return Made(
        data_version=report.content_version,
        rows=report.papers,
        tables={"papers": report.version},
        bytes=report.bytes,
        facts={
            "merged": report.merged,
            "unchanged": report.unchanged,
            "records_read": report.records_read,
            **_marked(step.lake, step.key),
            **_changes(report),
        },
        pictures={"papers_by_year": lambda: _years(step.lake, step.key)},
        changed=report.changed,
    )


@makes("citations")
def citations(step: Step) -> Made:
    """References resolve through merged ids. Self-citations and repeats go, and are counted; so are references that lead outside."""
    report = graph.build_citations(step.lake, step.commit, step.progress)
    return Made(
        data_version=combined(report.content_versions),
        rows=report.rows,
        tables={"citations": report.version},
        facts={
            "references": report.references,
            "self_references": report.self_references,
            "repeated_references": report.repeated_references,
            "unresolved_references": report.unresolved_references,
            **_changes(report),
        },
        pictures={"citations_by_shard": _by_shard(report.content_versions, "citations")},
        changed=report.changed,
    )


@makes("degrees")
def degrees(step: Step) -> Made:
    """Computed from resolved citations: the dump's own counts are not trusted."""
    core = step.profile.core
    report = graph.build_degrees(step.lake, core, step.commit, step.progress)
    return Made(
        data_version=combined(report.content_versions),
        rows=report.rows,
        tables={"degrees": report.version},
        facts={
            "papers_by_reason": report.papers_by_reason,
            "min_total": core.min_total,
            "min_in": core.min_in,
            **_changes(report),
        },
        pictures={"degree_distribution": lambda: _degree_distribution(step.lake, core.min_in, core.min_total)},
        changed=report.changed,
    )


@makes("core_papers")
def core_papers(step: Step) -> Made:
    """The ids and degrees of the papers that `degrees` says are core."""
    return _core(graph.build_core_papers(step.lake, step.commit, step.progress), "core_papers")


@makes("core_citations")
def core_citations(step: Step) -> Made:
    """The edges that subgraphs are sampled from."""
    return _core(graph.build_core_citations(step.lake, step.commit, step.progress), "core_citations")


def _core(report: TableReport, table: str) -> Made:
    return Made(
        data_version=combined(report.content_versions),
        rows=report.rows,
        tables={table: report.version},
        facts=_changes(report),
        pictures={f"{table}_by_shard": _by_shard(report.content_versions, table)},
        changed=report.changed,
    )


def _marked(lake: Lake, shard: str) -> dict[str, int]:
    papers = lake.scan("papers").filter(pl.col("shard") == shard)
    return (
        papers.select(versions=pl.col("version_of").is_not_null().sum(), withdrawn=pl.col("withdrawn").sum()).collect().row(0, named=True)
    )


def _changes(report: object) -> dict[str, int]:
    return {name: int(getattr(report, name)) for name in ("inserted", "updated", "deleted")}


def _by_shard(content_versions: Mapping[str, str], what: str) -> Callable[[], bytes]:
    """A content version ends with the number of rows it stands for."""
    sizes = {shard: int(version.rsplit("-", 1)[1]) for shard, version in content_versions.items()}
    return lambda: pictures.shard_sizes(sizes, what=what.replace("_", " "))


def _years(lake: Lake, shard: str) -> bytes:
    years = lake.scan("papers").filter(pl.col("shard") == shard).select("year").collect()["year"]
    return pictures.papers_by_year(years.drop_nulls().to_numpy(), unknown=years.null_count())


def _degree_distribution(lake: Lake, min_in: int, min_total: int) -> bytes:
    found = lake.scan("degrees").select("in_degree", "total_degree").collect()
    return pictures.degree_distribution(found["in_degree"].to_numpy(), found["total_degree"].to_numpy(), min_in=min_in, min_total=min_total)
