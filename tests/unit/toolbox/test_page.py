"""Answers as pages: every kind of chart is drawn, nothing in an answer is obeyed, nothing asks a network."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from lxml import etree
from lxml import html as lxml_html
from typer.testing import CliRunner

from scholarlake.cli import app
from scholarlake.errors import SourceError
from scholarlake.toolbox import charts, page, pictures
from scholarlake.toolbox.arguments import MAX_NUMBER, AnyChart
from tests.unit.toolbox.lakes import small
from tests.unit.toolbox.test_charts import AXES, BAR, LINE, PIE, SCATTER, SOUND

HOSTILE = "</text><script>alert(1)</script> & \"quotes\" {{x}} datum['x'] http://example.org/x.png"


def chart(tool: str, given: dict[str, Any]) -> AnyChart:
    return charts.sound({"tool_name": tool, "tool_args": given})


def drawn(made: AnyChart) -> tuple[str, str]:
    """The picture, and all the text in it. It is well-formed, has a description, and names nothing outside itself."""
    picture = pictures.svg(made)
    root = etree.fromstring(picture.encode())
    assert root.get("role") == "img"
    assert root.findtext("{*}title") == made.title
    assert root.findtext("{*}desc")
    assert not root.findall(".//{*}script")
    assert not [one for one in root.iter() if any("href" in str(name) for name in one.attrib)]
    assert "NaN" not in picture
    return picture, " ".join(root.itertext())


@pytest.mark.parametrize(("tool", "given"), SOUND)
def test_every_kind_is_drawn_with_its_title_and_labels(tool: str, given: dict[str, Any]) -> None:
    _, text = drawn(chart(tool, given))
    for word in (given["title"], given.get("x_label", ""), given.get("y_label", "")):
        assert word in text


def test_lines_have_a_legend_and_years_stand_as_far_apart_as_they_are() -> None:
    far = {**AXES, "data": {"labels": ["2000", "2001", "2020"], "datasets": [{"label": "a", "data": [1, 2, 3]}]}}
    spec = pictures.specification(chart("LineChart", far))
    assert spec["layer"][0]["encoding"]["x"]["type"] == "quantitative"
    _, text = drawn(chart("LineChart", {**LINE, "data": {**LINE["data"], "labels": ["low", "high"]}}))
    assert {"a", "b", "low", "high"} <= set(text.split())


def test_bars_begin_at_zero_bear_their_numbers_and_lie_where_names_are_long() -> None:
    spec = pictures.specification(chart("BarChart", {**AXES, "data": {"labels": ["a", "b"], "values": [1000.5, 1001]}}))
    assert spec["encoding"]["y"]["scale"]["zero"] is True
    long = {**AXES, "data": {"labels": ["a method of many words", "b"], "values": [1234567, -2]}}
    spec = pictures.specification(chart("BarChart", long))
    assert spec["encoding"]["y"]["field"] == "x"
    _, text = drawn(chart("BarChart", long))
    assert "1,234,567" in text
    assert "−2" in text


def test_slices_say_their_shares_and_values() -> None:
    _, text = drawn(chart("PieChart", {"title": "t", "data": {"labels": ["a", "b", "c"], "values": [2, 1, 1]}}))
    assert "a: 2 (50.0%)" in text
    assert "25%" in text


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("LineChart", {**AXES, "data": {"labels": ["one"], "datasets": [[0]]}}),
        ("LineChart", {**AXES, "data": {"labels": [str(n) for n in range(200)], "datasets": [[n * n for n in range(200)]] * 1}}),
        ("BarChart", {**AXES, "data": {"labels": [f"bar {n}" for n in range(50)], "values": [0.0] * 50}}),
        ("BarChart", {**AXES, "data": {"labels": ["a", "b"], "values": [MAX_NUMBER, -MAX_NUMBER]}}),
        ("PieChart", {"title": "t", "data": {"labels": [f"s{n}" for n in range(20)], "values": [MAX_NUMBER] * 20}}),
        ("PieChart", {"title": "t", "data": {"labels": ["a", "b"], "values": [5e-324, 0]}}),
        ("ScatterPlot", {**AXES, "data": {"points": [[5, -7]]}}),
        ("ScatterPlot", {**AXES, "data": {"points": [[n, 1e-7 * n] for n in range(500)]}}),
        ("ScatterPlot", {**AXES, "data": {"points": [[0, 0], [0, 0]]}}),
    ],
)
def test_charts_at_their_bounds_are_drawn(tool: str, given: dict[str, Any]) -> None:
    drawn(chart(tool, given))


def test_text_in_a_chart_is_text() -> None:
    label = HOSTILE[:110]
    for tool, given in (
        ("BarChart", {"title": HOSTILE, "x_label": label, "y_label": label, "data": {"labels": [label], "values": [1]}}),
        ("PieChart", {"title": HOSTILE, "data": {"labels": [label, "$"], "values": [1, 1]}}),
        (
            "LineChart",
            {
                "title": HOSTILE,
                "x_label": label,
                "y_label": label,
                "data": {"labels": [label], "datasets": [{"label": label, "data": [1]}] * 1},
            },
        ),
        ("ScatterPlot", {"title": HOSTILE, "x_label": label, "y_label": label, "data": {"points": [{"x": 1, "y": 1, "label": label}]}}),
    ):
        assert "<script" not in drawn(chart(tool, given))[0].replace("&lt;script", "")


def contrast(colour: str, ground: str = "#ffffff") -> float:
    def light(code: str) -> float:
        parts = [int(code[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(colour), light(ground)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colours_can_be_told_from_the_ground_and_text_can_be_read() -> None:
    assert all(contrast(colour) >= 4.5 for colour in pictures.COLOURS[:10]), "white is written on them"
    assert all(contrast(pictures.INK, colour) >= 4.5 for colour in pictures.COLOURS[10:])
    assert min(contrast(pictures.INK), contrast(pictures.FAINT)) >= 4.5


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (-0.0, "0"), (5, "5"), (-1234567, "−1,234,567"), (0.1, "0.1"), (87.3, "87.3"), (2.34567, "2.346"), (1234.56, "1,235"),
     (0.00012, "1.2e−4"),
     (1e12, "1e12"), (0.05, "0.05"), (999.96, "1,000")],
)  # fmt: skip
def test_numbers_are_written_as_a_person_reads_them(value: float, said: str) -> None:
    assert pictures.number(value) == said


# -- pages -------------------------------------------------------------------------------------------------------------


def answer(*made: AnyChart) -> str:
    marks = "\n\n".join(charts.place(one).placeholder for one in made)
    return charts.appended(f"# An answer\n\nGraphs grow \\cite{{p1, q}}, as shown \\cite{{q}}.\n\n{marks}\n\nDone.", made)


def test_a_page_shows_charts_where_they_stand_and_numbers_its_citations() -> None:
    made = [chart(tool, given) for tool, given in SOUND]
    found = page.html(answer(*made), reference=lambda paper_id: f"Paper {paper_id}")
    root = lxml_html.document_fromstring(found.text)
    assert found.faults == []
    assert len(root.findall(".//figure/svg")) == 4
    assert [link.text for link in root.findall(".//a[@class='cite']")] == ["[1]", "[2]", "[2]"]
    assert [line.text for line in root.findall(".//section/ol/li")] == ["Paper p1 [p1]", "Paper q [q]"]
    assert "tool_name" not in found.text, "definitions are not shown"
    assert root.findtext(".//title") == "An answer"
    assert [cell.text for cell in root.findall(".//figure//td")][:3] == ["2019", "1", "−3"]


def test_a_page_asks_for_nothing_and_obeys_nothing() -> None:
    text = f"{HOSTILE}\n\n<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n![x](http://example.org/a.png) [l](javascript:alert(1))\n\n[ok](https://example.org)"
    found = page.html(text, reference=None)
    root = lxml_html.document_fromstring(found.text)
    assert not root.findall(".//script")
    assert not root.findall(".//img")
    assert [link.get("href") for link in root.findall(".//a")] == ["http://example.org/a.png", "https://example.org"]
    assert not [one for one in root.iter() if any(str(name).startswith("on") for name in one.attrib)]
    assert "default-src 'none'" in found.text


def test_placeholders_and_citations_in_code_are_left_alone() -> None:
    text = 'Say `<chart id="bar-00"/>` or\n\n```\n\\cite{p1} <chart id="bar-00"/>\n```\n'
    for found in (page.html(text), page.markdown(text, "x.charts")):
        assert found.faults == []
        assert "References" not in found.text
    assert page.markdown(text, "x.charts").text == text


def test_what_is_not_defined_or_not_known_is_said_and_the_rest_is_shown() -> None:
    bad = {"tool_name": "PieChart", "tool_args": {**PIE, "data": {"labels": ["a"], "values": [-1]}}}
    definitions = f'{json.dumps(bad)}\nnonsense\n{{"tool_name": "x", "tool_args": {{}}}}'
    text = f'\\cite{{p1}} \\cite{{nobody}}\n\n<chart id="bar-00ff"/>\n\n```charts\n{definitions}\n```\n'
    for found in (page.html(text, reference={"p1": "One"}.get), page.markdown(text, "x.charts", reference={"p1": "One"}.get)):
        assert len(found.faults) == 5
        assert "chart bar-00ff is missing" in found.text
        assert "One [p1]" in found.text


def test_markdown_links_pictures_beside_it() -> None:
    made = [chart("BarChart", BAR), chart("ScatterPlot", SCATTER)]
    found = page.markdown(answer(*made), "my out.charts")
    assert set(found.pictures) == {f"{charts.chart_id(one)}.svg" for one in made}
    assert re.findall(r"!\[Papers a year\]\((\S+?)/", found.text) == ["my%20out.charts"] * 2
    assert "[1][2], as shown [2]." in found.text
    assert "## References\n\n1. p1\n2. q\n" in found.text
    assert "```" not in found.text


def test_titles_are_text_in_markdown_too() -> None:
    found = page.markdown(
        answer(chart("PieChart", {**PIE, "title": "*a* [b](c) $d$"})), "x.charts", reference=lambda _: "On <i>p</i>_values_"
    )
    assert "![\\*a\\* \\[b\\](c) \\$d\\$](x.charts/" in found.text
    assert "1. On \\<i\\>p\\</i\\>\\_values\\_ [p1]" in found.text


# -- the command -------------------------------------------------------------------------------------------------------


def render(*given: str | Path) -> Result:
    return CliRunner().invoke(app, ["render", *map(str, given)])


def test_the_command_writes_a_page_or_markdown_with_pictures(tmp_path: Path) -> None:
    lake = small(tmp_path / "lake").root
    source = tmp_path / "answer.md"
    source.write_text(answer(chart("PieChart", PIE)), encoding="utf-8")
    done = render(source, "-o", tmp_path / "out.html", "--lake", lake)
    assert done.exit_code == 0, done.output
    assert "A. One. Deep Learning. Nature (2015) [p1]" in (tmp_path / "out.html").read_text()
    assert render(source, "-o", tmp_path / "out.md").exit_code == 0
    assert len(list((tmp_path / "out.charts").glob("pie-*.svg"))) == 1


def test_charts_may_come_from_a_file(tmp_path: Path) -> None:
    made = chart("LineChart", LINE)
    (tmp_path / "a.md").write_text(charts.place(made).placeholder)
    assert render(tmp_path / "a.md", "-o", tmp_path / "a.html").exit_code == 1
    (tmp_path / "charts.jsonl").write_text(json.dumps(charts.payload(made)) + "\n")
    done = render(tmp_path / "a.md", "-o", tmp_path / "a.html", "--charts", tmp_path / "charts.jsonl", "--json")
    assert (done.exit_code, json.loads(done.stdout)["faults"]) == (0, [])


def test_what_cannot_be_rendered_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "b.md").write_bytes(b"\xff\xfe")
    (tmp_path / "bad.jsonl").write_text("{}\n")
    for given in (
        (tmp_path / "none.md", "-o", tmp_path / "a.html"),
        (tmp_path / "b.md", "-o", tmp_path / "a.html"),
        (tmp_path / "a.md", "-o", tmp_path / "a.pdf"),
        (tmp_path / "a.md", "-o", tmp_path / "a.html", "--charts", tmp_path / "bad.jsonl"),
    ):
        done = render(*given)
        assert isinstance(done.exception, SourceError)
        assert "\n" not in str(done.exception)
    assert not (tmp_path / "a.html").exists()
