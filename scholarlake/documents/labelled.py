"""Abstracts whose parts carry labels, as JSON: CONTEXTS and LABELS side by side, by PubMed id, as PubMedQA gives them.

The answer that such sets hold beside the abstract (LONG_ANSWER) is not read: it is what their tasks ask for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scholarlake.documents.document import About, Document, Writer

NAME = "labelled-abstract"
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether an object is an abstract in labelled parts."""
    return isinstance(_parts(value)[0], list)


def read(value: Mapping[str, Any], key: str | None) -> Document:
    """The document of one object, which stands under a key where the file is one object of many."""
    contexts, labels = _parts(value)
    labels = labels if isinstance(labels, list) else []
    named = value.get("pubid") or value.get("pmid") or value.get("PMID") or key
    title = next((text for name in ("TITLE", "title", "QUESTION", "question") if isinstance(text := value.get(name), str)), None)
    year = _YEAR.search(str(value.get("YEAR") or value.get("year") or ""))
    doi = value.get("DOI") or value.get("doi")
    writer = Writer()
    writer.add("title", title or "")
    for place, text in enumerate(contexts if isinstance(contexts, list) else []):
        label = labels[place] if place < len(labels) and isinstance(labels[place], str) else None
        if isinstance(text, str):
            writer.add("abstract", text, label=label, sections=[label] if label else [])
    return writer.document(
        About(title, doi if isinstance(doi, str) else None, (str(named),) if named else (), int(year.group()) if year else None)
    )


def _parts(value: Mapping[str, Any]) -> tuple[Any, Any]:
    inner = value.get("context")
    place = inner if isinstance(inner, Mapping) else value
    return place.get("CONTEXTS", place.get("contexts")), place.get("LABELS", place.get("labels"))
