"""The figure of accuracy by model and setting."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from omibench.results.load import Results
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
from omibench.stages.analyze.tables.accuracy import Score
from omibench.stages.analyze.words import format_level, name_scorer

_APART = "\u241f"
"""Separates the parts of a row's name; only the first is shown."""
_NAMES = 300
"""The maximum width of model names left of a chart, in pixels."""


def draw_accuracy(results: Results, rows: Sequence[Score]) -> Chart:
    """Draw accuracy with intervals: one row per model, one colour and shape per setting.

    If most models have few of the settings, each cell has its own row instead, with the model's
    name in the first one. A study with too many cells or settings gets a heat map.
    """
    totals = select_totals(rows, results.main_rules)
    described_rules = f"by {name_scorer(results.main_rules)}"
    if needs_map([s.cell for s in totals]):
        shares = {s.cell: 100 * s.acc.mean for s in totals}
        return draw_cell_map(
            results,
            shares,
            "Accuracy by model and setting",
            f"per cent, {described_rules}; intervals are in the table",
            simulated=results.main_simulated,
        )
    settings = list(dict.fromkeys(s.cell.setting for s in totals))
    models = list(dict.fromkeys(s.cell.model for s in totals))
    sparse = 2 * len(totals) < len(models) * len(settings)
    data = [
        {
            "model": model_name(results, model),
            "row": _APART.join(["" if i else model_name(results, model), model, str(i)]),
            "setting": results.setting_label(s.cell.setting),
            **per_cent(s.acc),
        }
        for model in models
        for i, s in enumerate(s for s in totals if s.cell.model == model)
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
