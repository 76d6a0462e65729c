"""A profile: every number that a corpus may want different, read from `data/profiles/NAME.yaml` or a file named by path.

What does not belong here: which model a role uses (`data/models.yaml`), where the lake lies (the command line or the environment).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scholarlake.errors import ScholarLakeError
from scholarlake.lake.home import MAX_SHARDS, MAX_TRAIN_BATCHES, TRAIN_BATCHES

TextOf = Literal["full_text", "abstract"]
VectorsOf = Literal["title_and_abstract", "corpus"]


class ProfileError(ScholarLakeError):
    """A profile is missing or holds a value that can't be."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Reading(Section):
    """How dumps are read."""

    workers: int = Field(2, ge=1, description="processes that parse at once")
    block_bytes: int = Field(32 << 20, ge=1 << 10, description="bytes of uncompressed lines a worker takes at a time")
    max_line_bytes: int = Field(64 << 20, ge=1 << 10, description="a longer line is a reject, not an exhausted memory")
    reject_warn: float = Field(0.001, ge=0, le=1, description="share of rejected lines in a part that warns")
    reject_block: float = Field(0.2, ge=0, le=1, description="share of rejected lines in a part that blocks")


class Core(Section):
    """Which papers are the core (SciLENS, appendix D)."""

    min_total: int = Field(40, ge=0, description="least total degree")
    min_in: int = Field(10, ge=0, description="least in-degree")
    count_outside_references: bool = Field(
        False, description="whether references that lead outside the corpus count towards the total, as SciLENS's edge buffers do"
    )


class Dense(Section):
    """Embedding and vector index (SciLENS, appendix A, table 5)."""

    max_characters: int = Field(8_000, ge=1, description="longest embedding text")
    centroids: int = Field(4_096, ge=1, description="centroids per shard at full size; fewer where a shard is small")
    probes: int = Field(32, ge=1, description="lists visited by a query, out of the centroids")
    recall_queries: int = Field(100, ge=1, description="papers sampled per shard to measure recall")
    min_recall: float = Field(0.9, ge=0, le=1, description="least recall@10 against exact search")
    retrain_drift: float = Field(
        0.2, ge=0, description="share of vectors changed since the centroids were trained at which they are trained anew"
    )


class Selection(Section):
    """What collections look at, where their files don't say (ScholarStack, appendix B)."""

    text: TextOf = Field("full_text", description="abstract: an abstract stands for the full text of a paper that has none")
    vectors: VectorsOf = Field(
        "title_and_abstract", description="corpus: representatives are found by the vectors that the corpus has, instead of new ones"
    )


class Retention(Section):
    """What `scholarlake vacuum` keeps, unless it is told otherwise."""

    keep_releases: int = Field(10, ge=1, description="newest releases that are kept")
    keep_days: float = Field(0, ge=0, description="releases no older than this are kept as well, whatever their number")
    spool_days: float = Field(7, ge=0, description="how long finished work of a run that died is kept for the next to take up")


class Spending(Section):
    """What models may cost, in the currency of the prices in the models file. No limit where none is given."""

    per_run: float | None = Field(None, ge=0, description="in one build, backfill or run; nothing is sent that could cost more")


class Documents(Section):
    """How full texts are read."""

    abstracts: bool = Field(True, description="whether the abstract of a selected paper without full text is its document")
    max_bytes: int = Field(256 << 20, ge=1 << 10, description="a larger file, uncompressed, is listed and not read")


class Knowledge(Section):
    """How facts are read out of documents."""

    facts_of_full_text: int = Field(30, ge=1, description="most facts of a paper by rules, where its full text is there; the most telling")
    facts_of_abstract: int = Field(8, ge=1, description="most facts of a paper by rules, where only its abstract is there")
    window_characters: int = Field(6_000, ge=500, description="characters of sentences that the extractor is shown at once")
    facts_at_once: int = Field(8, ge=1, description="most facts that the extractor is asked for at once")
    votes: int = Field(3, ge=1, description="verdicts of the verifier on each fact")


class Training(Section):
    """How training sets are drawn from the core (SciLENS, section 3.1 and appendix E)."""

    seed: int = Field(0, description="what every draw depends on: the same seed and core, the same subgraphs")
    walks: int = Field(10, ge=1, description="walks of a subgraph, each from its seed paper")
    steps: int = Field(30, ge=1, description="steps of a walk, each to a paper that cites or is cited")
    train: int = Field(28_000, ge=0, description="subgraphs to train on; fewer where the core is small")
    validation: int = Field(1_000, ge=0, description="subgraphs to validate on, fewer where they would visit too much of the core")
    test: int = Field(1_000, ge=0, description="subgraphs to test on, the same way")
    held_out: float = Field(0.1, ge=0, le=0.4, description="most of the core that validation and test visit, each")
    questions: int = Field(1, ge=0, description="questions about each subgraph, fewer where there are no more")
    train_batches: int = Field(TRAIN_BATCHES, ge=1, le=MAX_TRAIN_BATCHES, description="batches of training subgraphs; fixed in a lake")


class Syntheses(Section):
    """How much accounts across papers tell."""

    of_kind: int = Field(40, ge=1, description="most accounts of each kind in a collection: those of most studies")
    members: int = Field(8, ge=2, description="most members of a category that its overview tells of")
    facts: int = Field(3, ge=1, description="most facts that it tells of a member")
    findings: int = Field(8, ge=2, description="most findings on one question, or about one open problem")
    votes: int = Field(3, ge=1, description="verdicts of the verifier on each account")


class Schedules(Section):
    """When refreshes run by themselves, once switched on. Cron, UTC."""

    corpus_refresh: str = Field("0 3 * * 1", description="the main job: look at the sources, make what is stale")
    reconcile: str = Field("0 5 * * *", description="the same, with every byte of the sources read again")


class Watching(Section):
    """How the sensors look at the sources."""

    interval_seconds: int = Field(20, ge=1, description="between two glances")
    quiet_seconds: float = Field(15, ge=0, description="a file touched later than this is still being written")
    budget_seconds: float = Field(30, gt=0, description="after these a glance reads no further file; the rest comes at the next")


class Profile(Section):
    """All settings of a build."""

    name: str
    shards: int = Field(16, ge=1, le=MAX_SHARDS)
    reading: Reading = Reading()  # type: ignore[call-arg]
    core: Core = Core()  # type: ignore[call-arg]
    dense: Dense = Dense()  # type: ignore[call-arg]
    selection: Selection = Selection()  # type: ignore[call-arg]
    spending: Spending = Spending()  # type: ignore[call-arg]
    retention: Retention = Retention()  # type: ignore[call-arg]
    documents: Documents = Documents()  # type: ignore[call-arg]
    knowledge: Knowledge = Knowledge()  # type: ignore[call-arg]
    training: Training = Training()  # type: ignore[call-arg]
    syntheses: Syntheses = Syntheses()  # type: ignore[call-arg]
    schedules: Schedules = Schedules()  # type: ignore[call-arg]
    watching: Watching = Watching()  # type: ignore[call-arg]


def load(name_or_path: str, folder: Path) -> Profile:
    """Read a profile by name from folder, or by path. Raises ProfileError with the field at fault."""
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        path = folder / f"{name_or_path}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(found.stem for found in folder.glob("*.yaml"))) or "none"
        raise ProfileError(f"no profile {name_or_path!r}; there are: {known}")
    try:
        values: Any = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return Profile.model_validate({"name": path.stem, **values})
    except (yaml.YAMLError, TypeError) as fault:
        raise ProfileError(f"{path.name} can't be read: {' '.join(str(fault).split())}") from fault
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(step) for step in first["loc"]) or "the file"
        raise ProfileError(f"{path.name}: {where}: {_said(first)}") from fault


def _said(fault: Mapping[str, Any]) -> str:
    """What is wrong with a field; of one that there is not, which its name is nearest to."""
    if fault["type"] != "extra_forbidden":
        return str(fault["msg"])
    section: Any = Profile
    for step in fault["loc"][:-1]:
        section = section.model_fields[step].annotation
    known = list(section.model_fields)
    near = difflib.get_close_matches(str(fault["loc"][-1]), known, 1)
    return f"there is no such setting; did you mean {near[0]}?" if near else f"there is no such setting; there are: {', '.join(known)}"
