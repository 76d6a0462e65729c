"""Software-defined assets, one file a stage: read tables, call scholarlake, write, report.

What belongs here: which library function makes an asset, and what of its result a person sees. What does not: Polars
expressions, FAISS calls and prompts (scholarlake), what must hold of a result (checks), when things run (pipelines).
"""
