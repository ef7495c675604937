"""The figure of rule books and judge on the same responses."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from omibench.results.load import Results
from omibench.stages.analyze.charts.marks import (
    WIDTH,
    describe_selection,
    embed_data,
    encode_colour,
    encode_shape,
    make_title,
    row_name,
    rules_label,
    select_leading,
    select_totals,
)
from omibench.stages.analyze.charts.theme import Chart
from omibench.stages.analyze.tables.accuracy import TOTAL, Score


def draw_rules(results: Results, rows: Sequence[Score]) -> Chart:
    """The same responses under every rule book and the judge, a row a cell."""
    totals = select_totals(rows, results.main_rules)
    cells_drawn = [s.cell for s in select_leading(totals)]
    names = [rules_label(results, r) for r in results.rules]
    data = [
        {
            "cell": row_name(results, s.cell),
            "rules": rules_label(results, s.rules),
            "acc": 100 * s.acc.mean,
        }
        for s in rows
        if s.subject == TOTAL and s.cell in cells_drawn
    ]
    base = alt.Chart(embed_data(data)).encode(
        y=alt.Y("cell:N", sort=None, title=None, axis=alt.Axis(grid=True)),
        yOffset=alt.YOffset("rules:N", sort=names),
    )
    marks = base.mark_point(size=60).encode(
        x=alt.X("acc:Q", title="Right, %", scale=alt.Scale(domain=[0, 100])),
        color=encode_colour("rules", names, "Scored by"),
        shape=encode_shape("rules", names, "Scored by"),
    )
    return alt.layer(marks).properties(
        width=WIDTH,
        height={"step": 10},
        title=make_title(
            "Rule books and judge on the same responses",
            ": ".join(filter(None, ["one row a cell", describe_selection(totals)])),
            simulated=results.any_simulated,
        ),
    )
