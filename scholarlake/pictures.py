"""Pictures for the metadata of assets: PNG bytes, drawn from small arrays, in one style.

Every function takes plain numbers and returns a PNG of at most some 100 KB. What does not belong here: reading tables, Dagster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scholarlake.knowledge.organization.taxonomy import Taxonomy

DPI = 110
INK, FAINT, GRID = "#22303c", "#8a97a3", "#e6eaed"
BLUE, ORANGE, RED = "#2f6c9e", "#d9822b", "#b3413b"
# Twelve hues that stay apart for most readers; what is left over is grey.
HUES = (
    "#2f6c9e", "#d9822b", "#3c8d5a", "#b3413b", "#7d5ba6", "#8c6d46",
    "#c65b94", "#5d7d8a", "#a5a12e", "#35a3b0", "#4a4e8f", "#e0a799",
)  # fmt: skip
_POINTS_DRAWN = 20_000
_BARS_SHOWN = 14
_LINES_SHOWN, _LINES_A_COLUMN = 120, 30
_NAMED = 5  # papers of a subgraph
_EDGES_SHOWN = 40
_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": GRID,
}


def degree_distribution(
    in_degrees: ArrayLike, total_degrees: ArrayLike, *, min_in: int | None = None, min_total: int | None = None
) -> bytes:
    """Share of papers with at least so many citations and neighbours, both axes logarithmic, the core's thresholds marked.

    in_degrees, total_degrees: shape (papers,), not negative.
    """
    figure, axes = _canvas(6.4, 4.0)
    series = (("cited by (in-degree)", in_degrees, BLUE, min_in), ("in + out (total degree)", total_degrees, ORANGE, min_total))
    papers, longest = 0, 1
    for label, degrees, colour, threshold in series:
        values, share = _ccdf(np.asarray(degrees))
        papers, longest = max(papers, len(np.asarray(degrees))), max(longest, *values.tolist(), threshold or 1)
        axes.step(values, share, where="post", color=colour, linewidth=1.6, label=label)
        if threshold:
            axes.axvline(threshold, color=colour, linewidth=1, linestyle=(0, (3, 3)))
            reach = float(np.mean(np.asarray(degrees) >= threshold)) if len(np.asarray(degrees)) else 0.0
            axes.annotate(
                f"core: ≥ {threshold:,}\n{_percent(reach)} of papers",
                (threshold, 0.03),  # below the curves, where no threshold of a corpus leads them
                xycoords=("data", "axes fraction"),
                xytext=(4, 0) if colour == ORANGE else (-4, 0),
                textcoords="offset points",
                ha="left" if colour == ORANGE else "right",
                va="bottom",
                color=colour,
                fontsize=7.5,
            )
    axes.set(xscale="log", yscale="log", xlabel="degree (papers)", ylabel="share of papers with at least that degree")
    axes.set_xlim(0.9, longest * 1.3)
    axes.set_ylim(0.5 / max(papers, 1), 1.6)
    _title(axes, f"Degrees of {papers:,} papers")
    axes.xaxis.set_major_formatter(_thousands())
    axes.yaxis.set_major_formatter(_percentages())
    axes.yaxis.set_minor_formatter("")
    axes.grid(True, which="major")
    axes.legend(loc="upper right", frameon=False, borderaxespad=0)
    return _png(figure)


def papers_by_year(years: ArrayLike, *, unknown: int = 0) -> bytes:
    """Papers a year. years: shape (papers with a year,); unknown: papers without one."""
    values = np.asarray(years, dtype=np.int64)
    figure, axes = _canvas(6.4, 3.2)
    if len(values):
        # The few centuries-old papers of every dump would squeeze the rest into one bar.
        first = int(np.quantile(values, 0.005))
        shown = values[values >= first]
        counts = np.bincount(shown - first)
        axes.bar(np.arange(first, first + len(counts)), counts, width=0.86, color=BLUE)
        earlier = len(values) - len(shown)
        axes.xaxis.set_major_locator(_whole_numbers())
    else:
        earlier = 0
    notes = [f"{earlier:,} before {first}"] if earlier else []
    notes += [f"{unknown:,} without a usable year"] if unknown else []
    axes.set(xlabel="year of publication" + (f"   (not shown: {', '.join(notes)})" if notes else ""), ylabel="papers")
    _title(axes, f"{len(values):,} papers by year")
    axes.yaxis.set_major_formatter(_thousands())
    axes.yaxis.set_major_locator(_whole_numbers())
    axes.grid(True, axis="y")
    return _png(figure)


def embedding_map(
    points: ArrayLike, labels: Sequence[str] | None = None, *, total: int | None = None, coloured_by: str = "venue", seed: int = 0
) -> bytes:
    """Embeddings in the plane, coloured by their most frequent labels; the others are grey.

    points: shape (n, 2). labels: one a point, such as venue or cluster. total: embeddings that the points were sampled from. Of
    more than 20,000 points, a seeded sample is drawn.
    """
    plane = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    names = np.asarray(labels if labels is not None else [""] * len(plane), dtype=object)
    total = max(total or 0, len(plane))
    if len(plane) > _POINTS_DRAWN:
        chosen = np.sort(np.random.default_rng(seed).choice(len(plane), _POINTS_DRAWN, replace=False))
        plane, names = plane[chosen], names[chosen]
    figure, axes = _canvas(6.8, 4.6)
    size = float(np.clip(9_000 / max(len(plane), 1), 1.2, 16))
    kinds, counts = np.unique(names[names != ""].astype(str), return_counts=True) if len(names) else (np.array([]), np.array([]))
    top = [str(kinds[i]) for i in np.lexsort((kinds, -counts))][: len(HUES)]
    rest = ~np.isin(names.astype(str), top)
    scatter: dict[str, Any] = {"s": size, "linewidths": 0, "alpha": 0.75, "rasterized": True}
    axes.scatter(*plane[rest].T, color="#c3ccd3" if top else BLUE, **scatter)
    for name, hue in zip(top, HUES, strict=False):
        axes.scatter(*plane[names.astype(str) == name].T, color=hue, label=_short(name, 28), **scatter)
    axes.set(xticks=[], yticks=[], xlabel="first axis", ylabel="second axis")
    drawn = f" ({len(plane):,} drawn)" if len(plane) < total else ""
    _title(axes, f"Map of {total:,} embeddings{drawn}" + (f", by {coloured_by}" if top else ""))
    if top:
        legend = axes.legend(
            loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7.5, frameon=False, handletextpad=0.2, markerscale=4 / size**0.5
        )
        for handle in legend.legend_handles:
            if handle is not None:
                handle.set_alpha(1)
    return _png(figure, colours=255)


def subgraph(titles: Sequence[str], walks: Sequence[Sequence[int]], *, seed: int = 0) -> bytes:
    """The papers that walks came to and the citations that they took, the first paper marked and the most visited named.

    titles: one a paper. walks: places in titles, walk by walk.
    """
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(len(titles)))
    graph.add_edges_from((a, b) for walk in walks for a, b in pairwise(walk))
    places = nx.spring_layout(graph, seed=seed)
    points = np.array([places[node] for node in graph.nodes])
    visits = np.bincount([place for walk in walks for place in walk], minlength=len(titles))
    figure, axes = _canvas(6.8, 4.6)
    for a, b in graph.edges:
        axes.plot(*points[[a, b]].T, color=FAINT, linewidth=0.8, zorder=1)
    sizes, colours = 14 + 40 * np.sqrt(visits / visits.max()), [ORANGE] + [BLUE] * (len(titles) - 1)
    axes.scatter(points[:, 0], points[:, 1], s=sizes, color=colours, linewidths=0, zorder=2)
    for node in dict.fromkeys([0, *np.argsort(-visits, kind="stable")[:_NAMED].tolist()]):
        axes.annotate(_short(titles[node], 40), points[node], xytext=(5, 3), textcoords="offset points", fontsize=7)
    axes.set(xticks=[], yticks=[])
    _title(axes, f"{len(walks)} walks from one paper: {len(titles):,} papers, {graph.number_of_edges():,} citations")
    return _png(figure)


def rejects_by_reason(counts: Mapping[str, int], *, lines: int | None = None) -> bytes:
    """Rejected lines by reason. lines: all lines of the dump, for the share."""
    total = sum(counts.values())
    share = f" of {lines:,} lines ({_percent(total / lines)})" if lines else ""
    return _bars(counts, f"{total:,} rejects{share}, by reason", "lines", RED)


def identity_rules(counts: Mapping[str, int]) -> bytes:
    """Records by the rule that joined them to their paper, the bars logarithmic: most represent themselves."""
    merged = sum(count for rule, count in counts.items() if rule != "representative")
    title = f"{sum(counts.values()):,} records by rule; {merged:,} joined another"
    return _bars(counts, title, "records (logarithmic)", BLUE, log=True)


def recall_per_shard(recalls: Mapping[str, float], *, least: float | None = None, k: int = 10) -> bytes:
    """Recall@k of every shard's index against exact search. least: the threshold of the check."""
    figure, axes = _columns(recalls, "shard")
    values = list(recalls.values())
    for bar, value in zip(axes.patches, values, strict=True):
        if least is not None and value < least:
            bar.set_facecolor(RED)
    floor = min([*values, least if least is not None else 1.0], default=0.0)
    low = max(0.0, np.floor((floor - 0.02) * 20) / 20)
    axes.set_ylim(low, 1.0 + (1.0 - low) * 0.06)
    axes.set_ylabel(f"recall@{k}")
    if least is not None:
        axes.axhline(least, color=INK, linewidth=1, linestyle=(0, (3, 3)))
        axes.set_xlabel(f"shard   (dashed: the least allowed, {least:g})")
    mean = f", mean {np.mean(values):.3f}" if values else ""
    _title(axes, f"Recall@{k} against exact search{mean}")
    return _png(figure)


def shard_sizes(sizes: Mapping[str, int], *, what: str = "papers") -> bytes:
    """Rows of every shard, and their mean."""
    figure, axes = _columns(sizes, "shard")
    values = list(sizes.values())
    axes.set_ylabel(what)
    axes.yaxis.set_major_formatter(_thousands())
    mean = f", {np.mean(values):,.0f} on average" if len(values) > 1 else ""
    _title(axes, f"{sum(values):,} {what} in {len(values)} {'shard' if len(values) == 1 else 'shards'}{mean}")
    axes.yaxis.set_major_locator(_whole_numbers())
    if values:
        axes.set_ylim(0, max(*values, 1) * 1.08)
    if len(values) > 1:
        axes.axhline(float(np.mean(values)), color=ORANGE, linewidth=1.2)
    return _png(figure)


def documents_by_format(counts: Mapping[str, int]) -> bytes:
    """Documents by the format of their files."""
    return _bars(counts, f"{sum(counts.values()):,} documents by format", "documents", BLUE)


def documents_by_outcome(counts: Mapping[str, int]) -> bytes:
    """What became of the documents: taken for a paper, or why not."""
    return _bars(counts, f"{sum(counts.values()):,} documents by what became of them", "documents", ORANGE)


def sentences_per_document(counts: ArrayLike) -> bytes:
    """How many documents have how many sentences. counts: shape (documents,), sentences of each."""
    values = np.asarray(counts, dtype=np.int64)
    figure, axes = _canvas(6.4, 3.2)
    if len(values):
        axes.hist(values, bins=min(40, max(int(values.max()), 1)), color=BLUE, rwidth=0.9)
        axes.xaxis.set_major_locator(_whole_numbers())
        axes.yaxis.set_major_locator(_whole_numbers())
    axes.set(xlabel="sentences", ylabel="documents")
    _title(axes, f"{int(values.sum()) if len(values) else 0:,} sentences in {len(values):,} documents")
    axes.xaxis.set_major_formatter(_thousands())
    axes.yaxis.set_major_formatter(_thousands())
    axes.grid(True, axis="y")
    return _png(figure)


def facts_by_type(counts: Mapping[str, int]) -> bytes:
    """Facts by the kind of statement that they are."""
    return _bars(
        {name.replace("_", " "): count for name, count in counts.items()}, f"{sum(counts.values()):,} facts by type", "facts", BLUE
    )


def entities_by_type(counts: Mapping[str, int]) -> bytes:
    """Entities by the kind of object that they are."""
    return _bars(counts, f"{sum(counts.values()):,} entities by type", "entities", BLUE)


def facts_by_category(counts: Mapping[str, int]) -> bytes:
    """Assignments by the category that something was found to belong to."""
    return _bars(counts, f"{sum(counts.values()):,} assignments in {len(counts):,} categories", "assignments", BLUE)


def collection_graph(edges: Sequence[tuple[str, str, str, int]]) -> bytes:
    """Relations as a graph, those to the most related objects: source, relation, target, how many lead there."""
    import networkx as nx

    graph = nx.DiGraph()
    for source, relation, target, _ in edges[:_EDGES_SHOWN]:
        graph.add_edge(_short(source, 28), _short(target, 28), relation=relation)
    figure, axes = _canvas(8.6, 6.0)
    places = nx.spring_layout(graph, seed=0, k=1.4 / max(len(graph), 1) ** 0.5, iterations=80)
    relations = sorted({data["relation"] for _, _, data in graph.edges(data=True)})
    for n, relation in enumerate(relations):
        some = [(a, b) for a, b, data in graph.edges(data=True) if data["relation"] == relation]
        nx.draw_networkx_edges(graph, places, some, ax=axes, edge_color=HUES[n % len(HUES)], arrowsize=8, width=1.1, node_size=60)
        axes.plot([], [], color=HUES[n % len(HUES)], label=relation.replace("_", " "))
    nx.draw_networkx_nodes(graph, places, ax=axes, node_size=26, node_color=FAINT)
    nx.draw_networkx_labels(graph, places, ax=axes, font_size=6.5, font_color=INK, verticalalignment="bottom")
    axes.set_frame_on(False)
    axes.margins(0.12)
    axes.legend(frameon=False, fontsize=7.5, loc="lower left", ncols=min(len(relations), 4) or 1)
    left = f", {len(edges) - _EDGES_SHOWN:,} more" if len(edges) > _EDGES_SHOWN else ""
    axes.set_title(f"{min(len(edges), _EDGES_SHOWN)} relations of papers and research objects{left}", loc="left", fontsize=10.5)
    return _png(figure)


def taxonomy_tree(taxonomy: Taxonomy) -> bytes:
    """Dimensions with their categories, parts below what they are part of."""
    lines: list[tuple[int, str]] = []
    for dimension in taxonomy.dimensions:
        lines.append((0, dimension.name))
        below: dict[str | None, list[str]] = {}
        for category in dimension.categories:
            below.setdefault(category.parent, []).append(category.name)
        fringe = [(1, name) for name in reversed(below.get(None, []))]
        while fringe:
            depth, name = fringe.pop()
            lines.append((depth, name))
            fringe += [(depth + 1, part) for part in reversed(below.get(name, []))]
    shown = lines[:_LINES_SHOWN]
    columns = max(1, -(-len(shown) // _LINES_A_COLUMN))
    figure, axes = _canvas(2.6 * columns + 1, 0.6 + 0.19 * min(len(shown), _LINES_A_COLUMN))
    for n, (depth, name) in enumerate(shown):
        axes.annotate(
            _short(name, 40),
            (n // _LINES_A_COLUMN + 0.06 * depth, -(n % _LINES_A_COLUMN)),
            va="center",
            fontsize=9 if depth else 10,
            fontweight="normal" if depth else "bold",
            color=INK if depth < 2 else FAINT,
        )
    axes.set(xlim=(0, columns), ylim=(-min(len(shown), _LINES_A_COLUMN), 1), xticks=[], yticks=[])
    axes.set_frame_on(False)
    left = f", {len(lines) - len(shown)} lines more" if len(lines) > len(shown) else ""
    axes.set_title(
        f"{len(lines) - len(taxonomy.dimensions)} categories in {len(taxonomy.dimensions)} dimensions{left}", loc="left", fontsize=10.5
    )
    return _png(figure)


# -- the style -------------------------------------------------------------------------------------------------------


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure in inches. Not pyplot: it keeps figures in a global list, and is not safe in threads."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
        FigureCanvasAgg(figure)
        return figure, figure.add_subplot()


def _bars(counts: Mapping[str, int], title: str, unit: str, colour: str, *, log: bool = False) -> bytes:
    """Horizontal bars, the longest on top, each with its number; what is beyond a page of bars is one bar."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rest = ordered[_BARS_SHOWN:]
    shown = ordered[:_BARS_SHOWN] + ([(f"{len(rest)} others", sum(count for _, count in rest))] if rest else [])
    figure, axes = _canvas(6.4, 1.1 + 0.27 * max(len(shown), 1))
    places = np.arange(len(shown))[::-1]
    values = [count for _, count in shown]
    axes.barh(places, values, color=colour, height=0.7)
    if log and any(values):
        axes.set_xscale("log")
        axes.set_xlim(0.6, max(*values, 1) * 6)
    else:
        axes.set_xlim(0, max([*values, 1]) * 1.15)
        axes.xaxis.set_major_locator(_whole_numbers())
    axes.xaxis.set_major_formatter(_thousands())
    for place, count in zip(places, values, strict=True):
        axes.annotate(
            f"{count:,}",
            (max(count, 0.6 if log and any(values) else 0), place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_yticks(places, [_short(name, 32) for name, _ in shown])
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel=unit)
    _title(axes, title)
    axes.grid(True, axis="x")
    return _png(figure)


def _columns(values: Mapping[str, float], axis: str) -> tuple[Figure, Axes]:
    figure, axes = _canvas(6.4, 3.0)
    places = np.arange(len(values))
    axes.bar(places, list(values.values()), width=0.8 if len(values) > 1 else 0.3, color=BLUE)
    step = -(-len(values) // 20) or 1
    axes.set_xticks(places[::step], list(values)[::step])
    if len(values) < 4:
        axes.set_xlim(-1, max(len(values), 1))
    axes.set_xlabel(axis)
    axes.grid(True, axis="y")
    return figure, axes


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=10.5, fontweight="bold", color=INK, pad=10)
    if not axes.has_data():
        axes.set(xticks=[], yticks=[])
        axes.annotate("nothing to show yet", (0.5, 0.5), xycoords="axes fraction", ha="center", va="center", color=FAINT)


def _png(figure: Figure, colours: int | None = None) -> bytes:
    """The figure as PNG. colours: draw with a palette of so many, where thousands of points would make a large file."""
    import matplotlib

    target = BytesIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(target, format="png", metadata={"Software": None})
    if colours is None:
        return target.getvalue()
    from PIL import Image

    with Image.open(target) as image:
        small = BytesIO()
        image.convert("RGB").quantize(colours, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(small, format="png", optimize=True)
    return small.getvalue()


def _ccdf(degrees: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Distinct degrees from 1 on, and the share of papers with at least each."""
    values, counts = np.unique(degrees.astype(np.int64), return_counts=True)
    at_least = counts[::-1].cumsum()[::-1] / max(len(degrees), 1)
    return values[values >= 1], at_least[values >= 1]


def _thousands() -> Any:
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 or value == 0 else f"{value:g}")


def _whole_numbers() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(integer=True)


def _percentages() -> Any:
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, _: _percent(value))


def _percent(share: float) -> str:
    return f"{float(f'{share * 100:.2g}'):g}%"


def _short(text: str, limit: int) -> str:
    plain = " ".join(str(text).split()).replace("$", r"\$")
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"
