"""The figure of accuracy by model and setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omibench.stages.analyze.claims import runner_up_sentence
from omibench.stages.analyze.sections.section import ReportFigure, ReportSection, section


@section("accuracy")
class AccuracySection(ReportSection):
    """Every cell's total with its interval."""

    title = "Accuracy by model and setting"
    numbers = "main"
    template = "sections/figure.html.j2"

    def figure(self) -> ReportFigure:
        """A row a model, a colour a setting."""
        from omibench.stages.analyze.charts.accuracy import draw_accuracy

        scores = self.analysis.scores
        chart = draw_accuracy(self.results, scores)
        return ReportFigure.draw(chart, runner_up_sentence(self.results, scores))

    def view(self) -> Mapping[str, Any]:
        """Nothing besides the figure."""
        return {}
