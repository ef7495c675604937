"""Accuracy against cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import altair as alt

from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.marks import WIDTH, embed_data, make_title
from omibench.stages.analyze.figures.theme import INK, SERIES, Chart
from omibench.stages.analyze.words import count_noun, name_rules

if TYPE_CHECKING:
    import polars as pl

HEIGHT: Final = 380
"""The size of the plot, in pixels."""
LINE_LETTERS: Final = 130
"""The maximum length of a subtitle line, in letters."""
WIDE: Final = 20
"""The ratio of highest to lowest cost above which the scale is logarithmic."""
_AXES: Final = {
    "dollars": "Dollars a problem",
    "output_tokens": "Generated tokens per problem",
}


def pick_cost(table: pl.DataFrame) -> str | None:
    """Select the unit of cost: dollars if all cells have a price above 0, otherwise tokens.

    Args:
        table: The result `accuracy-by-cost`.

    Returns:
        A column; None if no column is positive for every cell.
    """
    for name in _AXES:
        if table[name].null_count() == 0 and (table[name] > 0).all():
            return name
    return None


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
        {
            "name": f"{row['label']} · {row['setting_label']}",
            "cost": row[cost],
            "acc": 100 * row["estimate"],
            "lo": 100 * row["low"],
            "hi": 100 * row["high"],
            "n": row["n"],
            "frontier": place in numbers,
            "number": numbers.get(place, ""),
        }
        for place, row in enumerate(table.iter_rows(named=True))
    ]
    costs = [row["cost"] for row in rows]
    is_wide = max(costs) > WIDE * min(costs)
    scale = alt.Scale(type="log") if is_wide else alt.Scale(zero=False, padding=20)
    x = alt.X("cost:Q", title=_AXES[cost], scale=scale)
    y = alt.Y("acc:Q", title="Accuracy, %", scale=alt.Scale(zero=False))
    opacity = alt.condition("datum.frontier", alt.value(1), alt.value(0.45))
    base = alt.Chart(embed_data(rows)).encode(x=x)
    labels = alt.Chart(embed_data([row for row in rows if row["frontier"]]))
    chart = alt.layer(
        base.mark_rule(color=SERIES[0]).encode(
            y=alt.Y("lo:Q", title="Accuracy, %", scale=alt.Scale(zero=False)), y2="hi:Q",
            opacity=alt.condition("datum.frontier", alt.value(0.7), alt.value(0.2)),
        ),
        base.mark_point(color=SERIES[0]).encode(y=y, opacity=opacity),
        labels.mark_text(align="left", dx=8, dy=-6, color=INK, fontWeight="bold").encode(
            x=x, y=y, text="number:N"
        ),
    )  # fmt: skip
    return chart.properties(
        width=WIDTH,
        height=HEIGHT,
        title=make_title(
            "Accuracy and cost",
            f"by {name_rules(table['rules'][0])}; one point per cell with its interval; numbered "
            "if no other is both cheaper and more accurate:",
            *_list_names([rows[place]["name"] for place in frontier]),
            simulated=bool(table["simulated"].any()),
        ),
    )
