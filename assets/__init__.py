"""Software-defined assets, one file a stage: read tables, call scholarlake, write, report.

What belongs here: which library function makes an asset, and what of its result a person sees. What does not: Polars
expressions, FAISS calls and prompts (scholarlake), what must hold of a result (checks), when things run (pipelines).
"""

from importlib import import_module

_FILES = (
    "sources",
    "corpus",
    "dense",
    "serving",
    "documents",
    "selection",
    "facts",
    "organization",
    "syntheses",
    "registry",
    "training",
    "layer",
    "publish",
)


def register() -> None:
    """Load every stage's file, so that its functions are known. Once is enough; more does no harm."""
    for name in _FILES:
        import_module(f"assets.{name}")
