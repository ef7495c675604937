"""A study's tables in the layout of a paper's, as plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import altair as alt

from omibench.papers.export.wide_tables import WideTable, join_names
from omibench.stages.analyze.figures.charts import (
    LINE_HEIGHT,
    Row,
    draw_squares,
    encode_colour,
    encode_names,
    encode_shape,
    finish,
    list_distinct,
    make_chart,
    per_cent,
)
from omibench.stages.analyze.figures.differences import FALL, RISE
from omibench.stages.analyze.figures.theme import INK, MUTED, SERIES, Chart

_APART: Final = 22
"""Pixels from the middle of a bar to its points on the right, and to its number on the left."""


def draw_page(page: WideTable, title: str, how: str) -> Chart:
    """Draw the numbers of a printed table, in its order.

    Args:
        page: The table.
        title: The title of the figure.
        how: `dots`, `differences` or `means`.

    Returns:
        A dot for each number, coloured by column; a heat map of differences, coloured by sign; or a
        bar for the mean of each column, with the numbers as points.
    """
    rows: list[Row] = [
        {
            "row": join_names(row),
            "column": join_names(column),
            "estimate": number.estimate * page.factor,
            "text": page.format(number, intervals=False),
            "is_mean": row[0] == page.view.mean,
            "simulated": number.simulated,
        }
        for row in page.rows
        for column in page.columns
        if (number := page.cells.get((row, column))) is not None
    ]
    columns = list_distinct(rows, "column")
    if how == "differences":
        colour = alt.condition("datum.estimate < 0", alt.value(FALL), alt.value(RISE))
        share = ", and per cent of the baseline" if page.view.change else ""
        note = f"percentage points{share}; blue: decrease, orange: increase"
        return finish(draw_squares(rows, colour), title, note, of=rows, step=26)
    if how == "means":
        note = f"bars: {page.view.mean}; points: {_count_rows(rows)}"
        return finish(_draw_means(rows, columns), title, note, of=rows, height=LINE_HEIGHT)
    chart = (
        make_chart(rows)
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("estimate:Q", title="per cent" if page.view.percent else None),
            y=encode_names("row", list_distinct(rows, "row")),
            color=encode_colour("column", columns, ""),
            shape=encode_shape("column", columns, ""),
        )
    )
    return finish(chart, title, of=rows)


def _count_rows(rows: Sequence[Row]) -> str:
    names = list_distinct((row for row in rows if not row["is_mean"]), "row")
    return names[0] if len(names) == 1 else f"each of the {len(names)} rows of the table"


def _draw_means(rows: Sequence[Row], columns: Sequence[str]) -> Chart:
    """Draw a bar with its number for the mean of each column, and the column's numbers on it."""
    x = alt.X("column:N", sort=list(columns), title=None, axis=alt.Axis(labelAngle=0))
    y = alt.Y("estimate:Q", **per_cent())
    means = make_chart(row for row in rows if row["is_mean"]).encode(x=x, y=y)
    points = make_chart(row for row in rows if not row["is_mean"]).encode(x=x, y=y)
    return alt.layer(
        means.mark_bar(width=alt.RelativeBandSize(band=0.6), color=SERIES[0], opacity=0.6),
        points.mark_point(color=MUTED, size=30, opacity=0.6, xOffset=_APART),
        means.mark_text(dy=-8, dx=-_APART, color=INK, fontWeight="bold").encode(text="text:N"),
    )
