"""Accuracy against the number of examples, with the standard error over runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.curves.lines import (
    describe_rules,
    describe_selection,
    finish_lines,
    name_lines,
    pick_rules,
    scale_up,
    select_lines,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.interval_findings import count_stars
from omibench.stages.analyze.figures.marks import embed_data, encode_colour, encode_shape
from omibench.stages.analyze.figures.theme import INK

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart


@figure(
    "accuracy-by-shots",
    "accuracy-by-shots",
    "Accuracy by the number of examples",
    source="USNCO-V, figure 2; OMIBench, figure 6a",
    finding=count_stars,
)
def draw_shots(table: pl.DataFrame) -> Chart | None:
    """Draw one line per model and exam; ribbons are one standard error over runs, stars are Welch's
    test.

    Args:
        table: The result `accuracy-by-shots`.
    """
    rules = pick_rules(table)
    part = table.filter(rules=rules)
    exams = part.filter(part["value"] != "")
    rows = name_lines((part if exams.is_empty() else exams).to_dicts(), "label", "series", "value")
    if not rows:
        return None
    data = [
        row | {"below": row["estimate"] - error, "above": row["estimate"] + error}
        for row in select_lines(scale_up(rows, "estimate", "low", "high", "sem"))
        for error in [row["sem"] or 0]
    ]
    names = list(dict.fromkeys(row["line"] for row in data))
    most = max(row["shots"] for row in data)
    x = alt.X("shots:Q", title="Examples", axis=alt.Axis(tickCount=most, tickMinStep=1, format="d"))
    y = alt.Y("estimate:Q", title="Accuracy, %", scale=alt.Scale(zero=False))
    base = alt.Chart(embed_data(data)).encode(x=x, color=encode_colour("line", names, ""))
    ribbons = base.mark_area(opacity=0.2).encode(y=alt.Y("below:Q", title=""), y2="above:Q")
    chart = alt.layer(
        ribbons,
        base.mark_line(strokeWidth=1.5).encode(y=y),
        base.mark_point(size=60).encode(y=y, shape=encode_shape("line", names, "")),
        base.mark_text(dy=-12, color=INK).encode(y=y, text="stars:N", color=alt.value(INK)),
    )
    subtitle = (
        "ribbons: one standard error over runs; stars: significantly above no examples (Welch)"
    )
    return finish_lines(
        chart,
        "accuracy-by-shots",
        data,
        describe_rules(rules),
        subtitle,
        describe_selection(data, rows),
    )
