"""Types of errors as classified by judges and annotators, and shares of wrong steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.stages.analyze.figures.curves.lines import (
    count_lines,
    draw_rows,
    finish_rows,
    head_lines,
    join_names,
    mark_mixed,
    scale_up,
)
from omibench.stages.analyze.figures.figure import figure
from omibench.stages.analyze.figures.marks import embed_data, encode_colour
from omibench.stages.analyze.results.reasoning import TYPE

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart

_BY = {"judge": "by judge", "people": "by people"}


@figure(
    "error-types",
    "error-types",
    "Types of errors of failed responses",
    source="OMIBench, figure 7; EMMA, figure 5; MathReal, figure 6",
)
def draw_errors(table: pl.DataFrame) -> Chart | None:
    """Draw one bar per cell and classifier, stacked by error type.

    Args:
        table: The result `error-types`.
    """
    rows = scale_up(table.filter(slice=TYPE).to_dicts(), "estimate")
    named = mark_mixed(
        [
            {
                **row,
                "line": join_names({**row, "who": _BY[row["by"]]}, "label", "setting_label", "who"),
            }
            for row in rows
        ]
    )
    data = head_lines(named)
    if not data:
        return None
    total = dict.fromkeys(dict.fromkeys(row["value"] for row in data), 0.0)
    for row in data:
        total[row["value"]] += row["estimate"]
    types = sorted(total, key=lambda name: -total[name])
    ordered = [row | {"order": types.index(row["value"])} for row in data]
    names = list(dict.fromkeys(row["line"] for row in data))
    x = alt.X("estimate:Q", stack="zero", title="Failures, %", scale=alt.Scale(domain=[0, 100]))
    bars = (
        alt.Chart(embed_data(ordered))
        .mark_bar(height=14)
        .encode(
            y=alt.Y("line:N", sort=names, title=None, axis=alt.Axis(labelLimit=360)),
            x=x,
            order=alt.Order("order:Q"),
            color=encode_colour("value", types, ""),
        )
    )
    return finish_rows(
        alt.layer(bars), "error-types", data, "shares of classified failures", count_lines(named)
    )


@figure(
    "wrong-steps",
    "wrong-steps",
    "Steps of rationales with an error, as labelled by annotators",
    source="OMIBench, section 5",
)
def draw_wrong_steps(table: pl.DataFrame) -> Chart | None:
    """Draw the share of wrong steps, one row per cell, and one over all models of a setting.

    Args:
        table: The result `wrong-steps`.
    """
    named = mark_mixed(
        [
            {
                **row,
                "scope": "one model" if row["model"] else "all labelled models",
                "line": join_names(
                    {**row, "label": row["label"] or "all models"}, "label", "setting_label"
                ),
            }
            for row in scale_up(table.to_dicts(), "estimate", "low", "high")
        ]
    )
    data = head_lines(named)
    chart = draw_rows(data, "Wrong steps, %", "scope", scale=alt.Scale(domain=[0, 100]))
    return finish_rows(chart, "wrong-steps", data, count_lines(named))
