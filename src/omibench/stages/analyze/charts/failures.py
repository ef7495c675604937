"""The figure of failures by outcome."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from omibench.results.load import Results
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.charts.marks import (
    WIDTH,
    colour_of,
    data_of,
    leading,
    row_name,
    title_of,
    totals_of,
    which,
)
from omibench.stages.analyze.charts.theme import Chart
from omibench.stages.analyze.tables.accuracy import FailureCount, Score
from omibench.stages.analyze.words import outcome_name, scored_by


def draw_failures(
    results: Results, failures: Sequence[FailureCount], rows: Sequence[Score]
) -> Chart:
    """Responses that hold no scorable answer, by outcome, as a share of each cell's."""
    whole = totals_of(rows, results.main_rules)
    kept = [s.cell for s in leading(whole)]
    rules = results.failure_rules or results.main_rules
    own = [f for f in failures if f.rules == rules]
    names = [outcome_name(key) for key in FAILURES if any(f.outcome == key for f in own)]
    data = [
        {
            "cell": row_name(results, f.cell),
            "outcome": outcome_name(f.outcome),
            "order": names.index(outcome_name(f.outcome)),
            "share": 100 * f.count / f.n,
            "count": str(f.count),
        }
        for f in own
        if f.cell in kept
    ]
    cells = [row_name(results, cell) for cell in kept]
    base = alt.Chart(data_of(data)).encode(
        y=alt.Y("cell:N", sort=cells, scale=alt.Scale(domain=cells), title=None),
        x=alt.X("share:Q", stack="zero", title="Responses without a scorable answer, %"),
        order=alt.Order("order:Q"),
    )
    bars = base.mark_bar(height=14).encode(color=colour_of("outcome", names, "Outcome"))
    return alt.layer(bars).properties(
        width=WIDTH,
        height={"step": 22},
        title=title_of(
            "Failures by outcome",
            ": ".join(filter(None, [f"by {scored_by(rules)}", which(whole)])),
            simulated=results.rests_on_simulation(rules),
        ),
    )
