"""The figure of accuracy by model and setting."""

from __future__ import annotations

import altair as alt

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.charts.cell_map import draw_cell_map, needs_map
from omibench.stages.analyze.charts.marks import (
    WIDTH,
    embed_data,
    encode_colour,
    encode_shape,
    make_title,
    model_name,
    per_cent,
    select_totals,
)
from omibench.stages.analyze.charts.theme import Chart
from omibench.stages.analyze.claims import find_cell
from omibench.stages.analyze.words import format_level, name_scorer

_APART = "\u241f"
"""Separates the parts of a row's name; only the first is shown."""
_NAMES = 300
"""The maximum width of model names left of a chart, in pixels."""


def draw_accuracy(analysis: Analysis) -> Chart:
    """Draw accuracy with intervals: one row per model, one colour and shape per setting.

    If most models have few of the settings, each cell has its own row instead, with the model's
    name in the first one. A study with too many cells or settings gets a heat map.
    """
    results = analysis.results
    totals = [(find_cell(row), row) for row in select_totals(analysis, results.main_rules)]
    described_rules = f"by {name_scorer(results.main_rules)}"
    if needs_map([cell for cell, _ in totals]):
        shares = {cell: 100 * row["estimate"] for cell, row in totals}
        return draw_cell_map(
            results,
            shares,
            "Accuracy by model and setting",
            f"per cent, {described_rules}; intervals are in the table",
            simulated=results.main_simulated,
        )
    settings = list(dict.fromkeys(cell.setting for cell, _ in totals))
    models = list(dict.fromkeys(cell.model for cell, _ in totals))
    sparse = 2 * len(totals) < len(models) * len(settings)
    data = [
        {
            "model": model_name(results, model),
            "row": _APART.join(["" if i else model_name(results, model), model, str(i)]),
            "setting": results.setting_label(setting),
            **per_cent(row),
        }
        for model in models
        for i, (setting, row) in enumerate(
            (cell.setting, row) for cell, row in totals if cell.model == model
        )
    ]
    names = [results.setting_label(s) for s in settings]
    named = alt.Axis(labelExpr=f"split(datum.label, '{_APART}')[0]", ticks=False, labelPadding=8)
    base = alt.Chart(embed_data(data)).encode(
        color=encode_colour("setting", names, "Setting", WIDTH - _NAMES),
    )
    base = (
        base.encode(y=alt.Y("row:N", sort=None, title=None, axis=named))
        if sparse
        else base.encode(
            y=alt.Y("model:N", sort=None, title=None),
            yOffset=alt.YOffset("setting:N", sort=names),
        )
    )
    marks = base.mark_point().encode(
        x=alt.X("acc:Q", title="Accuracy, %", scale=alt.Scale(domain=[0, 100])),
        shape=encode_shape("setting", names, "Setting"),
    )
    whiskers = base.mark_rule(strokeWidth=2.5, opacity=0.55).encode(x="lo:Q", x2="hi:Q")
    return alt.layer(whiskers, marks).properties(
        width=WIDTH,
        height={"step": 19},
        title=make_title(
            "Accuracy by model and setting",
            f"{described_rules}, {format_level(results.study.analyze.confidence)} intervals",
            simulated=results.main_simulated,
        ),
    )
