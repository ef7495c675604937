"""Charts of printed tables, for figures that show the numbers of a table."""

from __future__ import annotations

import altair as alt

from omibench.papers.export.wide_tables import WideTable, join_names
from omibench.stages.analyze.figures.charts import (
    Row,
    draw_squares,
    encode_colour,
    encode_names,
    encode_shape,
    finish,
    list_distinct,
    make_chart,
)
from omibench.stages.analyze.figures.differences import FALL, RISE
from omibench.stages.analyze.figures.theme import Chart


def draw_page(page: WideTable, title: str, how: str) -> Chart:
    """Draw the numbers of a printed table, in its order.

    Args:
        page: The table.
        title: The title of the figure.
        how: `dots` or `differences`.

    Returns:
        A dot for each number, coloured by column; or a heat map of differences, coloured by sign.
    """
    rows: list[Row] = [
        {
            "row": join_names(row),
            "column": join_names(column),
            "estimate": number.estimate * page.factor,
            "text": page.format(number, intervals=False),
            "simulated": number.simulated,
        }
        for row in page.rows
        for column in page.columns
        if (number := page.cells.get((row, column))) is not None
    ]
    if how == "differences":
        colour = alt.condition("datum.estimate < 0", alt.value(FALL), alt.value(RISE))
        note = "percentage points; blue: decrease, orange: increase"
        return finish(draw_squares(rows, colour), title, note, of=rows, step=26)
    columns = list_distinct(rows, "column")
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
