"""The figure of responses without a scorable answer, by outcome."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from omibench.params.cell import Cell
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.charts.cell_map import draw_cell_map, needs_map
from omibench.stages.analyze.charts.marks import (
    WIDTH,
    embed_data,
    encode_colour,
    make_title,
    row_name,
    select_totals,
)
from omibench.stages.analyze.charts.theme import Chart
from omibench.stages.analyze.claims import Row, find_cell
from omibench.stages.analyze.words import name_outcome, name_scorer


def draw_failures(analysis: Analysis) -> Chart:
    """Draw the share of each cell's responses without a scorable answer, by outcome.

    A study with too many cells for bars gets a heat map of all outcomes together.
    """
    results = analysis.results
    cells_drawn = [find_cell(row) for row in select_totals(analysis, results.main_rules)]
    rules = results.failure_rules or results.main_rules
    counts = analysis.rows("outcomes").filter(rules=rules).to_dicts()
    failures = [row for row in counts if row["value"] in FAILURES]
    simulated = results.rests_on_simulation(rules)
    if needs_map(cells_drawn):
        return draw_cell_map(
            results,
            _sum_shares(cells_drawn, failures),
            "Responses without a scorable answer",
            f"per cent of each cell's, by {name_scorer(rules)}; outcomes are in the counts below",
            simulated=simulated,
        )
    names = [name_outcome(key) for key in FAILURES if any(row["value"] == key for row in failures)]
    data = [
        {
            "cell": row_name(results, find_cell(row)),
            "outcome": name_outcome(row["value"]),
            "order": names.index(name_outcome(row["value"])),
            "share": 100 * row["count"] / row["n"],
            "count": str(row["count"]),
        }
        for row in failures
        if find_cell(row) in cells_drawn
    ]
    cells = [row_name(results, cell) for cell in cells_drawn]
    base = alt.Chart(embed_data(data)).encode(
        y=alt.Y("cell:N", sort=cells, scale=alt.Scale(domain=cells), title=None),
        x=alt.X("share:Q", stack="zero", title="Responses without a scorable answer, %"),
        order=alt.Order("order:Q"),
    )
    bars = base.mark_bar(height=14).encode(color=encode_colour("outcome", names, "Outcome"))
    return alt.layer(bars).properties(
        width=WIDTH,
        height={"step": 22},
        title=make_title(
            "Failures by outcome",
            f"by {name_scorer(rules)}",
            simulated=simulated,
        ),
    )


def _sum_shares(cells: Sequence[Cell], failures: Sequence[Row]) -> dict[Cell, float]:
    """Return the per cent of failed responses of each cell."""
    shares = dict.fromkeys(cells, 0.0)
    for row in failures:
        if find_cell(row) in shares:
            shares[find_cell(row)] += 100 * row["count"] / row["n"]
    return shares
