"""Accuracy and used tokens against the token budget of a response."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.curves.lines import (
    describe_rules,
    describe_selection,
    draw_lines,
    finish_lines,
    name_lines,
    pick_rules,
    scale_up,
    select_lines,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.interval_findings import compare_ends

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart

_LINE = ("label", "series")
_LINE_KEYS = ("model", "series")


@figure(
    "accuracy-by-budget",
    "accuracy-by-budget",
    "Accuracy by token budget of a response",
    source="OMIBench, figure 5a",
    finding=compare_ends("budget", "largest budget", _LINE_KEYS),
)
def draw_budgets(table: pl.DataFrame) -> Chart | None:
    """Draw one line per model over budgets, on a log2 scale.

    Args:
        table: The result `accuracy-by-budget`.
    """
    rules = pick_rules(table)
    rows = name_lines(table.filter(rules=rules).to_dicts(), *_LINE)
    if not rows:
        return None
    data = select_lines(scale_up(rows, "estimate", "low", "high"))
    chart = draw_lines(data, _scale_budgets(data), alt.Y("estimate:Q", title="Accuracy, %"))
    return finish_lines(
        chart, "accuracy-by-budget", data, describe_rules(rules), describe_selection(data, rows)
    )


@figure(
    "tokens-by-budget",
    "accuracy-by-budget",
    "Tokens used by token budget of a response",
    source="OMIBench, H.1",
)
def draw_tokens(table: pl.DataFrame) -> Chart | None:
    """Draw one line per model: the mean number of generated tokens at each budget.

    Args:
        table: The result `accuracy-by-budget`.
    """
    rows = name_lines(table.filter(metric="tokens").to_dicts(), *_LINE)
    if not rows:
        return None
    data = select_lines(rows)
    y = alt.Y("estimate:Q", title="Mean tokens of a response", scale=alt.Scale(zero=True))
    return finish_lines(
        draw_lines(data, _scale_budgets(data), y),
        "tokens-by-budget",
        data,
        describe_selection(data, rows),
    )


def _scale_budgets(data: list[dict[str, object]]) -> alt.X:
    budgets = sorted({int(str(row["budget"])) for row in data})
    scale = alt.Scale(type="log", base=2, domain=[budgets[0], budgets[-1]], nice=False)
    axis = alt.Axis(values=budgets, format=",d")
    return alt.X("budget:Q", title="Maximum of new tokens", scale=scale, axis=axis)
