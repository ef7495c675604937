"""Responses without an answer, by outcome: a figure, and the counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.claims import failures_sentence
from omibench.stages.analyze.sections.section import (
    ReportFigure,
    ReportSection,
    ReportTable,
    section,
)
from omibench.stages.analyze.tables.accuracy import TOTAL, failure_records
from omibench.stages.analyze.words import describe_cell, name_outcome, name_scorer

COLUMNS = (
    "model", "label", "group", "setting", "rules", "outcome", "count", "n", "share", "simulated",
)  # fmt: skip


@section("failures")
class FailuresSection(ReportSection):
    """The section on failures under the scorer that detects them; left out if there are none."""

    title = "Responses without an answer"
    numbers = "failures"
    template = "sections/failures.html.j2"

    def tables(self) -> Iterable[ReportTable]:
        """Return `failures.csv`: every outcome of every cell under every scorer."""
        rows = failure_records(self.results, self.analysis.failure_counts)
        yield ReportTable("failures", rows, COLUMNS)

    def figure(self) -> ReportFigure:
        """Draw one bar per cell, one colour per outcome."""
        from omibench.stages.analyze.charts.failures import draw_failures

        analysis, results = self.analysis, self.results
        chart = draw_failures(results, analysis.failure_counts, analysis.scores)
        return ReportFigure.draw(chart, failures_sentence(results, analysis.scores))

    def view(self) -> Mapping[str, Any] | None:
        """Return the counts of every cell."""
        results = self.results
        rules = results.failure_rules
        counts = {
            (failure.cell, failure.outcome): failure.count
            for failure in self.analysis.failure_counts
            if failure.rules == rules
        }
        if rules is None or not counts:
            return None
        responses = {
            score.cell: score.responses
            for score in self.analysis.scores
            if score.rules == rules and score.subject == TOTAL
        }
        occurring = {outcome for _, outcome in counts}
        outcomes = [outcome for outcome in FAILURES if outcome in occurring]
        return {
            "simulated": results.rests_on_simulation(rules),
            "scored_by": name_scorer(rules),
            "outcomes": [name_outcome(outcome) for outcome in outcomes],
            "rows": [
                {
                    **describe_cell(results, cell),
                    "counts": [counts.get((cell, outcome), 0) for outcome in outcomes],
                    "n": responses.get(cell, 0),
                }
                for cell in results.cells
            ],
        }
