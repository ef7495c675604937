"""Accuracy against cost, OCR accuracy and other benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any, Final, NamedTuple

import altair as alt
import polars as pl

from omibench.results.statistics.correlation import FEWEST, Correlation, correlate
from omibench.stages.analyze.figures.charts import (
    WIDTH,
    draw_panels,
    encode_colour,
    encode_shape,
    finish,
    keep_values,
    list_distinct,
    make_chart,
    per_cent,
    scale_up,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import count_sides
from omibench.stages.analyze.figures.labels import place_names
from omibench.stages.analyze.figures.theme import INK, SERIES, Chart
from omibench.stages.analyze.formatting import count_noun, name_rules

LINE_LETTERS: Final = 130
"""The maximum length of a subtitle line, in letters."""
WIDE: Final = 20
"""The ratio of highest to lowest cost above which the scale is logarithmic."""
_AXES: Final = {
    "dollars": "Dollars a problem",
    "output_tokens": "Generated tokens per problem",
}
MEASURES = {"accocr": "OCR accuracy (AccOCR), %", "lexical": "Characters kept (1 - Levenshtein), %"}
MOST_PANELS = 8
_PANEL: Final = (380, 380)
_OCR_HEIGHT, _PADDING = 360, 40
"""The height of a figure, and the room beside its outermost points, in pixels."""


def pick_cost(table: pl.DataFrame) -> str | None:
    """Select the unit of cost: dollars if all cells have a price above 0, otherwise tokens.

    Args:
        table: The result `accuracy-by-cost`.

    Returns:
        A column; None if no column is positive for every cell.
    """
    return next((name for name in _AXES if (table[name] > 0).fill_null(value=False).all()), None)


def find_frontier(points: list[tuple[float, float]]) -> list[int]:
    """Find the Pareto-optimal points, which no other point dominates.

    Args:
        points: Cost and accuracy of each point.

    Returns:
        Their indices, cheapest first.
    """
    order = sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1]))
    best, frontier = float("-inf"), []
    for place in order:
        if points[place][1] > best:
            best = points[place][1]
            frontier.append(place)
    return frontier


def count_frontier(table: pl.DataFrame) -> str | None:
    """Describe the range of costs and the number of Pareto-optimal cells.

    Nothing is tested: the sentence notes that these are point estimates.

    Args:
        table: The result `accuracy-by-cost`.
    """
    cost = pick_cost(table)
    if cost is None or table.height < 2:
        return None
    frontier = find_frontier(list(table.select(cost, "estimate").iter_rows()))
    less = "cheaper" if cost == "dollars" else "shorter in its responses"
    bounds = _word_costs(table[cost].min(), table[cost].max(), cost)
    return (
        f"The cost per problem is {bounds}. Of {count_noun(table.height, 'cell')}, "
        f"{len(frontier):,} {'has' if len(frontier) == 1 else 'have'} no other that is both {less} "
        "and more accurate; these are point estimates, and were not tested."
    )


def _list_names(names: Sequence[str]) -> list[str]:
    """Return numbered names, wrapped to the width of the figure."""
    lines = [""]
    for number, name in enumerate(names, 1):
        entry = f"{number} {name}"
        if lines[-1] and len(lines[-1]) + len(entry) > LINE_LETTERS:
            lines.append("")
        lines[-1] = ";  ".join(filter(None, [lines[-1], entry]))
    return lines


def _word_costs(low: Any, high: Any, cost: str) -> str:
    if cost == "dollars":
        return f"${low:.2g} to ${high:.2g}"
    return f"{low:,.0f} to {high:,.0f} generated tokens"


@figure("accuracy-by-cost", "accuracy-by-cost", "Accuracy and cost", finding=count_frontier)
def draw_costs(table: pl.DataFrame) -> Chart | None:
    """Draw one point per cell, with names for the Pareto-optimal ones.

    Args:
        table: The result `accuracy-by-cost`.

    Returns:
        The chart; None if fewer than two cells have a cost.
    """
    cost = pick_cost(table)
    if cost is None or table.height < 2:
        return None
    frontier = find_frontier(list(table.select(cost, "estimate").iter_rows()))
    numbers = {place: str(number) for number, place in enumerate(frontier, 1)}
    rows = [
        keep_values(row, "n")
        | {
            "name": f"{row['label']} · {row['setting_label']}",
            "cost": row[cost],
            "number": numbers.get(place, ""),
        }
        for place, row in enumerate(scale_up(table.to_dicts()))
    ]
    costs = [row["cost"] for row in rows]
    is_wide = max(costs) > WIDE * min(costs)
    scale = alt.Scale(type="log") if is_wide else alt.Scale(zero=False, padding=20)
    low, y = (
        alt.Y(f"{name}:Q", title="Accuracy, %", scale=alt.Scale(zero=False))
        for name in ("low", "estimate")
    )
    x = alt.X("cost:Q", title=_AXES[cost], scale=scale)
    base, best = make_chart(rows), make_chart(row for row in rows if row["number"])

    def fade(strong: float, pale: float) -> Any:
        return alt.condition("datum.number", alt.value(strong), alt.value(pale))

    chart = alt.layer(
        base.mark_rule(color=SERIES[0]).encode(x=x, y=low, y2="high:Q", opacity=fade(0.7, 0.2)),
        base.mark_point(color=SERIES[0]).encode(x=x, y=y, opacity=fade(1, 0.45)),
        best.mark_text(align="left", dx=8, dy=-6, color=INK, fontWeight="bold").encode(
            x=x, y=y, text="number:N"
        ),
    )
    return finish(
        chart,
        "Accuracy and cost",
        f"by {name_rules(table['rules'][0])}; one point per cell with its interval; numbered if no "
        "other is both cheaper and more accurate:",
        *_list_names([rows[place]["name"] for place in frontier]),
        of=table,
        height=380,
    )


@figure(
    "ocr-accuracy",
    "ocr-accuracy",
    "Answer accuracy against OCR accuracy",
    source="MathReal, table 7",
)
def draw_ocr_accuracy(table: pl.DataFrame) -> Chart | None:
    """Draw each cell's accuracy with its interval against the OCR accuracy of its model.

    Args:
        table: The result `ocr-accuracy`.
    """
    rows = scale_up(table.to_dicts(), "ocr", "estimate", "low", "high")
    if not rows:
        return None
    data = [keep_values(row, "model", "setting", "ocr") for row in rows]
    names = list_distinct(data, "setting")
    x = alt.X(
        "ocr:Q", title=MEASURES[table["measure"][0]], scale=alt.Scale(zero=False, padding=_PADDING)
    )
    base = make_chart(data).encode(x=x)
    tops = {row["model"]: row for row in sorted(data, key=lambda row: row["high"])}
    places = [(row["ocr"], row["high"]) for row in tops.values()]
    heights = [high for _, high in places]
    size = (WIDTH - 2 * _PADDING, _OCR_HEIGHT * (max(heights) - min(heights)) / 100)
    visible = place_names(places, [*tops], size, centred=True)
    named = [row for row, name in zip(tops.values(), visible, strict=True) if name]
    labels = make_chart(named).mark_text(baseline="bottom", dy=-4, fontSize=10)
    chart = alt.layer(
        base.mark_rule(opacity=0.4).encode(y=alt.Y("low:Q", title="Accuracy, %"), y2="high:Q"),
        base.mark_point().encode(
            y=alt.Y("estimate:Q", **per_cent()),
            color=encode_colour("setting", names, "Setting"),
            shape=encode_shape("setting", names, "Setting"),
        ),
        labels.encode(x=x, y=alt.Y("high:Q", title="Accuracy, %"), text="model:N"),
    )
    title = "Answer accuracy against OCR accuracy"
    note = "one point per model and setting; lines are intervals of accuracy"
    more = "" if all(visible) else "; names only where they have room"
    return finish(chart, title, note + more, of=table, height=_OCR_HEIGHT)


class SeriesPair(NamedTuple):
    """Two series over their common models.

    Attributes:
        name: Name of the second series.
        models: Common models.
        ours: Values of the first series.
        others: Values of the second series.
        rank: Spearman's correlation of both.
    """

    name: str
    models: list[str]
    ours: list[float]
    others: list[float]
    rank: Correlation


def pair_series(table: pl.DataFrame) -> tuple[str, list[SeriesPair]]:
    """Pair the first series with those of other metrics and benchmarks.

    Args:
        table: The result `model-scores`.

    Returns:
        The name of the first series, and a pair for each other series that shares three models with
        it. The same metric by another scorer is only in the table.
    """
    # Scores of other benchmarks are in per cent.
    share = pl.when(source="measured").then(100 * pl.col("estimate")).otherwise("estimate")
    table = table.with_columns(estimate=share)
    kinds = {row[0]: row[1:] for row in table.select("series", "benchmark", "metric").iter_rows()}
    series = {
        name: dict(part.select("model", "estimate").iter_rows())
        for (name,), part in table.partition_by("series", as_dict=True, maintain_order=True).items()
    }
    first, *others = kinds
    pairs = []
    for name in others:
        models = [model for model in series[first] if model in series[name]]
        if kinds[name] == kinds[first] or len(models) < FEWEST:
            continue
        values = [[series[side][model] for model in models] for side in (first, name)]
        rank = correlate(values[0], values[1], "spearman")
        pairs.append(SeriesPair(name, models, values[0], values[1], rank))
    return first, pairs


def count_correlations(table: pl.DataFrame) -> str | None:
    """Count the other series correlated with the first one, by intervals of Spearman's coefficient.

    Args:
        table: The result `model-scores`.
    """
    first, pairs = pair_series(table)
    bounds = [pair.rank.interval for pair in pairs if not isnan(pair.rank.interval.lo)]
    if not pairs:
        return None
    if not bounds:
        return "The series share too few models for an interval."
    counts = count_sides(bounds)
    return (
        f"Spearman's correlation of {first} with {counts.total:,} other series has an interval "
        f"above zero for {counts.above:,} and below for {counts.below:,}. The intervals are not "
        "corrected for their number."
    )


@figure(
    "correlations",
    "model-scores",
    "Models here and on other benchmarks",
    source="OMIBench, figures 3a and 3d",
    finding=count_correlations,
)
def draw_correlations(table: pl.DataFrame) -> Chart | None:
    """Draw the first series against those of other metrics and benchmarks, one panel each.

    Args:
        table: The result `model-scores`.

    Returns:
        The chart, of up to eight series; None if no other series shares three models with the
        first.
    """
    first, pairs = pair_series(table)
    panels = {_describe_panel(pair): pair for pair in pairs[:MOST_PANELS]}
    if not panels:
        return None
    data = [
        {"model": model, "ours": ours, "others": others, "panel": panel, "name": name}
        for panel, pair in panels.items()
        for model, ours, others, name in zip(
            pair.models, pair.ours, pair.others,
            place_names([*zip(pair.ours, pair.others, strict=True)], pair.models, _PANEL),
            strict=True,
        )
    ]  # fmt: skip
    base = make_chart(data).encode(
        x=alt.X("ours:Q", title=f"{first}, %", scale=alt.Scale(zero=False)),
        y=alt.Y("others:Q", title=None, scale=alt.Scale(zero=False)),
    )
    labels = base.mark_text(align="left", dx=8, fontSize=10, color=INK).encode(text="name:N")
    subtitle = "one point per model; Spearman's correlation with its interval above each panel"
    return draw_panels(
        alt.layer(base.mark_point(color=SERIES[0]), labels),
        list(panels),
        "Models here and on other benchmarks",
        subtitle
        if all(row["name"] for row in data)
        else f"{subtitle}; names only where they have room",
        size=_PANEL,
        of=table,
        x="independent",
        y="independent",
    )


def _describe_panel(pair: SeriesPair) -> str:
    lo, hi = pair.rank.interval
    interval = "" if isnan(lo) else f" [{lo:.2f}, {hi:.2f}]"
    return f"{pair.name}: {pair.rank.value:.2f}{interval}, {pair.rank.n} models"
