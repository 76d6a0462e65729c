"""Papers as vectors of what they say: word statistics and an embedding, each normalised and scaled by √0.5, joined (ScholarStack, B.1).

Texts are title, newline, abstract. They pass twice in batches: once to find the vocabulary, once to count it. Every number is what
scikit-learn's TfidfVectorizer gives for all texts at once (a test holds it), without a dictionary of every bigram of a million abstracts.

Memory: a million papers of 150 words take some 1 GB of sparse counts, 2 GB for the decomposition and 2 GB for the vectors.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from scholarlake.corpus.progress import Progress
from scholarlake.corpus.selection.candidates import Candidates, Mask, Numbers
from scholarlake.corpus.selection.nearest import stored_vectors
from scholarlake.dense.spool import Spool
from scholarlake.lake.hashing import text_hash
from scholarlake.models.answers import Sound, embed_each
from scholarlake.models.protocol import Embedder, Vectors

DIMENSIONS = 128
ITERATIONS = 7
MAX_FEATURES = 50_000
MIN_DOCUMENTS = 2
MAX_SHARE = 0.95
SCALE = np.float32(np.sqrt(0.5))
BATCH_ROWS = 20_000
TERMS_A_PAPER = 120  # distinct words and pairs of words of an abstract, roughly
BUCKET_ROWS = 4_000_000
"""Counted terms in memory at once while they are added up."""

Texts = Iterator[tuple[Numbers, list[str]]]


def texts(candidates: Candidates, among: Mask) -> Texts:
    """Number and text of some papers, a batch at a time, in any order."""
    for shard in candidates.lake.shard_keys:
        rows = candidates.lake.scan("papers").filter(pl.col("shard") == shard).select("paper_id", text=title_and_abstract())
        for batch in rows.collect_batches(chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"):
            known = candidates.numbered(batch)
            wanted = known.filter(pl.Series(among[known["number"].to_numpy()], dtype=pl.Boolean))
            if wanted.height:
                yield wanted["number"].to_numpy(), wanted["text"].to_list()


def title_and_abstract() -> pl.Expr:
    """Title, newline, abstract; what is missing is empty."""
    return pl.concat_str(pl.col("title").fill_null(""), pl.col("abstract").fill_null(""), separator="\n")


def joined(words: Vectors, meanings: Vectors) -> Vectors:
    """Two representations of the same papers as one, each of weight one half: shapes (n, a) and (n, b) to (n, a + b).

    Rows of zeros stay zeros: a paper without a known word, or without an embedding, is compared by the other half alone.
    """
    whole = np.empty((len(words), words.shape[1] + meanings.shape[1]), np.float32)
    for part, into in ((words, whole[:, : words.shape[1]]), (meanings, whole[:, words.shape[1] :])):
        lengths = np.linalg.norm(part, axis=1, keepdims=True)
        np.divide(part, lengths, out=into, where=lengths > 0)
        into[lengths[:, 0] == 0] = 0
        into *= SCALE
    return whole


# -- words -----------------------------------------------------------------------------------------------------------


def word_vectors(read: Callable[[], Texts], papers: int, seed: int, scratch: Path, progress: Progress) -> Vectors:
    """TF-IDF reduced to DIMENSIONS by truncated SVD, shape (papers, dimensions); fewer dimensions where there are fewer terms.

    read: opens the texts anew, each pass. Rows are in the order of the papers' numbers. scratch: an existing folder for counts.
    """
    from sklearn.decomposition import TruncatedSVD

    matrix = tfidf(read, papers, scratch, progress)
    dimensions = min(DIMENSIONS, *matrix.shape)
    if matrix.shape[1] < 2:  # texts that have a term or none between them: nothing to reduce, and scikit-learn refuses to
        return np.asarray(matrix.toarray(), np.float32)
    reduced = TruncatedSVD(dimensions, n_iter=ITERATIONS, random_state=seed).fit_transform(matrix)
    return np.asarray(reduced, np.float32)


def tfidf(read: Callable[[], Texts], papers: int, scratch: Path, progress: Progress) -> Any:
    """Sublinear TF-IDF of unit length, a sparse matrix of shape (papers, terms), terms in the order of the alphabet."""
    from scipy import sparse
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    terms = vocabulary(_counted(read(), papers, progress), papers, scratch)
    if not terms:
        return sparse.csr_matrix((papers, 0), dtype=np.float32)  # type: ignore[no-untyped-call]
    counter = CountVectorizer(vocabulary=terms, dtype=np.float32, **_ANALYSIS)
    numbers, counts = [], []
    for batch, said in read():
        numbers.append(batch)
        counts.append(counter.transform(said))
        progress(sum(map(len, numbers)), papers, "papers counted")
    stacked = sparse.vstack(counts, format="csr")  # type: ignore[no-untyped-call]
    counted = stacked[np.argsort(np.concatenate(numbers))]
    return TfidfTransformer(sublinear_tf=True).fit(counted).transform(counted, copy=False)


_ANALYSIS: dict[str, Any] = {"lowercase": True, "strip_accents": "unicode", "stop_words": "english", "ngram_range": (1, 2)}


def _counted(read: Texts, papers: int, progress: Progress) -> Iterator[pl.DataFrame]:
    """term, papers (that have it), times (it occurs), for each batch of texts."""
    from sklearn.feature_extraction.text import CountVectorizer

    done = 0
    for batch, said in read:
        done += len(batch)
        progress(done, papers, "papers searched for terms")
        counter = CountVectorizer(dtype=np.int64, **_ANALYSIS)
        try:
            counts = counter.fit_transform(said)
        except ValueError:  # not one word that is no stop word
            continue
        yield pl.DataFrame(
            {
                "term": counter.get_feature_names_out(),
                "papers": np.bincount(counts.indices, minlength=counts.shape[1]),
                "times": np.asarray(counts.sum(axis=0)).ravel(),
            },
            schema={"term": pl.String, "papers": pl.Int64, "times": pl.Int64},
        )


def vocabulary(counted: Iterable[pl.DataFrame], papers: int, scratch: Path) -> list[str]:
    """The MAX_FEATURES most frequent terms of those in MIN_DOCUMENTS papers or more and in no more than MAX_SHARE, by the alphabet.

    Counts go to buckets on disk by the hash of their term, and are added up a bucket at a time. Equally frequent ones by the alphabet.
    """
    with tempfile.TemporaryDirectory(prefix="terms-", dir=scratch) as folder:
        buckets = 1 + papers * TERMS_A_PAPER // BUCKET_ROWS
        for number, frame in enumerate(counted):
            split = frame.with_columns(bucket=pl.col("term").hash(0) % buckets)
            for (bucket,), part in split.partition_by("bucket", as_dict=True, include_key=False).items():
                part.write_ipc(Path(folder) / f"{bucket}-{number}.arrow", compression="zstd")
        kept = [_most_frequent(sorted(Path(folder).glob(f"{bucket}-*.arrow")), papers) for bucket in range(buckets)]
    return pl.concat(kept).sort("times", "term", descending=[True, False]).head(MAX_FEATURES)["term"].sort().to_list()


def _most_frequent(parts: list[Path], papers: int) -> pl.DataFrame:
    empty = pl.DataFrame(schema={"term": pl.String, "papers": pl.Int64, "times": pl.Int64})
    counted = pl.concat([empty, *map(pl.read_ipc, parts)]).group_by("term").agg(pl.sum("papers", "times"))
    fit = counted.filter((pl.col("papers") >= MIN_DOCUMENTS) & (pl.col("papers") <= MAX_SHARE * papers))
    return fit.sort("times", "term", descending=[True, False]).head(MAX_FEATURES)


# -- meanings --------------------------------------------------------------------------------------------------------


def corpus_vectors(candidates: Candidates, among: Mask) -> Vectors:
    """The vectors that the corpus has of some papers, shape (papers, dimension), by number; zeros for those without one."""
    place = np.cumsum(among) - 1
    rows: Vectors = np.zeros((int(among.sum()), 0), np.float32)
    for numbers, vectors, _ in stored_vectors(candidates, among):
        if not rows.shape[1]:
            rows = np.zeros((len(rows), vectors.shape[1]), np.float32)
        rows[place[numbers]] = vectors
    return rows


def text_vectors(candidates: Candidates, among: Mask, embedder: Embedder, progress: Progress) -> Vectors:
    """Embeddings of title, newline, abstract, shape (papers, dimension), by number; zeros where the model refuses a text.

    A text is embedded once: finished vectors stay in the spool, under the text's hash.
    """
    spool = Spool(candidates.lake, embedder.fingerprint, _SPOOL, embedder.dimension)
    place = np.cumsum(among) - 1
    rows: Vectors = np.zeros((int(among.sum()), embedder.dimension), np.float32)
    done = 0
    for numbers, said in texts(candidates, among):
        hashes = [text_hash(text) for text in said]
        missing = {name: text for name, text in zip(hashes, said, strict=True) if name not in spool}
        names = list(missing)
        for result in embed_each(embedder, list(missing.values())):
            if isinstance(result, Sound):
                spool.append([names[at] for at in result.positions], result.vectors)
                progress(done + len(result.positions), len(rows), "texts embedded")
        done += len(said)
        known = [at for at, name in enumerate(hashes) if name in spool]
        rows[place[numbers[known]]] = spool.read([hashes[at] for at in known])
    return rows


_SPOOL = "selection"
