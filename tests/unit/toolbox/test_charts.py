"""Charts are checked before they are drawn, and stand in an answer by a short placeholder."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from scholarlake.toolbox import charts
from scholarlake.toolbox.arguments import CHARTS, MAX_BARS, MAX_LABELS, MAX_POINTS

AXES = {"title": "Papers a year", "x_label": "Year", "y_label": "Papers"}
LINE = {**AXES, "data": {"labels": ["2019", "2020"], "datasets": [{"label": "a", "data": [1, 2.5]}, {"label": "b", "data": [-3, 0]}]}}
BAR = {**AXES, "data": {"labels": ["one", "two"], "values": [1, -2]}}
PIE = {"title": "Shares", "data": {"labels": ["one", "two"], "values": [1, 0]}}
SCATTER = {**AXES, "data": {"points": [{"x": 1, "y": 2, "label": "here"}, [3, 4.5]]}}
SOUND = [("LineChart", LINE), ("BarChart", BAR), ("PieChart", PIE), ("ScatterPlot", SCATTER)]


def changed(given: dict[str, Any], where: str, value: Any) -> dict[str, Any]:
    """The arguments with something else at a place, such as "data.values.0"; None takes it out."""
    made = copy.deepcopy(given)
    at: Any = made
    *steps, last = [int(step) if step.isdigit() else step for step in where.split(".")]
    for step in steps:
        at = at[step]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return made


@pytest.mark.parametrize(("tool", "given"), SOUND)
def test_a_sound_chart_gets_a_placeholder_and_equal_charts_the_same(tool: str, given: dict[str, Any]) -> None:
    placed = charts.place(charts.sound({"tool_name": tool, "tool_args": given}))
    assert charts.PLACEHOLDER.fullmatch(placed.placeholder)
    assert len(placed.placeholder) < 50
    assert placed == charts.place(charts.sound({"tool_name": tool, "tool_args": copy.deepcopy(given)}))
    other = charts.place(charts.sound({"tool_name": tool, "tool_args": {**given, "title": "Another"}}))
    assert other.chart_id != placed.chart_id


@pytest.mark.parametrize(
    ("tool", "given", "where", "value"),
    [
        *((tool, given, name, None) for tool, given in SOUND for name in ("title", "data")),
        *((tool, given, name, None) for tool, given in SOUND if tool != "PieChart" for name in ("x_label", "y_label")),
        *((tool, given, "title", title) for tool, given in SOUND for title in (" ", "x" * 500, 5, "a\x0cb", "a\nb", "a\ufffe")),
        *((tool, given, "x_label", "a\x1b[0m") for tool, given in SOUND),
        *((tool, given, "colour", "red") for tool, given in SOUND),
        *((tool, given, "data", data) for tool, given in SOUND for data in ([], {}, "text", 5)),
        *(
            (tool, given, "data.labels", labels)
            for tool, given in SOUND[:3]
            for labels in ([], ["a"], ["a", "a"], ["a", " "], ["a", 5], "ab")
        ),
        *(("LineChart", LINE, "data.datasets.0.data.0", number) for number in (float("nan"), float("inf"), "1", True, [], 1e200, 10**400)),
        *(("BarChart", BAR, "data.values.0", number) for number in (float("nan"), float("-inf"), "1", False, {}, -1e200)),
        *(("PieChart", PIE, "data.values.0", number) for number in (float("nan"), -1, -0.001, "1", True, 0)),
        *(("ScatterPlot", SCATTER, "data.points.0.x", number) for number in (float("nan"), float("inf"), "1", True)),
        *(("ScatterPlot", SCATTER, "data.points.1", point) for point in ([1], [1, 2, 3], [1, float("nan")], 5, {"x": 1}, ["1", 2])),
        ("ScatterPlot", SCATTER, "data.points.0.label", "a\x85"),
        ("LineChart", LINE, "data.datasets.0.label", "a\x00"),
        ("LineChart", LINE, "data.datasets", []),
        ("LineChart", LINE, "data.datasets.0.data", [1]),
        ("LineChart", LINE, "data.datasets.0.data", [1, 2, 3]),
        ("LineChart", LINE, "data.datasets.1.label", "a"),
        ("LineChart", LINE, "data.datasets", [[1, 2]] * 9),
        ("LineChart", LINE, "data", {"labels": [str(n) for n in range(MAX_LABELS + 1)], "datasets": [list(range(MAX_LABELS + 1))]}),
        ("BarChart", BAR, "data.values", [1]),
        ("BarChart", BAR, "data", {"labels": [str(n) for n in range(MAX_BARS + 1)], "values": list(range(MAX_BARS + 1))}),
        ("PieChart", PIE, "data.values", [1, 2, 3]),
        ("PieChart", PIE, "data", {"labels": [str(n) for n in range(21)], "values": list(range(21))}),
        ("ScatterPlot", SCATTER, "data.points", []),
        ("ScatterPlot", SCATTER, "data.points", [[1, 2]] * (MAX_POINTS + 1)),
    ],
)
def test_a_chart_that_is_not_sound_is_refused(tool: str, given: dict[str, Any], where: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        CHARTS[tool].model_validate(changed(given, where, value))


def test_lines_may_be_bare_lists_and_points_pairs() -> None:
    bare = CHARTS["LineChart"].model_validate({**AXES, "data": {"labels": ["a", "b"], "datasets": [[1, 2], [3, 4]]}})
    assert [line["label"] for line in charts.arguments_of(bare)["data"]["datasets"]] == ["Series 1", "Series 2"]
    spelt = {"labels": ["a", "b"], "datasets": [{"name": "Series 1", "values": [1, 2]}, {"label": "Series 2", "data": [3, 4]}]}
    assert charts.chart_id(bare) == charts.chart_id(CHARTS["LineChart"].model_validate({**AXES, "data": spelt}))
    assert charts.arguments_of(CHARTS["ScatterPlot"].model_validate(SCATTER))["data"]["points"][1] == {"x": 3, "y": 4.5}


def test_an_answer_goes_with_the_definitions_of_the_charts_it_shows() -> None:
    shown, other = (charts.sound({"tool_name": tool, "tool_args": given}) for tool, given in SOUND[:2])
    answer = f"See here.\n\n{charts.place(shown).placeholder}\n"
    made = charts.appended(answer, [shown, other])
    assert made.startswith("See here.")
    assert made.count('"tool_name"') == 1
    assert charts.appended("No chart.", [shown]) == "No chart."
