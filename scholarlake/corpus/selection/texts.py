"""Which papers have enough text to be read: a title, and a full text, or an abstract in its place, of so many characters and sentences."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from scholarlake.corpus.selection.candidates import Candidates, Mask
from scholarlake.corpus.selection.definition import Eligible
from scholarlake.documents.sentences import split

BATCH_ROWS = 16_384


def eligible(candidates: Candidates, how: Eligible, among: Mask, *, needs_abstract: bool) -> Mask:
    """Those of some papers that have a title, a text of min_characters and min_sentences, and an abstract where it is needed."""
    has_title, has_abstract = (_characters(name) > 0 for name in ("title", "abstract"))
    able = candidates.where(has_title & has_abstract if needs_abstract else has_title, among)
    characters, sentences = full_texts(candidates)
    enough = (characters >= how.min_characters) & (sentences >= how.min_sentences)
    if how.text == "abstract":
        enough |= _enough_abstract(candidates, how, able & (characters == 0))
    return able & enough


def full_texts(candidates: Candidates) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Characters and sentences of every paper's full text, 0 where it has none."""
    characters, sentences = np.zeros(len(candidates), np.int64), np.zeros(len(candidates), np.int64)
    found = candidates.lake.scan("fulltexts").filter(extent="full_text").select("paper_id", "characters", "sentences")
    known = candidates.numbered(found.collect(engine="streaming"))
    characters[known["number"].to_numpy()] = known["characters"].to_numpy()
    sentences[known["number"].to_numpy()] = known["sentences"].to_numpy()
    return characters, sentences


def _enough_abstract(candidates: Candidates, how: Eligible, among: Mask) -> Mask:
    long = candidates.where(_characters("abstract") >= how.min_characters, among)
    if how.min_sentences <= 1 or not long.any():
        return long
    enough = np.zeros_like(long)
    abstracts = candidates.rows(long).select("paper_id", "abstract")
    for batch in abstracts.collect_batches(chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"):
        numbers = candidates.numbered(batch)["number"].to_numpy()
        enough[numbers] = [len(split(text)) >= how.min_sentences for text in batch["abstract"]]
    return enough


def _characters(name: str) -> pl.Expr:
    return pl.col(name).fill_null("").str.strip_chars().str.len_chars()
