"""Searching papers: the SQLite file that a release pins, and what is found through it.

Here belong: building the file (`index`), reading it (`reader`), cutting text into terms (`text`), ranking by meaning, by
keywords and by both (`ranking`), what a hit is (`paper`), and what must hold of the file (`invariants`). Not here: vectors
and their index (`dense`), walks over citations (`corpus.csr`).
"""
