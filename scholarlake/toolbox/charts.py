"""Charts as an agent makes them: arguments that were found sound, and the placeholder that stands for them in an answer.

A placeholder is short, so that an answer repeats no numbers: `<chart id="bar-0123456789ab"/>`. What it stands for goes along with the
answer as a definition, a fenced block of JSON; `appended` writes these. What does not belong here: pictures (`pictures`), pages (`page`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from scholarlake.lake.hashing import text_hash
from scholarlake.toolbox.answers import Placed
from scholarlake.toolbox.arguments import CHARTS, AnyChart

FENCE = "charts"
"""The word behind the backticks of a block of definitions."""
_ID_DIGITS = 12
_KINDS = {"LineChart": "line", "BarChart": "bar", "PieChart": "pie", "ScatterPlot": "scatter"}
PLACEHOLDER = re.compile(r"""<chart\s+id\s*=\s*["']([a-z]+-[0-9a-f]+)["']\s*(?:/>|>\s*</chart>)""")


def place(chart: AnyChart) -> Placed:
    """The answer to a chart tool. Equal charts have one id."""
    name = chart_id(chart)
    placeholder = f'<chart id="{name}"/>'
    return Placed(
        chart_id=name,
        placeholder=placeholder,
        note="the chart is sound; put the placeholder into the answer, on a line of its own, where the chart is to stand",
    )


def chart_id(chart: AnyChart) -> str:
    """The kind of a chart, and 12 digits over all it says."""
    kind = _KINDS[type(chart).__name__]
    return f"{kind}-{text_hash(orjson.dumps(arguments_of(chart), option=orjson.OPT_SORT_KEYS).decode())[:_ID_DIGITS]}"


def arguments_of(chart: AnyChart) -> dict[str, Any]:
    """The tool arguments that make this chart."""
    return chart.model_dump(mode="json", exclude_none=True)


def payload(chart: AnyChart) -> dict[str, Any]:
    return {"tool_name": type(chart).__name__, "tool_args": arguments_of(chart)}


def sound(given: Mapping[str, Any]) -> AnyChart:
    """The chart of a payload. Raises KeyError for a tool that makes none, ValidationError for one that is not sound."""
    return CHARTS[given["tool_name"]].model_validate(given["tool_args"])


def appended(answer: str, charts: Iterable[AnyChart]) -> str:
    """An answer with the definitions of the charts that it holds a placeholder of, so that it can be rendered by itself."""
    wanted = set(PLACEHOLDER.findall(answer))
    defined = {chart_id(chart): payload(chart) for chart in charts if chart_id(chart) in wanted}
    if not defined:
        return answer
    lines = "\n".join(orjson.dumps(defined[name]).decode() for name in sorted(defined))
    return f"{answer.rstrip()}\n\n```{FENCE}\n{lines}\n```\n"
