"""What the tools take: strict types, from which the schemas for function calling are made too.

Names and shapes are those of SciLENS's toolbox (appendix B), so that agents trained for it work here. Nothing is cast: "2" is no
number, 2 no text, and an argument that a tool does not know is refused. A null stands for an argument that was left out.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

MAX_NAME = 2_000
"""Characters of an id or a title."""
MAX_QUERY = 4_000
MAX_KEYWORDS = 32
MAX_KEYWORD = 200
MAX_CONTENT = 200_000
"""Characters of a text to be summarized."""
MAX_HOPS = 5
MAX_DEPTH = 5

MAX_TITLE = 200
MAX_LABEL = 120
MAX_LABELS = 200
MAX_DATASETS = 8
MAX_BARS = 50
MAX_SLICES = 20
MAX_POINTS = 2_000
MAX_NUMBER = 1e100
"""What a chart can draw: beyond it, differences between two numbers are no numbers any more."""

DIRECTIONS = ("references", "citations", "both")


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


class Arguments(BaseModel):
    """What every tool's arguments have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


_Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]


class OnePaper(Arguments):
    """A paper, by one of two names."""

    id: _Name | None = Field(None, description="Id of the paper, or of a record that was merged into it. Give this or title.")
    title: _Name | None = Field(None, description="Exact title of the paper. Give this or id.")

    @model_validator(mode="after")
    def _is_named_once(self) -> OnePaper:
        if (self.id is None) == (self.title is None):
            raise ValueError("name the paper by exactly one of id and title")
        return self


class EmbeddingSearch(Arguments):
    query: Annotated[str, StringConstraints(max_length=MAX_QUERY)] = Field(description="What to look for, in words: a question or a topic.")

    _is_said = field_validator("query")(_said)


class KeywordSearch(Arguments):
    keywords: list[Annotated[str, StringConstraints(max_length=MAX_KEYWORD)]] = Field(
        min_length=1, max_length=MAX_KEYWORDS, description="Terms, any of which may match; a term of several words is a phrase."
    )

    @field_validator("keywords")
    @classmethod
    def _are_said(cls, terms: list[str]) -> list[str]:
        if not any(term.strip() for term in terms):
            raise ValueError("must hold at least one term that is not empty")
        return terms


class PaperInfo(OnePaper):
    pass


class ReferenceSearch(OnePaper):
    pass


class GetInDegree(OnePaper):
    pass


class GetKhop(OnePaper):
    k: int = Field(ge=1, le=MAX_HOPS, description="How many citations away a paper may be.")
    direction: str | None = Field(
        None,
        description="Along what the papers cite (references, the default), along what cites them (citations), or both.",
        json_schema_extra={"enum": list(DIRECTIONS)},
    )

    @field_validator("direction")
    @classmethod
    def _is_known(cls, direction: str | None) -> str | None:
        if direction is not None and direction not in DIRECTIONS:
            raise ValueError(f"must be one of {', '.join(DIRECTIONS)}")
        return direction


class ShortestPath(Arguments):
    start_id: _Name | None = Field(None, description="Id of the paper that the path begins with. Give this or start_title.")
    end_id: _Name | None = Field(None, description="Id of the paper that the path ends with. Give this or end_title.")
    start_title: _Name | None = Field(None, description="Exact title of the first paper. Give this or start_id.")
    end_title: _Name | None = Field(None, description="Exact title of the last paper. Give this or end_id.")
    max_depth: int | None = Field(None, ge=1, le=MAX_DEPTH, description=f"Longest path, in citations; {MAX_DEPTH} unless given.")

    @model_validator(mode="after")
    def _are_named_once(self) -> ShortestPath:
        if (self.start_id is None) == (self.start_title is None):
            raise ValueError("name the first paper by exactly one of start_id and start_title")
        if (self.end_id is None) == (self.end_title is None):
            raise ValueError("name the last paper by exactly one of end_id and end_title")
        return self


class Summarize(Arguments):
    content: Annotated[str, StringConstraints(max_length=MAX_CONTENT)] = Field(description="The text to be made short.")

    _is_said = field_validator("content")(_said)


# -- charts ----------------------------------------------------------------------------------------------------------

_UNDRAWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")


def _drawable(text: str) -> str:
    """No picture can hold a control character: the renderer dies of one, and takes its process along."""
    if _UNDRAWABLE.search(text):
        raise ValueError("must not hold line breaks or other control characters")
    return text


Number = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=MAX_NUMBER, allow_inf_nan=False)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LABEL), AfterValidator(_drawable)]


def _distinct(labels: list[str]) -> list[str]:
    seen: set[str] = set()
    for label in labels:
        if not label.strip():
            raise ValueError("must not hold an empty label")
        if label in seen:
            raise ValueError(f"holds {label[:40]!r} twice; give every label once")
        seen.add(label)
    return labels


class Dataset(Arguments):
    """One line."""

    label: Label = Field(description="Name of the line.", validation_alias=AliasChoices("label", "name"))
    data: list[Number] = Field(
        min_length=1, max_length=MAX_LABELS, description="A number for each of the labels.", validation_alias=AliasChoices("data", "values")
    )


class LineData(Arguments):
    labels: list[Label] = Field(min_length=1, max_length=MAX_LABELS, description="Places on the horizontal axis, in order.")
    datasets: list[Dataset] = Field(min_length=1, max_length=MAX_DATASETS, description="The lines; each may also be just its numbers.")

    _are_distinct = field_validator("labels")(_distinct)

    @field_validator("datasets", mode="before")
    @classmethod
    def _have_names(cls, lines: Any) -> Any:
        """Bare lists of numbers are lines as well: a nested array, which is what SciLENS's agents send."""
        if not isinstance(lines, list):
            return lines
        names = [""] if len(lines) == 1 else [f" {number}" for number in range(1, len(lines) + 1)]
        return [
            {"label": f"Series{name}", "data": line} if isinstance(line, list) else line for name, line in zip(names, lines, strict=True)
        ]

    @model_validator(mode="after")
    def _fit(self) -> LineData:
        for number, line in enumerate(self.datasets):
            if len(line.data) != len(self.labels):
                raise ValueError(f"datasets[{number}] has {len(line.data)} numbers for {len(self.labels)} labels; give one for each")
        _distinct([line.label for line in self.datasets])
        return self


class BarData(Arguments):
    labels: list[Label] = Field(min_length=1, max_length=MAX_BARS, description="Names of the bars.")
    values: list[Number] = Field(min_length=1, max_length=MAX_BARS, description="A number for each of the labels.")

    _are_distinct = field_validator("labels")(_distinct)

    @model_validator(mode="after")
    def _fit(self) -> BarData:
        if len(self.values) != len(self.labels):
            raise ValueError(f"values has {len(self.values)} numbers for {len(self.labels)} labels; give one for each")
        return self


class PieData(Arguments):
    labels: list[Label] = Field(min_length=1, max_length=MAX_SLICES, description="Names of the slices.")
    values: list[Share] = Field(min_length=1, max_length=MAX_SLICES, description="A number, 0 or more, for each of the labels.")

    _are_distinct = field_validator("labels")(_distinct)

    @model_validator(mode="after")
    def _fit(self) -> PieData:
        if len(self.values) != len(self.labels):
            raise ValueError(f"values has {len(self.values)} numbers for {len(self.labels)} labels; give one for each")
        if not any(self.values):
            raise ValueError("values are all 0; a pie needs one above it")
        return self


class Point(Arguments):
    x: Number
    y: Number
    label: Label | None = Field(None, description="What the point is.")


class ScatterData(Arguments):
    points: list[Point] = Field(min_length=1, max_length=MAX_POINTS, description="The points; each may also be a pair [x, y].")

    @field_validator("points", mode="before")
    @classmethod
    def _have_names(cls, points: Any) -> Any:
        if not isinstance(points, list):
            return points
        return [{"x": point[0], "y": point[1]} if isinstance(point, list) and len(point) == 2 else point for point in points]


class Chart(Arguments):
    title: Annotated[str, StringConstraints(max_length=MAX_TITLE), AfterValidator(_drawable)] = Field(description="What the chart shows.")

    _is_said = field_validator("title")(_said)


_Axis = Annotated[str, StringConstraints(max_length=MAX_LABEL), AfterValidator(_drawable)]


class AxesChart(Chart):
    x_label: _Axis = Field(description="What the horizontal axis shows, with its unit.")
    y_label: _Axis = Field(description="What the vertical axis shows, with its unit.")

    _are_said = field_validator("x_label", "y_label")(_said)


class LineChart(AxesChart):
    data: LineData


class BarChart(AxesChart):
    data: BarData


class PieChart(Chart):
    x_label: _Axis | None = Field(None, description="What the slices are.")
    y_label: _Axis | None = Field(None, description="What the numbers are, with their unit.")
    data: PieData


class ScatterPlot(AxesChart):
    data: ScatterData


AnyChart = LineChart | BarChart | PieChart | ScatterPlot
CHARTS: dict[str, type[AnyChart]] = {one.__name__: one for one in (LineChart, BarChart, PieChart, ScatterPlot)}
