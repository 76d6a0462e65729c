"""JATS: what of an article is text, of what kind, and under which headings."""

from __future__ import annotations

from tests.unit.documents.making import format_of, jats, only, sentences, text_of, texts

FRONT = """<article-id pub-id-type="pmc">123</article-id><article-id pub-id-type="doi">10.1234/ABC.5</article-id>
<title-group><article-title>On <italic>Drosophila</italic> &amp; others</article-title><subtitle>A study</subtitle></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Müller</surname><given-names>Ana B.</given-names></name></contrib>
<contrib contrib-type="editor"><name><surname>Boss</surname><given-names>C</given-names></name></contrib></contrib-group>
<pub-date pub-type="epub"><year>2011</year></pub-date><pub-date pub-type="ppub"><year>2012</year></pub-date>
<abstract><sec><title>Background</title><p>It is known. It matters.</p></sec><sec><title>Methods</title><p>We looked.</p></sec></abstract>
<abstract abstract-type="toc"><p>A teaser.</p></abstract>
<abstract abstract-type="summary"><title>Author Summary</title><p>In plain words.</p></abstract>"""


def test_what_the_front_says_of_the_paper_is_what_it_is_found_by() -> None:
    about = only(jats("<p>Text.</p>", front=FRONT)).about
    assert about.title == "On Drosophila & others: A study"
    assert about.doi == "10.1234/ABC.5"
    assert about.ids == ("123", "PMC123")
    assert about.year == 2011
    assert about.authors == ("Müller, Ana B.",)


def test_abstracts_stand_under_their_headings_and_teasers_are_left_out() -> None:
    document = only(jats(front=FRONT))
    assert [(block.sections, text_of(document, block)) for block in document.blocks if block.kind == "abstract"] == [
        (("Background",), "It is known. It matters."),
        (("Methods",), "We looked."),
        (("Author Summary",), "In plain words."),
    ]
    assert document.extent == "abstract"


def test_sections_nest_and_their_labels_are_kept_apart() -> None:
    inner = "<sec><label>2.1</label><title>Mice</title><p>Two.</p></sec>"
    body = f"<sec><label>2</label><title>Methods</title><p>One.</p>{inner}<p>Three.</p></sec><p>Four.</p>"
    document = only(jats(body))
    assert [(block.kind, block.label, block.sections) for block in document.blocks] == [
        ("heading", "2", ("Methods",)),
        ("paragraph", None, ("Methods",)),
        ("heading", "2.1", ("Methods", "Mice")),
        ("paragraph", None, ("Methods", "Mice")),
        ("paragraph", None, ("Methods",)),
        ("paragraph", None, ()),
    ]
    assert document.extent == "full_text"


def test_what_interrupts_a_paragraph_is_a_block_of_its_own() -> None:
    body = """<p>Before <disp-formula><label>(1)</label><tex-math>$$a = b.$$</tex-math></disp-formula> where <italic>a</italic> is it.
<fig><label>Figure 2</label><caption><title>A plot.</title><p>It rises. It falls.</p></caption><graphic xlink:href="x.tif"/></fig> After.
<list><list-item><p>First point.</p></list-item><list-item><p>Second.</p></list-item></list></p>"""
    document = only(jats(body))
    assert [(block.kind, block.label, text_of(document, block)) for block in document.blocks] == [
        ("paragraph", None, "Before"),
        ("formula", "(1)", "$a = b.$"),
        ("paragraph", None, "where a is it."),
        ("caption", "Figure 2", "A plot. It rises. It falls."),
        ("paragraph", None, "After."),
        ("list_item", None, "First point."),
        ("list_item", None, "Second."),
    ]


def test_a_table_is_rows_of_text_and_its_caption_and_notes_are_apart() -> None:
    body = """<table-wrap><label>Table 1</label><caption><p>Counts.</p></caption><table><thead><tr><th>group</th><th>n</th></tr></thead>
<tbody><tr><td>treated</td><td>1,204<sup>a</sup></td></tr><tr><td/><td/></tr></tbody></table>
<table-wrap-foot><fn><p>Not blinded.</p></fn></table-wrap-foot>
</table-wrap>"""
    document = only(jats(body))
    assert [(block.kind, text_of(document, block), bool(block.sentences)) for block in document.blocks] == [
        ("caption", "Counts.", True),
        ("table", "group | n\ntreated | 1,204a", False),
        ("footnote", "Not blinded.", True),
    ]


def test_inline_formulas_keep_a_form_that_can_be_read() -> None:
    tex = "\\documentclass{x}\\begin{document}$\\hat{x} &lt; 3$\\end{document}"
    math = (
        "<mml:math><mml:mfrac><mml:mi>a</mml:mi><mml:mrow><mml:mi>b</mml:mi><mml:mo>+</mml:mo><mml:mn>1</mml:mn></mml:mrow></mml:mfrac>"
        "<mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math>"
    )
    body = (
        f"<p>Let <inline-formula><alternatives><tex-math>{tex}</tex-math>{math}</alternatives></inline-formula> be, and "
        f"<inline-formula>{math}</inline-formula> too.</p>"
    )
    assert texts(only(jats(body)), "paragraph") == [r"Let $\hat{x} < 3$ be, and a/(b + 1) x^2 too."]


def test_a_power_is_not_read_as_another_number_and_a_citation_not_as_a_power() -> None:
    cited = '<sup><xref ref-type="bibr" rid="r">12</xref></sup>'
    body = f"<p>At 10<sup>-5</sup> M and 3 m<sup>2</sup>, H<sub>2</sub>O was seen{cited} on the 1<sup>st</sup> day.</p>"
    assert texts(only(jats(body)), "paragraph") == ["At 10^-5 M and 3 m^2, H2O was seen12 on the 1st day."]


def test_references_thanks_notes_and_supplements_are_no_text() -> None:
    body = (
        "<p>Text.</p><sec sec-type='supplementary-material'><title>Supporting</title><p>File S1.</p></sec>"
        "<supplementary-material><caption><p>Movie.</p></caption></supplementary-material>"
    )
    back = (
        "<ack><p>Thanks.</p></ack><fn-group><fn><p>No conflict.</p></fn></fn-group>"
        "<app-group><app><title>Proofs</title><p>A proof.</p></app></app-group>"
        "<ref-list><ref><mixed-citation>Smith 2001.</mixed-citation></ref></ref-list>"
    )
    assert sentences(only(jats(body, back=back))) == ["Text.", "A proof."]


def test_characters_are_those_of_the_file_and_only_white_space_is_mended() -> None:
    body = "<p>\n   ﬁne e\u0301tude\u00a0of\u00ad soft &#x1D6FC; − 3\n\t next.</p>"
    document = only(jats(body))
    assert document.text == "ﬁne e\u0301tude\u00a0of\u00ad soft 𝛼 − 3 next."
    assert document.blocks[0].end == len(document.text)


def test_entities_of_the_dtd_that_html_knows_too_are_their_characters() -> None:
    head = '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "JATS.dtd">'
    assert texts(only(jats("<p>&alpha; and &nosuchthing; stay.</p>", head=head)), "paragraph") == ["α and &nosuchthing; stay."]


def test_articles_in_a_set_are_each_read_and_their_reviews_are_not() -> None:
    from scholarlake.documents.formats import read

    article = (
        jats("<p>Mine.</p>").split("?>", 1)[1].replace("</article>", "<sub-article><body><p>A review.</p></body></sub-article></article>")
    )
    found = [sentences(document) for _, document in read(f"<pmc-articleset>{article}{article}</pmc-articleset>".encode())]
    assert found == [["Mine."], ["Mine."]]


def test_it_is_known_by_its_root_whatever_stands_before() -> None:
    assert format_of(jats("<p>a</p>", head='<!-- a <TEI> --><!DOCTYPE article [<!ENTITY fig1 SYSTEM "f.gif">]>')) == "jats"
    assert format_of(jats("<p>a</p>").replace('encoding="UTF-8"', 'encoding="UTF-16"').encode("utf-16")) == "jats"


def test_a_formula_of_which_there_is_only_a_picture_is_marked() -> None:
    picture = '<inline-formula><inline-graphic xlink:href="x.png"/></inline-formula>'
    document = only(jats(f"<p>We call {picture} a rate. So is {picture}.</p>"))
    assert sentences(document) == ["We call [formula] a rate.", "So is [formula]."]
