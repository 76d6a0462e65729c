"""The corpus stage as a plain, competent DuckDB script: raw JSON lines to core_citations.

    python tests/bench/duckdb_baseline.py DUMPS DATABASE [--min-total 40 --min-in 10 --threads 2]

It reads a clean dump (one shape of record, no bad line), keeps every field it can as a table, and decides identity by id, by DOI and
by the MD5 of the folded title. In its favour: ids are DuckDB's own hashes throughout, edges keep no text, years and authors of records
that share a title are not compared (the clean dump holds no such case), and nothing is partitioned, checksummed, compared with what was
there, or versioned. Prints one line of JSON: counts, seconds by step, peak resident memory in bytes.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path

import duckdb

READ = """
CREATE TABLE records AS
SELECT
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
FROM read_json($dumps, format = 'newline_delimited', filename = true, columns = {
    id: 'VARCHAR', title: 'VARCHAR', abstract: 'VARCHAR', keywords: 'VARCHAR[]', year: 'INTEGER',
    authors: 'STRUCT(id VARCHAR, name VARCHAR, org VARCHAR, org_id VARCHAR)[]', "references": 'VARCHAR[]', doi: 'VARCHAR',
    venue: 'VARCHAR', venue_id: 'VARCHAR', n_citation: 'BIGINT', lang: 'VARCHAR', doc_type: 'VARCHAR', volume: 'VARCHAR',
    issue: 'VARCHAR', page_start: 'VARCHAR', page_end: 'VARCHAR', url: 'VARCHAR[]'
})
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

CREATE TABLE identities AS
SELECT record_key, clusters.record_id, paper_id, hash(paper_id) AS paper_key
FROM clusters JOIN (
    SELECT cluster, arg_min(record_id, first_edition || ' ' || record_id) AS paper_id FROM clusters GROUP BY cluster
) USING (cluster);
"""

CITE = """
CREATE TABLE citations AS
SELECT DISTINCT citing.paper_key AS citing_key, cited.paper_key AS cited_key
FROM (SELECT record_key, unnest(reference_keys) AS reference_key FROM records) AS named
JOIN identities AS citing ON citing.record_key = named.record_key
JOIN identities AS cited ON cited.record_key = named.reference_key
WHERE citing.paper_key <> cited.paper_key;
"""

CORE = """
CREATE TABLE degrees AS
SELECT papers.paper_key, papers.paper_id, coalesce(in_degree, 0) AS in_degree, coalesce(out_degree, 0) AS out_degree,
       coalesce(in_degree, 0) + coalesce(out_degree, 0) AS total_degree,
       coalesce(in_degree, 0) + coalesce(out_degree, 0) >= {min_total} AND coalesce(in_degree, 0) >= {min_in} AS is_core
FROM (SELECT DISTINCT paper_key, paper_id FROM identities) AS papers
LEFT JOIN (SELECT cited_key AS paper_key, count(*) AS in_degree FROM citations GROUP BY 1) USING (paper_key)
LEFT JOIN (SELECT citing_key AS paper_key, count(*) AS out_degree FROM citations GROUP BY 1) USING (paper_key);

CREATE TABLE core_papers AS SELECT paper_key, paper_id, in_degree, out_degree, total_degree FROM degrees WHERE is_core;

CREATE TABLE core_citations AS
SELECT citing_key, cited_key FROM citations
WHERE citing_key IN (SELECT paper_key FROM core_papers) AND cited_key IN (SELECT paper_key FROM core_papers);
"""


def run(dumps: Path, database: Path, min_total: int, min_in: int, threads: int) -> dict[str, object]:
    """Build all tables in a new database file; counts and times."""
    files = sorted(str(path) for path in dumps.rglob("*.json"))
    if not files:
        raise SystemExit(f"no .json file below {dumps}")
    database.unlink(missing_ok=True)
    connection = duckdb.connect(str(database))
    connection.execute(f"SET threads = {threads}")
    connection.execute("SET preserve_insertion_order = false")
    connection.execute("SET enable_progress_bar = false")
    began = time.perf_counter()
    seconds: dict[str, float] = {}
    steps = (("records", READ), ("identities", IDENTIFY), ("citations", CITE), ("core", CORE.format(min_total=min_total, min_in=min_in)))
    for name, statement in steps:
        start = time.perf_counter()
        connection.execute(statement, {"dumps": files} if name == "records" else None)
        seconds[name] = round(time.perf_counter() - start, 2)
    connection.execute("CHECKPOINT")
    total = time.perf_counter() - began
    counted = {
        "records": "records",
        "citations": "citations",
        "core_papers": "core_papers",
        "core_citations": "core_citations",
        "papers": "degrees",
    }
    counts = {name: connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for name, table in counted.items()}
    connection.close()
    kibi = 1024 if sys.platform != "darwin" else 1  # getrusage: kibibytes on Linux, bytes on macOS
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kibi
    return {"counts": counts, "seconds": round(total, 2), "steps": seconds, "peak_rss": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("dumps", type=Path)
    parser.add_argument("database", type=Path)
    parser.add_argument("--min-total", type=int, default=40)
    parser.add_argument("--min-in", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    print(json.dumps(run(given.dumps, given.database, given.min_total, given.min_in, given.threads)))


if __name__ == "__main__":
    main()
