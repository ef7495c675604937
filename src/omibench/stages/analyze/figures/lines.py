"""Figures of lines, each with its name at its end or in a legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import polars as pl

from omibench.stages.analyze.figures.charts import (
    MOST_LINES,
    Row,
    describe_rules,
    finish_lines,
    list_distinct,
    make_chart,
    name_accuracy,
    name_lines,
    pick_rules,
    scale_up,
    select_lines,
)
from omibench.stages.analyze.figures.labels import LineMarks, encode_lines, label_lines
from omibench.stages.analyze.figures.theme import Chart


def draw_lines(rows: Sequence[Row], x: alt.X, y: alt.Y, marks: LineMarks) -> Chart:
    """Draw a line with points for each `line`, with intervals as rules.

    Args:
        rows: Rows with `line`, in the order of the lines.
        x: Encoding of the horizontal position.
        y: Encoding of `estimate`.
        marks: Encoding of the lines.
    """
    base = make_chart(rows).encode(x=x, color=marks.colour)
    return alt.layer(
        base.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
        base.mark_line(strokeWidth=1.5).encode(y=y),
        base.mark_point(size=60).encode(y=y, shape=marks.shape),
    )


def draw_curves(  # noqa: PLR0913 (what differs between figures is a keyword)
    title: str,
    table: pl.DataFrame,
    lines: Sequence[str],
    place: Callable[[Sequence[Row]], alt.X],
    note: Callable[[Sequence[Row]], str] = lambda rows: "",
    *,
    axis: str = "",
    most: int = MOST_LINES,
    draw: Callable[[Sequence[Row], alt.X, alt.Y, LineMarks], Chart] = draw_lines,
    **scale: Any,
) -> Chart | None:
    """Draw a whole figure of curves by the scorer of `pick_rules`.

    Args:
        title: Title of the figure.
        table: Rows with the position on the curve, in its order.
        lines: Columns that define a line.
        place: Returns the encoding of the horizontal position of the drawn rows.
        note: Returns a phrase on the drawn rows, below the title.
        axis: Title of the vertical axis; empty for accuracies, which are shares.
        most: Maximum number of lines.
        draw: Draws the rows.
        scale: Options of the vertical scale.

    Returns:
        The figure; None without rows.
    """
    rules = pick_rules(table)
    rows = name_lines(table.filter(rules=rules).to_dicts(), *lines)
    if not rows:
        return None
    data, selection = select_lines(rows if axis else scale_up(rows), most)
    title_y = axis or f"{name_accuracy(rules)}, %"
    y = alt.Y("estimate:Q", title=title_y, scale=alt.Scale(**scale) if scale else alt.Undefined)
    x, marks = place(data), encode_lines(list_distinct(data, "line"))
    chart = label_lines(draw(data, x, y, marks), data, x, marks, scale=scale)
    return finish_lines(chart, title, data, describe_rules(rules), note(data), selection)
