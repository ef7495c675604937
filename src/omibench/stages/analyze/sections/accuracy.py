"""The figure of accuracy by model and setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omibench.stages.analyze.claims import runner_up_sentence
from omibench.stages.analyze.sections.section import ReportFigure, ReportSection, section


@section("accuracy")
class AccuracySection(ReportSection):
    """The section with every cell's total and interval."""

    title = "Accuracy by model and setting"
    numbers = "main"
    template = "sections/figure.html.j2"

    def figure(self) -> ReportFigure:
        """Draw one row per model, one colour per setting."""
        from omibench.stages.analyze.charts.accuracy import draw_accuracy

        scores = self.analysis.scores
        chart = draw_accuracy(self.results, scores)
        return ReportFigure.draw(chart, runner_up_sentence(self.results, scores))

    def view(self) -> Mapping[str, Any]:
        """Return nothing besides the figure."""
        return {}
