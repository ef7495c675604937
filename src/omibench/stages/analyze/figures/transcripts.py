"""OCR accuracy against answer accuracy, one point per model and setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.marks import (
    WIDTH,
    embed_data,
    encode_colour,
    encode_shape,
    make_title,
)
from omibench.stages.analyze.figures.theme import Chart

if TYPE_CHECKING:
    import polars as pl

HEIGHT = 360
MEASURES = {"accocr": "OCR accuracy (AccOCR), %", "lexical": "Characters kept (1 - Levenshtein), %"}


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
    columns = ("estimate", "low", "high", "ocr")
    data = [
        {"model": row["model"], "setting": row["setting"]}
        | {name: 100 * row[name] for name in columns}
        for row in table.rows(named=True)
    ]
    if not data:
        return None
    names = list(dict.fromkeys(row["setting"] for row in data))
    x = alt.X("ocr:Q", title=MEASURES[table["measure"][0]], scale=alt.Scale(zero=False, padding=40))
    y = alt.Y("estimate:Q", title="Accuracy, %", scale=alt.Scale(domain=[0, 100]))
    base = alt.Chart(embed_data(data)).encode(x=x)
    colour = encode_colour("setting", names, "Setting")
    lines = base.mark_rule(opacity=0.4).encode(y=alt.Y("low:Q", title="Accuracy, %"), y2="high:Q")
    points = base.mark_point().encode(
        y=y, color=colour, shape=encode_shape("setting", names, "Setting")
    )
    tops = {row["model"]: row for row in sorted(data, key=lambda row: row["high"])}
    labels = (
        alt.Chart(embed_data(list(tops.values())))
        .mark_text(baseline="bottom", dy=-4, fontSize=10)
        .encode(x=x, y=alt.Y("high:Q", title="Accuracy, %"), text="model:N")
    )
    heading = make_title(
        "Answer accuracy against OCR accuracy",
        "one point per model and setting; lines are intervals of accuracy",
        simulated=bool(table["simulated"].any()),
    )
    return alt.layer(lines, points, labels).properties(width=WIDTH, height=HEIGHT, title=heading)
