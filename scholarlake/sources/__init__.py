"""From the bytes of a dump to `records` and `rejects`.

Here belong: listing the parts of a dump, recognising formats and compression, cutting streams into whole lines, one
reader a format, and the normalisation of what a field says (DOI, title, year, venue, authors, references, abstract).
Not here: which records are one paper, what cites what (`corpus`), and full text (`documents`).
"""
