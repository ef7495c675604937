"""Marks of rationales by model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from omibench.schemas.marks import HIGHEST_MARK, LOWEST_MARK
from omibench.stages.analyze.figures.curves.lines import (
    count_lines,
    draw_rows,
    finish_rows,
    head_lines,
    name_lines,
)
from omibench.stages.analyze.figures.figure import figure

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.theme import Chart

_DRAWN = {"overall": "quality, overall", "alignment": "alignment with the reference"}


@figure(
    "rationale-marks",
    "rationale-marks",
    "Quality of rationales and their alignment with the reference",
    source="OMIBench, B.2",
)
def draw_marks(table: pl.DataFrame) -> Chart | None:
    """Draw the overall mark and the alignment of each cell, with intervals.

    Args:
        table: The result `rationale-marks`.
    """
    rows = table.filter(table["metric"].is_in(list(_DRAWN)) & table["estimate"].is_not_null())
    named = name_lines(rows.to_dicts(), "label", "setting_label")
    data = [row | {"mark": _DRAWN[row["metric"]]} for row in head_lines(named)]
    if not data:
        return None
    scale = alt.Scale(domain=[LOWEST_MARK, HIGHEST_MARK], nice=False, zero=False)
    chart = draw_rows(data, "Mean mark, 1 to 5", "mark", scale=scale)
    return finish_rows(chart, "rationale-marks", data, count_lines(named))
