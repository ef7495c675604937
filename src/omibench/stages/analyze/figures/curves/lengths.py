"""Accuracy of short and long responses, within each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.curves.lines import (
    count_lines,
    describe_rules,
    describe_selection,
    draw_lines,
    draw_rows,
    finish_lines,
    finish_rows,
    head_lines,
    name_lines,
    pick_rules,
    scale_up,
    select_lines,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.interval_findings import compare_ends, count_gains

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart

_WORDS = {
    "characters": "characters of the visible text",
    "output_tokens": "generated tokens",
    "reasoning_tokens": "reasoning tokens",
}
_MOST_CELLS = 8
"""The number of lines that stay distinguishable if all cross."""
_CELL = ("label", "setting_label")
_COMPARE = compare_ends("bin", "longest responses", ("model", "setting"))


def _pick_measure(table: pl.DataFrame) -> str:
    """Return the measure of length to draw: tokens if they were counted."""
    return "output_tokens" if "output_tokens" in set(table["slice"]) else "characters"


@figure(
    "accuracy-by-length",
    "accuracy-by-length",
    "Accuracy by the length of responses",
    finding=lambda table: _COMPARE(table.filter(slice=_pick_measure(table))),
)
def draw_lengths(table: pl.DataFrame) -> Chart | None:
    """Draw one line per cell through its bins, at their mean length in tokens, or in characters if
    tokens are unknown.

    Args:
        table: The result `accuracy-by-length`.
    """
    rules = pick_rules(table)
    measure = _pick_measure(table)
    part = table.filter(table["mean_length"] > 0, rules=rules, slice=measure)
    rows = name_lines(part.to_dicts(), *_CELL)
    if not rows:
        return None
    data = select_lines(scale_up(rows, "estimate", "low", "high"), _MOST_CELLS)
    scale = alt.Scale(type="log", nice=False)
    x = alt.X("mean_length:Q", title=f"Mean number of {_WORDS[measure]}", scale=scale)
    chart = draw_lines(data, x, alt.Y("estimate:Q", title="Accuracy, %"))
    subtitle = "five bins of each cell with equal numbers of responses"
    return finish_lines(
        chart,
        "accuracy-by-length",
        data,
        describe_rules(rules),
        subtitle,
        describe_selection(data, rows),
    )


@figure(
    "length-correlations",
    "length-correlations",
    "Correlation of correctness and length of responses",
    finding=count_gains("spearman", "rank correlation", "of length and correctness"),
)
def draw_correlations(table: pl.DataFrame) -> Chart | None:
    """Draw Spearman's correlation of length and verdict, one row per cell, one colour per measure.

    Args:
        table: The result `length-correlations`.
    """
    rows = name_lines(table.filter(metric="spearman").to_dicts(), *_CELL)
    if not rows:
        return None
    data = head_lines([row | {"measure": _WORDS[row["slice"]]} for row in rows])
    scale = alt.Scale(domain=[-1, 1])
    chart = draw_rows(data, "Spearman's correlation", "measure", "Length in", scale)
    return finish_rows(chart, "length-correlations", data, count_lines(rows))
