"""The figure of scorers and judge on the same responses."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from omibench.params.cell import Cell
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.charts.marks import (
    MOST_ROWS,
    WIDTH,
    embed_data,
    encode_colour,
    encode_shape,
    make_title,
    row_name,
    rules_label,
)
from omibench.stages.analyze.charts.theme import Chart
from omibench.stages.analyze.claims import Row, find_cell
from omibench.stages.analyze.results.accuracy import TOTAL


def draw_rules(analysis: Analysis) -> Chart:
    """Draw the same responses under every scorer and the judge, one row per cell.

    A study with too many cells shows those with the largest differences.
    """
    results = analysis.results
    totals = analysis.scores.filter(subject=TOTAL).to_dicts()
    cells_drawn = _select_disputed(totals)
    cells = list(dict.fromkeys(map(find_cell, totals)))
    selection = f"the {MOST_ROWS} of {len(cells)} cells of which they differ most"
    names = [rules_label(results, r) for r in results.rules]
    data = [
        {
            "cell": row_name(results, find_cell(row)),
            "rules": rules_label(results, row["rules"]),
            "acc": 100 * row["estimate"],
        }
        for row in totals
        if find_cell(row) in cells_drawn
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
        height={"step": 8},
        title=make_title(
            "Scorers and judge on the same responses",
            selection if len(cells) > MOST_ROWS else "one row per cell",
            simulated=results.any_simulated,
        ),
    )


def _select_disputed(totals: Sequence[Row]) -> set[Cell]:
    """Return the cells with the largest distance between their totals, as many as a figure fits."""
    means: dict[Cell, list[float]] = {}
    for row in totals:
        means.setdefault(find_cell(row), []).append(row["estimate"])
    ranked = sorted(means, key=lambda cell: min(means[cell]) - max(means[cell]))
    return set(ranked[:MOST_ROWS])
