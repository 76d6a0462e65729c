"""Charts as pictures: a Vega-Lite specification for each kind, and SVG made of it in this process, without a network.

Readable is the default: text of 12 pixels and more in dark ink, colours of 3 to 1 and more against white that differ for the colour-blind
too, lines that differ by marks as well, bars from zero, numbers written at bars and slices where there is room. What does not belong
here: what a chart may say (`arguments`), where a picture stands (`page`).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

from scholarlake.toolbox.arguments import AnyChart, BarChart, LineChart, PieChart, ScatterPlot

VEGA_LITE = "6.4"
WIDTH, HEIGHT = 580, 320
INK, FAINT, GRID = "#22303c", "#51606d", "#e3e8ec"
COLOURS = (
    "#2f6c9e", "#b85c00", "#2e7d4f", "#b3413b", "#7d5ba6", "#7a5a36", "#b34780", "#1f7f8c", "#74710f", "#4a4e8f",
    "#9cc3e3", "#f2b27a", "#9fd3b3", "#e8a7a3", "#c9b4e3", "#cbb294", "#eab0d0", "#93d0d8", "#cfcc7a", "#b4b7e0",
)  # fmt: skip
_DARK = 10  # of them, those on which white is read
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_TITLE_CHARACTERS = 72
_LABEL_PIXELS = 240
_SHORT_LABEL = 12  # characters that stand below a bar
_UPRIGHT_BARS = 8
_LABELLED_BARS = 25
_LABELLED_POINTS = 25
_LABELLED_SHARE = 0.05
_TICKS = 12
_WHOLE = re.compile(r"-?\d{1,9}")

Spec = dict[str, Any]


def svg(chart: AnyChart) -> str:
    """The chart as SVG text, with a title and a description for who can't see it."""
    import vl_convert  # the renderer, which only pictures need

    drawn: str = vl_convert.vegalite_to_svg(specification(chart), vl_version=VEGA_LITE, allowed_base_urls=[])
    told = f"<title>{escape(chart.title)}</title><desc>{escape(description(chart))}</desc>"
    return re.sub(r"<svg\b([^>]*)>", lambda found: f'<svg role="img"{found[1]}>{told}', drawn, count=1)


def specification(chart: AnyChart) -> Spec:
    """The chart in Vega-Lite. What it says gets into its data and its titles only."""
    match chart:
        case LineChart():
            body = _line(chart)
        case BarChart():
            body = _bar(chart)
        case PieChart():
            body = _pie(chart)
        case ScatterPlot():
            body = _scatter(chart)
    offset = 30 if "height" in body and isinstance(body["height"], dict) else 16
    title = {"offset": offset, "text": textwrap.wrap(chart.title, _TITLE_CHARACTERS) or [chart.title], "anchor": "start", "frame": "group"}
    return {"background": "white", "padding": 14, "title": title, "config": _CONFIG, **body}


def description(chart: AnyChart) -> str:
    """The chart in a sentence or two."""
    match chart:
        case LineChart():
            lines = ", ".join(line.label for line in chart.data.datasets)
            return f"Line chart of {chart.y_label} by {chart.x_label}, {len(chart.data.labels)} places: {lines}."
        case BarChart():
            bars = "; ".join(f"{name} {number(value)}" for name, value in zip(chart.data.labels, chart.data.values, strict=True))
            return f"Bar chart of {chart.y_label} by {chart.x_label}: {bars}."
        case PieChart():
            whole = sum(chart.data.values)
            slices = "; ".join(f"{name} {value / whole:.1%}" for name, value in zip(chart.data.labels, chart.data.values, strict=True))
            return f"Pie chart: {slices}."
        case ScatterPlot():
            return f"Scatter plot of {chart.y_label} against {chart.x_label}, {len(chart.data.points)} points."


def rows(chart: AnyChart) -> list[list[str]]:
    """The numbers of a chart as a table, its head first."""
    match chart:
        case LineChart():
            lines = chart.data.datasets
            body = [
                [name, *(number(line.data[at]) for line in lines)]
                for at, name in enumerate(chart.data.labels)
            ]  # fmt: skip
            return [[chart.x_label, *(line.label for line in lines)], *body]
        case ScatterPlot():
            named = any(point.label for point in chart.data.points)
            head = [*([""] if named else []), chart.x_label, chart.y_label]
            return [head, *([*([point.label or ""] if named else []), number(point.x), number(point.y)] for point in chart.data.points)]
        case _:
            pairs = zip(chart.data.labels, chart.data.values, strict=True)
            return [[chart.x_label or "", chart.y_label or ""], *([name, number(value)] for name, value in pairs)]


def number(value: float) -> str:
    """A number as a person reads it: four digits that count, thousands apart."""
    size = abs(value)
    if value == int(value) and size < 1e9:
        return f"{int(value):,}".replace("-", "−")
    if size >= 1e9 or size < 1e-3:
        digits, exponent = f"{value:.3e}".split("e")
        return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}".replace("-", "−")
    places = max(0, 4 - len(str(int(size)))) if size >= 1 else 6
    said = f"{float(f'{value:.4g}'):,.{places}f}"
    return (said.rstrip("0").rstrip(".") if "." in said else said).replace("-", "−")


# -- the kinds ---------------------------------------------------------------------------------------------------------


def _line(chart: LineChart) -> Spec:
    labels, lines = chart.data.labels, chart.data.datasets
    values: list[Spec] = [
        {"x": label, "y": y, "line": line.label, "order": at}
        for line in lines
        for at, (label, y) in enumerate(zip(labels, line.data, strict=True))
    ]
    across: Spec = {"field": "x", "title": _title(chart.x_label)}
    if _are_rising_numbers(labels):
        for one in values:
            one["x"] = int(str(one["x"]))
        ticks = {"values": [int(label) for label in labels]} if len(labels) <= _TICKS else {"tickMinStep": 1}
        across |= {
            "type": "quantitative",
            "scale": {"zero": False, "nice": False, "padding": 14},
            "axis": {"format": "d", "grid": False, **ticks},
        }
    else:
        tilted = len(labels) > _TICKS or max(map(len, labels)) > _SHORT_LABEL
        across |= {"type": "ordinal", "sort": None, "axis": {"labelAngle": -40 if tilted else 0, "grid": False}, "scale": {"padding": 0.4}}
    encoding: Spec = {"x": across, "y": _measured("y", chart.y_label, [one["y"] for one in values]), "order": {"field": "order"}}
    if len(lines) > 1:
        names = [line.label for line in lines]
        legend = {"title": None, "orient": "bottom", "columns": 2 if max(map(len, names)) > 20 else 4, "symbolSize": 90}
        encoding["color"] = {"field": "line", "type": "nominal", "sort": None, "legend": legend, "scale": _scale(names, COLOURS)}
        encoding["shape"] = {"field": "line", "type": "nominal", "sort": None, "legend": legend, "scale": _scale(names, _SHAPES)}
    dots = {"filled": True, "opacity": 1, "size": 60 if len(labels) <= 40 else 20, "strokeWidth": 1}
    plain = {key: value for key, value in encoding.items() if key != "shape"}
    line_mark = {"type": "line", "strokeWidth": 2.5, **({} if len(lines) > 1 else {"color": COLOURS[0]})}
    point_mark = {"type": "point", **dots, **({} if len(lines) > 1 else {"color": COLOURS[0]})}
    layers = [{"mark": line_mark, "encoding": plain}, {"mark": point_mark, "encoding": encoding}]
    return {"width": WIDTH, "height": HEIGHT, "data": {"values": values}, "layer": layers}


def _bar(chart: BarChart) -> Spec:
    labels, numbers = chart.data.labels, chart.data.values
    values = [{"x": label, "y": value, "said": number(value)} for label, value in zip(labels, numbers, strict=True)]
    lying = len(labels) > _UPRIGHT_BARS or max(map(len, labels)) > _SHORT_LABEL
    names: Spec = {"field": "x", "type": "nominal", "sort": None, "title": _title(chart.x_label)}
    names |= {
        "axis": {"grid": False, "labelAngle": 0, "ticks": False, "domain": False},
        "scale": {"paddingInner": 0.3, "paddingOuter": 0.2},
    }
    sizes = _measured("y", chart.y_label, numbers, from_zero=True)
    if lying:
        names["title"] = chart.x_label
        names["axis"] |= {
            "titleAngle": 0,
            "titleAlign": "right",
            "titleX": -8,
            "titleY": -6,
            "labelLimit": 320,
        }  # above the names, not across them
        if min(numbers) < 0:
            room = (max(*numbers, 0) - min(numbers)) * 0.14  # for the numbers at the bars, which go to the left here
            sizes["scale"] = {"domain": [min(numbers) - room, max(*numbers, 0) + (room if max(numbers) > 0 else 0)]}
    across, along = ("y", "x") if lying else ("x", "y")
    layers: list[Spec] = [{"mark": {"type": "bar", "color": COLOURS[0]}}]
    if len(labels) <= _LABELLED_BARS:
        for sign, test in ((1, "datum.y >= 0"), (-1, "datum.y < 0")):
            place = (
                {"align": "left" if sign > 0 else "right", "dx": 5 * sign}
                if lying
                else {"baseline": "bottom" if sign > 0 else "top", "dy": -4 * sign}
            )
            layers.append({"transform": [{"filter": test}], "mark": {"type": "text", **place}, "encoding": {"text": {"field": "said"}}})
    extent = (
        {"width": WIDTH, "height": {"step": 28}} if lying else {"width": {"step": max(52, WIDTH // (len(labels) + 1))}, "height": HEIGHT}
    )
    if not lying and len(labels) <= 2:
        extent["width"] = {"step": 150}
    return {**extent, "data": {"values": values}, "encoding": {across: names, along: sizes}, "layer": layers}


def _pie(chart: PieChart) -> Spec:
    whole = max(chart.data.values)
    shares = [value / whole for value in chart.data.values]  # first by the largest: a sum of numbers near the limit may be none
    shares = [share / sum(shares) for share in shares]
    names = [
        f"{label}: {number(value)} ({share:.1%})" for label, value, share in zip(chart.data.labels, chart.data.values, shares, strict=True)
    ]
    values = [
        {
            "share": share,
            "name": name,
            "order": at,
            "said": f"{share:.0%}" if share >= _LABELLED_SHARE else "",
            "ink": "white" if at < _DARK else INK,
        }
        for at, (name, share) in enumerate(zip(names, shares, strict=True))
    ]
    about = ", ".join(part for part in (chart.x_label, chart.y_label) if part) or None
    legend = {"title": _title(about) if about else None, "orient": "right", "labelLimit": 380, "symbolType": "square", "symbolSize": 130}
    colour = {"field": "name", "type": "nominal", "sort": None, "legend": legend, "scale": _scale(names, COLOURS)}
    encoding = {"theta": {"field": "share", "type": "quantitative", "stack": True}, "order": {"field": "order"}}
    text = {"text": {"field": "said"}, "color": {"field": "ink", "type": "nominal", "scale": None, "legend": None}}
    return {
        "width": 300,
        "height": 300,
        "data": {"values": values},
        "encoding": encoding,
        "layer": [
            {"mark": {"type": "arc", "outerRadius": 145, "stroke": "white", "strokeWidth": 2}, "encoding": {"color": colour}},
            {"mark": {"type": "text", "radius": 108, "fontWeight": "bold", "fontSize": 13}, "encoding": text},
        ],
    }


def _scatter(chart: ScatterPlot) -> Spec:
    points = chart.data.points
    values = [{"x": point.x, "y": point.y, "said": point.label or ""} for point in points]
    encoding = {
        "x": _measured("x", chart.x_label, [point.x for point in points]),
        "y": _measured("y", chart.y_label, [point.y for point in points]),
    }
    many = len(points) > 300
    layers: list[Spec] = [
        {"mark": {"type": "point", "filled": True, "color": COLOURS[0], "size": 22 if many else 75, "opacity": 0.45 if many else 0.85}}
    ]
    if 0 < sum(bool(one["said"]) for one in values) <= _LABELLED_POINTS:
        layers.append({"mark": {"type": "text", "align": "left", "dx": 8, "dy": -5}, "encoding": {"text": {"field": "said"}}})
    return {"width": WIDTH, "height": HEIGHT, "data": {"values": values}, "encoding": encoding, "layer": layers}


# -- what they share ---------------------------------------------------------------------------------------------------

_CONFIG: Spec = {
    "font": _FONT,
    "title": {"fontSize": 17, "fontWeight": "bold", "color": INK, "lineHeight": 22},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "labelLimit": _LABEL_PIXELS,
        "gridColor": GRID,
        "domainColor": FAINT,
        "tickColor": FAINT,
        "labelOverlap": True,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 260,
    },
    "text": {"color": INK, "fontSize": 12},
    "view": {"stroke": None},
}


def _measured(field: str, title: str, values: Sequence[float], *, from_zero: bool = False) -> Spec:
    """An axis of numbers: from zero where that hides nothing, or where it must."""
    low, high = min(values), max(values)
    zero = from_zero or (0 <= low <= 0.5 * high) or (0 >= high >= 0.5 * low)
    size = max(abs(low), abs(high))
    axis = {"format": ".3~e"} if size >= 1e9 or 0 < size < 1e-3 else {}
    scale: Spec = {"zero": zero, "nice": True, **({} if zero else {"padding": 10})}
    if low == high and not zero:
        scale = {"domain": [low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2], "zero": False}
    return {"field": field, "type": "quantitative", "title": _title(title), "axis": {"tickCount": 6, **axis}, "scale": scale}


def _are_rising_numbers(labels: Sequence[str]) -> bool:
    """Whether the labels are whole numbers, such as years, each larger than the last: then a gap between two is drawn as wide as it is."""
    if len(labels) < 2 or not all(_WHOLE.fullmatch(label) for label in labels):
        return False
    numbers = [int(label) for label in labels]
    return all(one < other for one, other in pairwise(numbers))


def _scale(names: Sequence[str], given: Sequence[str]) -> Spec:
    return {"domain": list(names), "range": [given[at % len(given)] for at in range(len(names))]}


def _title(text: str) -> list[str]:
    return textwrap.wrap(text, 60) or [text]
