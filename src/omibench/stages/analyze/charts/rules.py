"""The figure of rule books and judge on the same responses."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from omibench.results.load import Results
from omibench.stages.analyze.charts.marks import (
    WIDTH,
    colour_of,
    data_of,
    leading,
    row_name,
    rules_label,
    shape_of,
    title_of,
    totals_of,
    which,
)
from omibench.stages.analyze.charts.theme import Chart
from omibench.stages.analyze.tables.accuracy import TOTAL, Score


def draw_rules(results: Results, rows: Sequence[Score]) -> Chart:
    """The same responses under every rule book and the judge, a row a cell."""
    whole = totals_of(rows, results.main_rules)
    kept = [s.cell for s in leading(whole)]
    names = [rules_label(results, r) for r in results.rules]
    data = [
        {
            "cell": row_name(results, s.cell),
            "rules": rules_label(results, s.rules),
            "acc": 100 * s.acc.mean,
        }
        for s in rows
        if s.subject == TOTAL and s.cell in kept
    ]
    base = alt.Chart(data_of(data)).encode(
        y=alt.Y("cell:N", sort=None, title=None, axis=alt.Axis(grid=True)),
        yOffset=alt.YOffset("rules:N", sort=names),
    )
    marks = base.mark_point(size=60).encode(
        x=alt.X("acc:Q", title="Right, %", scale=alt.Scale(domain=[0, 100])),
        color=colour_of("rules", names, "Scored by"),
        shape=shape_of("rules", names, "Scored by"),
    )
    return alt.layer(marks).properties(
        width=WIDTH,
        height={"step": 10},
        title=title_of(
            "Rule books and judge on the same responses",
            ": ".join(filter(None, ["one row a cell", which(whole)])),
            simulated=results.any_simulated,
        ),
    )
