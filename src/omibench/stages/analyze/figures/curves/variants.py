"""Thinking models and instruct models of the same size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.curves.lines import (
    count_lines,
    describe_rules,
    finish_rows,
    head_lines,
    name_lines,
    pick_rules,
    scale_up,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.findings import count_differences
from omibench.stages.analyze.figures.marks import embed_data, encode_colour, encode_shape
from omibench.stages.analyze.figures.theme import MUTED

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart

_SIDES = {"baseline_score": "instruct", "score": "thinking"}
_MEASURES = ("accuracy", "gptscore")


@figure(
    "thinking-gains",
    "thinking-gains",
    "Thinking and instruct models of the same size",
    source="OMIBench, figure 4c and table 4",
    finding=lambda table: count_differences(table.filter(rules=pick_rules(table))),
)
def draw_variants(table: pl.DataFrame) -> Chart | None:
    """Draw one row per pair and setting: the accuracy of both models, joined by a line.

    Args:
        table: The result `thinking-gains`.
    """
    rules = pick_rules(table)
    part = table.filter(table["measure"].is_in(_MEASURES), rules=rules, slice="")
    rows = scale_up(part.to_dicts(), *_SIDES)
    named = name_lines(rows, "label", "setting")
    data = head_lines(named)
    if not data:
        return None
    points = [
        {"line": row["line"], "estimate": row[column], "model": side}
        for row in data
        for column, side in _SIDES.items()
    ]
    names = list(dict.fromkeys(row["line"] for row in data))
    y = alt.Y("line:N", sort=names, title=None, axis=alt.Axis(grid=True, labelLimit=360))
    x = alt.X("estimate:Q", title="Accuracy, %")
    sides = list(_SIDES.values())
    colour, shape = encode_colour("model", sides, ""), encode_shape("model", sides, "")
    chart = alt.layer(
        alt.Chart(embed_data(data))
        .mark_rule(color=MUTED)
        .encode(y=y, x=alt.X("baseline_score:Q", title="Accuracy, %"), x2="score:Q"),
        alt.Chart(embed_data(points))
        .mark_point(size=70)
        .encode(y=y, x=x, color=colour, shape=shape),
    )
    return finish_rows(chart, "thinking-gains", data, describe_rules(rules), count_lines(named))
