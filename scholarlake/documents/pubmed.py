"""PubMed and MEDLINE XML: citations whose abstracts are in labelled parts (`AbstractText` with `Label`).

Reference: the PubMed DTD of the National Library of Medicine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scholarlake.documents.document import About, Document, Writer
from scholarlake.documents.inline import Inline, text_of
from scholarlake.documents.xml import Element, child, children, descendants, name, parse_each, plain_text

NAME = "pubmed"
ROOTS = frozenset(("PubmedArticleSet", "PubmedArticle", "MedlineCitationSet", "MedlineCitation"))

_INLINE = Inline(blocks=frozenset(), formulas=frozenset(("math",)), raised=frozenset(("sup",)))
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


def read(data: bytes) -> Iterator[Document]:
    """The citations of a file, one at a time. Raises SourceError where it is no well-formed XML."""
    tag = "PubmedArticle" if b"<PubmedArticle>" in data or b"<PubmedArticle " in data else "MedlineCitation"
    for entry in parse_each(data, tag):
        yield _document(entry)


def _document(entry: Element) -> Document:
    citation = entry if name(entry) == "MedlineCitation" else child(entry, "MedlineCitation")
    article = child(citation, "Article")
    title = text_of(child(article, "ArticleTitle"), _INLINE)
    about = About(title, _doi(entry), tuple(_ids(entry, citation)), _year(article), tuple(_authors(article)))
    writer = Writer()
    writer.add("title", title)
    abstract = child(article, "Abstract")
    for part in children(abstract, "AbstractText") if abstract is not None else ():
        label = " ".join((part.get("Label") or "").split()) or None
        writer.add("abstract", text_of(part, _INLINE), label=label, sections=[label] if label else [])
    return writer.document(about)


def _ids(entry: Element, citation: Element | None) -> Iterator[str]:
    if pmid := plain_text(child(citation, "PMID")).strip():
        yield pmid
    for found in descendants(entry, "ArticleId"):
        if found.get("IdType") not in ("doi", "pubmed") and "Reference" not in {name(above) for above in found.iterancestors()}:
            yield plain_text(found).strip()


def _doi(entry: Element) -> str | None:
    for found in descendants(entry, "ELocationID", "ArticleId"):
        if "doi" in (found.get("EIdType"), found.get("IdType")) and "Reference" not in {name(above) for above in found.iterancestors()}:
            return plain_text(found).strip()
    return None


def _year(article: Element | None) -> int | None:
    date = child(article, "Journal", "JournalIssue", "PubDate")
    found = _YEAR.search(plain_text(date))
    return int(found.group()) if found else None


def _authors(article: Element | None) -> Iterator[str]:
    people = child(article, "AuthorList")
    for author in children(people, "Author") if people is not None else ():
        given = plain_text(child(author, "ForeName")) or plain_text(child(author, "Initials"))
        if family := plain_text(child(author, "LastName")):
            yield f"{family}, {given}".strip(" ,")
