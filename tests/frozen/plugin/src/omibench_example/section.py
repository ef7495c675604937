"""The report section `settings-per-model`: the number of settings of each model."""

from __future__ import annotations

from collections.abc import Iterable

from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section


@section("settings-per-model")
class SettingsPerModel(ReportSection):
    """The section with one table, also written as `settings-per-model.csv`."""

    title = "Settings per model"
    caption = "Number of settings of each model."

    def tables(self) -> Iterable[ReportTable]:
        """A row a model."""
        cells = self.results.study.cells
        rows = [
            {"model": model, "settings": sum(cell.model == model for cell in cells)}
            for model in dict.fromkeys(cell.model for cell in cells)
        ]
        yield ReportTable("settings-per-model", rows, columns=("model", "settings"))
