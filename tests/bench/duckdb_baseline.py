"""The corpus stage as a plain, competent DuckDB script: raw JSON lines to core_citations, as zstd Parquet files.

    python tests/bench/duckdb_baseline.py DUMPS FOLDER [--reader accounting] [--min-total 40 --min-in 10 --threads 2]

It does the work that ScholarLake's library path does, and ends with what that ends with: every line accounted for, as a record or as a
reject with its reason, offset and length; records with every column, texts cleaned; identities, citations and core_citations with the
text ids of both ends, degrees, core_papers, partitioned by shard; each in Parquet files compressed by zstd at level 1, which other
engines read. With `--reader trusting` the lines are not accounted for: the quickest way through a dump that is known to be clean.

It is written for speed: later steps read their narrow columns back, ids are joined by 64-bit hashes, edges are two integers in memory
until they are written, texts that need no cleaning are not touched, and of variants (distinct hashes or numbers, unnesting before or
after the join, dictionaries or none, larger row groups) the quickest was taken. Identity is decided by id, by DOI and by the MD5 of the
folded title.

In its favour, with either reader: ids are DuckDB's own hashes, which nothing checks for collisions; a number in the wrong place is a
null and no flag; entities are five, and Unicode is composed (NFC), not folded (NFKC); years and authors of records that share a title
are not compared; identities has a row for each id and not for each distinct record; no flag or count of references stands beside a
degree; nothing is sorted, fsynced, checksummed, compared with what was there, or versioned.
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

FIELDS = """{
    "id": "VARCHAR", "title": "VARCHAR", "abstract": "VARCHAR", "keywords": ["VARCHAR"], "year": "INTEGER",
    "authors": [{"id": "VARCHAR", "name": "VARCHAR", "org": "VARCHAR", "org_id": "VARCHAR"}], "references": ["VARCHAR"], "doi": "VARCHAR",
    "venue": "VARCHAR", "venue_id": "VARCHAR", "n_citation": "BIGINT", "lang": "VARCHAR", "doc_type": "VARCHAR", "volume": "VARCHAR",
    "issue": "VARCHAR", "page_start": "VARCHAR", "page_end": "VARCHAR", "url": ["VARCHAR"]}"""

# What a reader does that takes the dump as it comes: lines as text, each a record or a reject with its reason, length and content hash.
ACCOUNTING = f"""
SELECT
    filename, strlen(line) AS byte_length, hash(line) AS content_hash,
    CASE WHEN coalesce(trim(line), '') = '' THEN 'blank' WHEN NOT valid THEN 'not_json'
         WHEN json_type(line) <> 'OBJECT' THEN 'not_an_object' WHEN coalesce(fields.id, '') = '' THEN 'no_id' END AS reason,
    CASE WHEN reason IS NOT NULL THEN line[:200] END AS excerpt,
    unnest(fields)
FROM (SELECT *, CASE WHEN valid THEN json_transform(line, '{FIELDS}') END AS fields FROM (
    SELECT filename, line, json_valid(line) AS valid FROM read_csv(
        {{dumps}}, columns = {{line: 'VARCHAR'}}, header = false, auto_detect = false, delim = chr(31), quote = '', escape = '',
        null_padding = true, filename = true, max_line_size = 16000000
    )
))
"""

# Where each line begins: the lines are laid down in their order, and the lengths of those before are summed. Lines that end with CRLF
# would have it wrong, as their ends are gone.
OFFSETS = """
COPY (
    SELECT dump_part, record_id, reason, byte_length,
           sum(byte_length + 1) OVER (PARTITION BY dump_part ORDER BY file_row_number) - byte_length - 1 AS byte_offset
    FROM read_parquet({written}, file_row_number = true)
) TO '{folder}/offsets' ({parquet}, PER_THREAD_OUTPUT);
"""

# What a reader does that trusts the dump: one bad line stops it, nothing is said of what a line held.
TRUSTING = """
SELECT filename, NULL AS reason, * EXCLUDE (filename)
FROM read_json({dumps}, format = 'newline_delimited', filename = true, columns = {
    id: 'VARCHAR', title: 'VARCHAR', abstract: 'VARCHAR', keywords: 'VARCHAR[]', year: 'INTEGER',
    authors: 'STRUCT(id VARCHAR, name VARCHAR, org VARCHAR, org_id VARCHAR)[]', "references": 'VARCHAR[]', doi: 'VARCHAR',
    venue: 'VARCHAR', venue_id: 'VARCHAR', n_citation: 'BIGINT', lang: 'VARCHAR', doc_type: 'VARCHAR', volume: 'VARCHAR',
    issue: 'VARCHAR', page_start: 'VARCHAR', page_end: 'VARCHAR', url: 'VARCHAR[]'
})
"""
READERS = {"accounting": ACCOUNTING, "trusting": TRUSTING}

# Texts as they are stored: without markup, entities, control characters and superfluous blanks; only what holds one of these is touched.
MACROS = """
CREATE MACRO clean(text) AS CASE
    WHEN text = '' THEN NULL
    WHEN regexp_matches(text, '[<&\\x00-\\x1f\\x7f]|\\s\\s|^\\s|\\s$') THEN nullif(trim(regexp_replace(
        replace(replace(replace(replace(
            regexp_replace(text, '<[^<>]*>', ' ', 'g'), '&lt;', '<'), '&gt;', '>'), '&quot;', '"'), '&amp;', '&'),
        '[\\s\\x00-\\x1f\\x7f]+', ' ', 'g')), '')
    ELSE text END;
"""

READ = """
COPY (SELECT
    filename AS dump_part,
    regexp_extract(filename, '([^/]+)/[^/]+$', 1) AS edition,
    id AS record_id,
    hash(id) AS record_key,
    clean(title) AS clean_title,
    clean(abstract) AS abstract,
    clean(venue) AS venue,
    list_transform(keywords, lambda one: clean(one)) AS keywords,
    list_transform(authors, lambda one: struct_pack(id := one.id, name := clean(one.name), org := clean(one.org), org_id := one.org_id))
        AS authors,
    coalesce("references", []) AS "references",
    coalesce(url, []) AS urls,
    doi AS doi_raw,
    nullif(regexp_extract(
        regexp_replace(lower(trim(doi)), '[.,;]+$', ''), '^(?:https?://(?:dx\\.)?doi\\.org/|doi:\\s*)?(10\\.[0-9]{4,9}/\\S+)$', 1
    ), '') AS doi,
    CASE WHEN length(clean_title) >= 10 THEN
        md5(regexp_replace(lower(nfc_normalize(clean_title)), '[^\\p{L}\\p{M}\\p{N}\\p{S}]', '', 'g')) END AS title_fingerprint,
    list_sort(list_distinct(list_transform(authors, lambda person: hash(
        strip_accents(lower(regexp_extract(person.name, '\\S+$') || person.name[1]))
    )))) AS author_keys,
    list_transform(coalesce("references", []), lambda one: hash(one)) AS reference_keys,
    * EXCLUDE (filename, id, title, abstract, venue, keywords, authors, doi, "references", url)
FROM ({reader})) TO '{folder}/{lines});

CREATE VIEW records AS SELECT * EXCLUDE (reason) FROM read_parquet({written}) WHERE reason IS NULL;
{offsets}
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
SELECT cluster, arg_min(record_id, first_edition || ' ' || record_id) AS paper_id, (row_number() OVER ())::INTEGER AS paper,
       hash(paper_id) % 16 AS shard
FROM clusters GROUP BY cluster;

CREATE TEMP TABLE identities AS
SELECT record_key, record_id, paper_id, paper FROM clusters JOIN papers USING (cluster);

COPY (
    SELECT record_id, record_key, identities.paper_id, hash(identities.paper_id) AS paper_key, shard
    FROM identities JOIN papers USING (paper)
)
TO '{folder}/identities' ({parquet}, PARTITION_BY (shard));
"""

CITE = """
CREATE TEMP TABLE edges AS
SELECT DISTINCT citing, identities.paper AS cited
FROM (SELECT paper AS citing, unnest(reference_keys) AS reference_key FROM records JOIN identities USING (record_key)) AS named
JOIN identities ON identities.record_key = named.reference_key
WHERE citing <> identities.paper;

COPY (
    SELECT one.paper_id AS citing_id, other.paper_id AS cited_id, one.shard AS shard
    FROM edges JOIN papers AS one ON one.paper = citing JOIN papers AS other ON other.paper = cited
) TO '{folder}/citations' ({parquet}, PARTITION_BY (shard), DICTIONARY_SIZE_LIMIT 1);
"""

CORE = """
CREATE TEMP TABLE degrees AS
SELECT papers.paper, papers.paper_id, shard, coalesce(in_degree, 0) AS in_degree, coalesce(out_degree, 0) AS out_degree,
       coalesce(in_degree, 0) + coalesce(out_degree, 0) AS total_degree,
       coalesce(in_degree, 0) + coalesce(out_degree, 0) >= {min_total} AND coalesce(in_degree, 0) >= {min_in} AS is_core
FROM papers
LEFT JOIN (SELECT cited AS paper, count(*) AS in_degree FROM edges GROUP BY 1) USING (paper)
LEFT JOIN (SELECT citing AS paper, count(*) AS out_degree FROM edges GROUP BY 1) USING (paper);

COPY (SELECT * EXCLUDE (paper) FROM degrees) TO '{folder}/degrees' ({parquet}, PARTITION_BY (shard));

CREATE TEMP TABLE core_papers AS SELECT paper, paper_id, shard, in_degree, out_degree, total_degree FROM degrees WHERE is_core;

COPY (SELECT * EXCLUDE (paper) FROM core_papers) TO '{folder}/core_papers' ({parquet}, PARTITION_BY (shard));

COPY (
    SELECT one.paper_id AS citing_id, other.paper_id AS cited_id, one.shard AS shard
    FROM edges JOIN core_papers AS one ON one.paper = citing JOIN core_papers AS other ON other.paper = cited
) TO '{folder}/core_citations' ({parquet}, PARTITION_BY (shard), DICTIONARY_SIZE_LIMIT 1);
"""

PARQUET = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1"
TABLES = ("identities", "citations", "degrees", "core_papers", "core_citations")


def run(dumps: Path, folder: Path, reader: str, min_total: int, min_in: int, threads: int) -> dict[str, object]:
    """Build all tables in a new folder; counts, read from the files, and times."""
    files = sorted(str(path) for path in dumps.rglob("*.json"))
    if not files:
        raise SystemExit(f"no .json file below {dumps}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    connection.execute("SET enable_progress_bar = false")
    began = time.perf_counter()
    seconds: dict[str, float] = {}
    # Braces of its own (a struct, a pattern) keep READ and the others from str.format.
    parts = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    accounts = reader == "accounting"
    connection.execute(f"SET preserve_insertion_order = {str(accounts).lower()}")
    given = {
        "{reader}": READERS[reader],
        "{offsets}": OFFSETS if accounts else "",
        "{dumps}": f"[{parts}]",
        "{lines}": f"lines.parquet' ({PARQUET}" if accounts else f"lines' ({PARQUET}, PER_THREAD_OUTPUT",
        "{written}": "'{folder}/lines.parquet'" if accounts else "'{folder}/lines/*.parquet'",
        "{folder}": str(folder),
        "{parquet}": PARQUET,
        "{min_total}": str(min_total),
        "{min_in}": str(min_in),
    }
    for name, statements in (("records", MACROS + READ), ("identities", IDENTIFY), ("citations", CITE), ("core", CORE)):
        start = time.perf_counter()
        for slot, value in given.items():
            statements = statements.replace(slot, value)
        connection.execute(statements)
        seconds[name] = round(time.perf_counter() - start, 2)
    total = time.perf_counter() - began
    counts = {name: connection.execute(f"SELECT count(*) FROM '{folder}/{name}/**/*.parquet'").fetchall()[0][0] for name in TABLES}
    counts["papers"] = counts["degrees"]
    counts["records"] = connection.execute("SELECT count(*) FROM records").fetchall()[0][0]
    connection.close()
    kibi = 1024 if sys.platform != "darwin" else 1  # getrusage: kibibytes on Linux, bytes on macOS
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kibi
    return {"counts": counts, "seconds": round(total, 2), "steps": seconds, "peak_rss": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("dumps", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", choices=READERS, default="accounting")
    parser.add_argument("--min-total", type=int, default=40)
    parser.add_argument("--min-in", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    print(json.dumps(run(given.dumps, given.folder, given.reader, given.min_total, given.min_in, given.threads)))


if __name__ == "__main__":
    main()
