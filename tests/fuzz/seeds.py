"""What fuzzing begins with: a few papers in every spelling, a short text in every format, and both packed in every way."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator

import zstandard

from scholarlake.sources.readers import FORMATS, Reader
from tests.unit.sources.spellings import SPELLINGS, Paper

_PAPERS: list[Paper] = [
    {
        "id": str(number), "title": f"A <i>title</i> of {number} caf\u00e9s &amp; R&D", "abstract": "We study x. It is, cf. Fig. 3, so.",
        "year": 2000 + number, "doi": f"10.1000/{number}", "venue": "J. Phys.", "authors": ["Ann B. Lee", "M\u00fcller, J."],
        "keywords": ["a", "b c"], "references": ["7", "9"], "n_citation": number, "volume": "1", "issue": "2", "page_start": "3",
        "page_end": "4", "lang": "en", "publisher": "P", "url": "https://x.example/1",
    }
    for number in (1, 2)
]  # fmt: skip
_DOCUMENTS = (
    '<article><front><article-meta><article-id pub-id-type="doi">10.1000/1</article-id><title-group><article-title>T</article-title>'
    "</title-group><abstract><p>We see x. It is.</p></abstract></article-meta></front><body><sec><title>A</title><p>That <italic>E. coli"
    "</italic> grows 10<sup>3</sup>, see <inline-formula><tex-math>$x$</tex-math></inline-formula>.<disp-formula><label>(1)</label>y"
    "</disp-formula></p><fig><label>F</label><caption><p>C.</p></caption></fig><table-wrap><table><tr><td>1</td></tr></table></table-wrap>"
    "<list><list-item><p>i</p></list-item></list></sec></body></article>",
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>T</title></titleStmt></fileDesc></teiHeader><text>'
    '<body><div><head n="1">A</head><p>One <ref>[1]</ref>. Two.</p><formula>y<label>(1)</label></formula></div></body></text></TEI>',
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle><Abstract><AbstractText "
    'Label="A">One. Two.</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>',
    '{"paper_id":"1","title":"T","pdf_parse":{"body_text":[{"text":"One INLINEFORM0 . Two FIGREF1.","section":"A","sec_num":"1","eq_spans":'
    '[{"text":"INLINEFORM0","latex":"x"}]}],"ref_entries":{"FIGREF1":{"type":"figure","text":"C","num":"1"}}}}',
    '{"corpusid":1,"content":{"text":"T\\nOne. Two.","annotations":{"paragraph":"[{\\"start\\":2,\\"end\\":11}]"}}}',
    '{"1":{"QUESTION":"Q?","CONTEXTS":["One. Two."],"LABELS":["A"],"YEAR":"2001"}}',
    "---\ntitle: T\n---\n# T\n\n## Abstract\n\nOne $x$. Two.\n\n$$\ny\n$$\n\n- a\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![c](d)\n",
    "A Title\n\nAbstract\n\nOne. Two, cf.\nFig. 3, e.g. here.\n\n1 Introduction\n\nSmith et al. [1] say so.\n\nReferences\n\n1. X.\n",
)


def _packings(data: bytes) -> Iterator[bytes]:
    yield gzip.compress(data, mtime=0)
    yield zstandard.compress(data)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", method) as files:
            files.writestr("a.json", data)
            files.writestr("b.json", gzip.compress(data, mtime=0))
        yield archive.getvalue()


def seeds(target: str) -> list[bytes]:
    """Inputs that say something to that target."""
    spelled = [spelling.write(_PAPERS) for spelling in SPELLINGS.values()]
    written = [text.encode() for text in _DOCUMENTS]
    match target:
        case "dump":  # the first byte says as what it is read
            readers = sum(isinstance(reader, Reader) for reader in FORMATS.values())
            return [bytes([place]) + data for data in spelled for place in range(readers)]
        case "packed":
            return [packed for data in spelled[:2] for packed in _packings(data)]
    return written
