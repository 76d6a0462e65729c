"""The corpus stage as a plain, competent DuckDB script: raw JSON lines to core_citations, as zstd Parquet files.

    python tests/bench/duckdb_baseline.py DUMPS FOLDER [--min-total 40 --min-in 10 --threads 2]

It does the work that ScholarLake's library path does, and ends with what that ends with: records with every column and abstract,
identities, citations and core_citations with the text ids of both ends, degrees, core_papers; each in Parquet files compressed by zstd
at level 1, which other engines read. It is written for speed: records go from the JSON reader straight to Parquet and later steps read
their narrow columns back, ids are joined by 64-bit hashes, edges are two integers in memory until they are written, and of variants
(distinct hashes or numbers, unnesting before or after the join, one file or one for each thread, with dictionaries and without, larger
row groups) the quickest was taken. Identity is decided by id, by DOI and by the MD5 of the folded title.

In its favour: it reads a clean dump (one shape of record, no bad line), ids are DuckDB's own hashes, which nothing checks for
collisions, years and authors of records that share a title are not compared (the clean dump holds no such case), identities has a
row for each id and not for each distinct record, no reason, flag or count of references stands beside a degree, nothing is sorted,
partitioned, fsynced, checksummed, compared with what was there, or versioned.
Prints one line of JSON: counts, seconds by step, peak resident memory in bytes.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import time
from pathlib import Path

import duckdb

READ = """
COPY (SELECT
    filename AS dump_part,
    regexp_extract(filename, '([^/]+)/[^/]+$', 1) AS edition,
    id AS record_id,
    hash(id) AS record_key,
    title,
    abstract,
    year,
    doi AS doi_raw,
    nullif(regexp_extract(
        regexp_replace(lower(trim(doi)), '[.,;]+$', ''), '^(?:https?://(?:dx\\.)?doi\\.org/|doi:\\s*)?(10\\.[0-9]{4,9}/\\S+)$', 1
    ), '') AS doi,
    venue,
    venue_id,
    authors,
    keywords,
    lang,
    doc_type,
    volume,
    issue,
    page_start,
    page_end,
    coalesce(url, []) AS urls,
    n_citation,
    coalesce("references", []) AS "references",
    CASE WHEN length(title) >= 10 THEN md5(regexp_replace(lower(title), '[^\\p{L}\\p{M}\\p{N}\\p{S}]', '', 'g')) END AS title_fingerprint,
    list_sort(list_distinct(list_transform(authors, lambda person: hash(
        lower(regexp_extract(person.name, '\\S+$') || person.name[1])
    )))) AS author_keys,
    list_transform(coalesce("references", []), lambda one: hash(one)) AS reference_keys
FROM read_json({dumps}, format = 'newline_delimited', filename = true, columns = {
    id: 'VARCHAR', title: 'VARCHAR', abstract: 'VARCHAR', keywords: 'VARCHAR[]', year: 'INTEGER',
    authors: 'STRUCT(id VARCHAR, name VARCHAR, org VARCHAR, org_id VARCHAR)[]', "references": 'VARCHAR[]', doi: 'VARCHAR',
    venue: 'VARCHAR', venue_id: 'VARCHAR', n_citation: 'BIGINT', lang: 'VARCHAR', doc_type: 'VARCHAR', volume: 'VARCHAR',
    issue: 'VARCHAR', page_start: 'VARCHAR', page_end: 'VARCHAR', url: 'VARCHAR[]'
})) TO '{folder}/records' ({parquet}, PER_THREAD_OUTPUT);

CREATE VIEW records AS SELECT * FROM read_parquet('{folder}/records/*.parquet');
"""

IDENTIFY = """
CREATE TEMP TABLE newest AS
SELECT record_key, any_value(record_id) AS record_id, min(edition) AS first_edition,
       arg_max(struct_pack(doi, title_fingerprint), edition) AS keys
FROM records GROUP BY record_key;

CREATE TEMP TABLE doi_of_title AS
SELECT keys.title_fingerprint AS title_fingerprint, min(keys.doi) AS doi
FROM newest WHERE keys.doi IS NOT NULL AND keys.title_fingerprint IS NOT NULL
GROUP BY 1 HAVING count(DISTINCT keys.doi) = 1;

CREATE TEMP TABLE clusters AS
SELECT record_key, record_id, first_edition, coalesce(keys.doi, doi_of_title.doi, keys.title_fingerprint, record_id) AS cluster
FROM newest LEFT JOIN doi_of_title ON newest.keys.title_fingerprint = doi_of_title.title_fingerprint;

CREATE TEMP TABLE papers AS
SELECT cluster, arg_min(record_id, first_edition || ' ' || record_id) AS paper_id, (row_number() OVER ())::INTEGER AS paper
FROM clusters GROUP BY cluster;

CREATE TEMP TABLE identities AS
SELECT record_key, record_id, paper_id, paper FROM clusters JOIN papers USING (cluster);

COPY (SELECT record_id, record_key, paper_id, hash(paper_id) AS paper_key FROM identities)
TO '{folder}/identities' ({parquet}, PER_THREAD_OUTPUT);
"""

CITE = """
CREATE TEMP TABLE edges AS
SELECT DISTINCT citing, identities.paper AS cited
FROM (SELECT paper AS citing, unnest(reference_keys) AS reference_key FROM records JOIN identities USING (record_key)) AS named
JOIN identities ON identities.record_key = named.reference_key
WHERE citing <> identities.paper;

COPY (
    SELECT one.paper_id AS citing_id, other.paper_id AS cited_id
    FROM edges JOIN papers AS one ON one.paper = citing JOIN papers AS other ON other.paper = cited
) TO '{folder}/citations' ({parquet}, PER_THREAD_OUTPUT, DICTIONARY_SIZE_LIMIT 1);
"""

CORE = """
CREATE TEMP TABLE degrees AS
SELECT papers.paper, papers.paper_id, coalesce(in_degree, 0) AS in_degree, coalesce(out_degree, 0) AS out_degree,
       coalesce(in_degree, 0) + coalesce(out_degree, 0) AS total_degree,
       coalesce(in_degree, 0) + coalesce(out_degree, 0) >= {min_total} AND coalesce(in_degree, 0) >= {min_in} AS is_core
FROM papers
LEFT JOIN (SELECT cited AS paper, count(*) AS in_degree FROM edges GROUP BY 1) USING (paper)
LEFT JOIN (SELECT citing AS paper, count(*) AS out_degree FROM edges GROUP BY 1) USING (paper);

COPY (SELECT * EXCLUDE (paper) FROM degrees) TO '{folder}/degrees' ({parquet}, PER_THREAD_OUTPUT);

CREATE TEMP TABLE core_papers AS SELECT paper, paper_id, in_degree, out_degree, total_degree FROM degrees WHERE is_core;

COPY (SELECT * EXCLUDE (paper) FROM core_papers) TO '{folder}/core_papers' ({parquet}, PER_THREAD_OUTPUT);

COPY (
    SELECT one.paper_id AS citing_id, other.paper_id AS cited_id
    FROM edges JOIN core_papers AS one ON one.paper = citing JOIN core_papers AS other ON other.paper = cited
) TO '{folder}/core_citations' ({parquet}, PER_THREAD_OUTPUT, DICTIONARY_SIZE_LIMIT 1);
"""

PARQUET = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1"
TABLES = ("records", "identities", "citations", "degrees", "core_papers", "core_citations")


def run(dumps: Path, folder: Path, min_total: int, min_in: int, threads: int) -> dict[str, object]:
    """Build all tables in a new folder; counts, read from the files, and times."""
    files = sorted(str(path) for path in dumps.rglob("*.json"))
    if not files:
        raise SystemExit(f"no .json file below {dumps}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    connection.execute("SET preserve_insertion_order = false")
    connection.execute("SET enable_progress_bar = false")
    began = time.perf_counter()
    seconds: dict[str, float] = {}
    # Braces of its own (a struct, a pattern) keep READ and the others from str.format.
    parts = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    given = {"{dumps}": f"[{parts}]", "{folder}": str(folder), "{parquet}": PARQUET, "{min_total}": str(min_total), "{min_in}": str(min_in)}
    for name, statements in (("records", READ), ("identities", IDENTIFY), ("citations", CITE), ("core", CORE)):
        start = time.perf_counter()
        for slot, value in given.items():
            statements = statements.replace(slot, value)
        connection.execute(statements)
        seconds[name] = round(time.perf_counter() - start, 2)
    total = time.perf_counter() - began
    counts = {name: connection.execute(f"SELECT count(*) FROM '{folder}/{name}/*.parquet'").fetchall()[0][0] for name in TABLES}
    counts["papers"] = counts["degrees"]
    connection.close()
    kibi = 1024 if sys.platform != "darwin" else 1  # getrusage: kibibytes on Linux, bytes on macOS
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kibi
    return {"counts": counts, "seconds": round(total, 2), "steps": seconds, "peak_rss": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("dumps", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--min-total", type=int, default=40)
    parser.add_argument("--min-in", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    print(json.dumps(run(given.dumps, given.folder, given.min_total, given.min_in, given.threads)))


if __name__ == "__main__":
    main()
