"""Fuzz a target with atheris, which sees what the bytes make the code do.

    python -m tests.fuzz.run dump|document|sentences|packed [--seconds 60] [--runs N] [--corpus data/fuzz]

Needs atheris (the extra `fuzz`; `make fuzz` gets it). What was found interesting stays in the corpus, so that the next run goes on from
there. An input that fails, crashes or takes ten seconds is written beside it, and the exit code is not 0.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["scholarlake.sources", "scholarlake.documents"]):
    from tests.fuzz.seeds import seeds
    from tests.fuzz.targets import TARGETS

_REPOSITORY = Path(__file__).parents[2]
_LONGEST_INPUT, _HANG_SECONDS, _MOST_MEGABYTES = 4096, 10, 3072


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, default=-1, help="cases; any number where none is given")
    parser.add_argument("--corpus", type=Path, default=_REPOSITORY / "data" / "fuzz")
    given = parser.parse_args()
    corpus, failures = given.corpus / given.target, given.corpus / "failures"
    corpus.mkdir(parents=True, exist_ok=True)
    failures.mkdir(exist_ok=True)
    for place, seed in enumerate(seeds(given.target)):
        (corpus / f"seed-{place:03d}").write_bytes(seed)
    limits = {
        "max_total_time": given.seconds,
        "runs": given.runs,
        "max_len": _LONGEST_INPUT,
        "timeout": _HANG_SECONDS,
        "rss_limit_mb": _MOST_MEGABYTES,
        "artifact_prefix": f"{failures}/{given.target}-",
    }
    atheris.Setup([sys.argv[0], *(f"-{name}={value}" for name, value in limits.items()), str(corpus)], TARGETS[given.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
