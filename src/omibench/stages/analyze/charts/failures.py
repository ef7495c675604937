"""The figure of responses without a scorable answer, by outcome."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from omibench.params.cell import Cell
from omibench.results.load import Results
from omibench.schemas.verdict import FAILURES
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
from omibench.stages.analyze.tables.accuracy import FailureCount, Score
from omibench.stages.analyze.words import name_outcome, name_scorer


def draw_failures(
    results: Results, failures: Sequence[FailureCount], rows: Sequence[Score]
) -> Chart:
    """Draw the share of each cell's responses without a scorable answer, by outcome.

    A study with too many cells for bars gets a heat map of all outcomes together.
    """
    cells_drawn = [s.cell for s in select_totals(rows, results.main_rules)]
    rules = results.failure_rules or results.main_rules
    drawn_failures = [f for f in failures if f.rules == rules]
    simulated = results.rests_on_simulation(rules)
    if needs_map(cells_drawn):
        return draw_cell_map(
            results,
            _sum_shares(cells_drawn, drawn_failures),
            "Responses without a scorable answer",
            f"per cent of each cell's, by {name_scorer(rules)}; outcomes are in the counts below",
            simulated=simulated,
        )
    names = [name_outcome(key) for key in FAILURES if any(f.outcome == key for f in drawn_failures)]
    data = [
        {
            "cell": row_name(results, f.cell),
            "outcome": name_outcome(f.outcome),
            "order": names.index(name_outcome(f.outcome)),
            "share": 100 * f.count / f.n,
            "count": str(f.count),
        }
        for f in drawn_failures
        if f.cell in cells_drawn
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


def _sum_shares(cells: Sequence[Cell], failures: Sequence[FailureCount]) -> dict[Cell, float]:
    """Return the per cent of failed responses of each cell."""
    shares = dict.fromkeys(cells, 0.0)
    for failure in failures:
        if failure.cell in shares:
            shares[failure.cell] += 100 * failure.count / failure.n
    return shares
