"""Section `settings-per-model`: how many settings each model was evaluated under."""

from __future__ import annotations

from collections.abc import Iterable

from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section


@section("settings-per-model")
class SettingsPerModel(ReportSection):
    """One table, on the page and as `settings-per-model.csv`."""

    title = "Settings per model"
    caption = "How many settings each model was evaluated under."

    def tables(self) -> Iterable[ReportTable]:
        """A row a model."""
        cells = self.results.study.cells
        rows = [
            {"model": model, "settings": sum(cell.model == model for cell in cells)}
            for model in dict.fromkeys(cell.model for cell in cells)
        ]
        yield ReportTable("settings-per-model", rows, columns=("model", "settings"))
