"""Publishing: the release that readers read."""

from __future__ import annotations

from assets.stage import Made, Step, makes
from scholarlake.lake import releases
from scholarlake.lake.hashing import digest


@makes("release")
def release(step: Step) -> Made:
    """Refused unless every partition was made from the versions pinned with it, and all its blocking checks have passed."""
    made, is_new = releases.publish(step.lake, step.settings, step.resource.embedder_facts())
    rows = {name: pin.rows for name, pin in made.tables.items()}
    return Made(
        data_version=digest([f"{where}={version}" for where, version in sorted(made.data_versions.items())]),
        rows=len(made.tables),
        facts={"release": made.name, "is_new": is_new, "previous": made.previous or "", "rows_by_table": rows},
        texts={"how_to_read": _how_to_read(step, made)},
    )


def _how_to_read(step: Step, made: releases.Release) -> str:
    sections = [f"`scholarlake.open({str(step.lake.root)!r}, release={made.name!r})`"]
    for table, pin in made.tables.items():
        lines = "\n".join(f"- {engine}: `{snippet}`" for engine, snippet in releases.snippets(step.lake, made, table).items())
        sections.append(f"**{table}** (version {pin.version}, {pin.rows:,} rows)\n\n{lines}")
    return "\n\n".join(sections)
