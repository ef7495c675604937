"""Section `settings-per-model`: how many settings each model was evaluated under."""

from __future__ import annotations

from collections.abc import Iterable

from omibench.stages.analyze.sections.section import Section, Table, section


@section("settings-per-model")
class SettingsPerModel(Section):
    """One table, on the page and as `settings-per-model.csv`."""

    title = "Settings per model"
    caption = "How many settings each model was evaluated under."

    def tables(self) -> Iterable[Table]:
        """A row a model."""
        cells = self.results.study.cells
        rows = [
            {"model": model, "settings": sum(cell.model == model for cell in cells)}
            for model in dict.fromkeys(cell.model for cell in cells)
        ]
        yield Table("settings-per-model", rows, columns=("model", "settings"))
