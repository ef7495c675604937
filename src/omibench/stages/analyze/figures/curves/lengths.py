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

    from omibench.stages.analyze.charts.theme import Chart

_WORDS = {
    "characters": "characters of the visible text",
    "output_tokens": "tokens that were generated",
    "reasoning_tokens": "tokens of thinking",
}
_MOST_CELLS = 8
"""Lines that can be told apart where all of them cross."""
_CELL = ("label", "setting_label")
_COMPARE = compare_ends("bin", "longest responses", ("model", "setting"))


def _pick_measure(table: pl.DataFrame) -> str:
    """The measure of length that is drawn: tokens where they were counted."""
    return "output_tokens" if "output_tokens" in set(table["slice"]) else "characters"


@figure(
    "accuracy-by-length",
    "accuracy-by-length",
    "Accuracy by the length of responses",
    finding=lambda table: _COMPARE(table.filter(slice=_pick_measure(table))),
)
def draw_lengths(table: pl.DataFrame) -> Chart | None:
    """Draw a line a cell through its bins, at their mean length in tokens, else in characters.

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
    subtitle = "five bins of equally many responses of a cell"
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
    "How far being right goes with a long response",
    finding=count_gains("spearman", "rank correlation", "of length and being right"),
)
def draw_correlations(table: pl.DataFrame) -> Chart | None:
    """Draw Spearman's correlation of length and verdict, a row a cell, a colour a measure.

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
