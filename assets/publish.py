"""Publishing: the release that readers read."""

from __future__ import annotations

from assets.stage import Made, Step, makes
from scholarlake import changelog
from scholarlake.lake import releases
from scholarlake.lake.hashing import digest


@makes("release")
def release(step: Step) -> Made:
    """Refused unless every partition was made from the versions pinned with it, and all its blocking checks have passed."""
    made, is_new = releases.publish(step.lake, step.settings, step.resource.embedder_facts())
    rows = {name: pin.rows for name, pin in made.tables.items()}
    return Made(
        # Its name too: a release of what an earlier one held is another than the one before it.
        data_version=digest([made.name, *(f"{where}={version}" for where, version in sorted(made.data_versions.items()))]),
        rows=len(made.tables),
        facts={"release": made.name, "is_new": is_new, "previous": made.previous or "", "rows_by_table": rows},
        texts={"how_to_read": _how_to_read(step, made)},
    )


@makes("release_diff")
def release_diff(step: Step) -> Made:
    """Partitions whose files are the same in both releases are not read. All changes are counted, the first of them listed."""
    release = releases.load(step.lake)
    found, written = changelog.write(step.lake, release, step.commit)
    listed = written["release_changes"]
    return Made(
        data_version=digest([release.name, *(one.content_version for one in written.values())]),
        rows=listed.rows,
        tables={name: one.version for name, one in written.items()},
        bytes=listed.bytes,
        facts={
            "release": release.name,
            "previous": release.previous or "",
            "changes_by_table": {table.table: table.total for table in found.tables} if found else {},
        },
        texts={"report": changelog.page(found) if found else changelog.nothing_to_compare(release)},
    )


def _how_to_read(step: Step, made: releases.Release) -> str:
    sections = [f"`scholarlake.open({str(step.lake.root)!r}, release={made.name!r})`"]
    for table, pin in made.tables.items():
        lines = "\n".join(f"- {engine}: `{snippet}`" for engine, snippet in releases.snippets(step.lake, made, table).items())
        sections.append(f"**{table}** (version {pin.version}, {pin.rows:,} rows)\n\n{lines}")
    return "\n\n".join(sections)
