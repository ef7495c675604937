"""What a report is made from: the results of a study, and tables that its parts share."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.params.cell import Cell
from omibench.params.stage_params import AnalyzeStageParams
from omibench.results.attributes import (
    AttributeTables,
    describe_items,
    describe_models,
    describe_settings,
)
from omibench.results.grouped import average_samples
from omibench.results.load import Results
from omibench.results.optional_measures import fill_measures
from omibench.stages.analyze.results.result import RESULTS
from omibench.stages.analyze.results.tidy import complete_table
from omibench.stages.analyze.tables.accuracy import (
    FailureCount,
    ImageScore,
    Score,
    failure_counts,
    image_scores,
    scores,
)
from omibench.stages.analyze.tables.printed import PrintBeside, Printed, read_print
from omibench.stages.analyze.tables.published import PrintedComparison, compare
from omibench.stages.analyze.tables.reasoning import Reasoning, reasoning
from omibench.stages.analyze.tables.saliency import Salience, saliences

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.figures.draw import FigureDrawing

log = logging.getLogger("omibench.stages.analyze")
MEANS = ("verdict", "credit", "ratio", "strict")


@dataclass(frozen=True)
class Analysis:
    """The results of a study, with the tables that several sections share, each computed once."""

    study: AnalyzeStageParams
    """The study as its parameters say; that of `results` holds the cells that are there."""
    results: Results
    folder: Path
    """The folder of the results: those of the stages are below it."""
    report: Path
    """Where the report is written, for links from it."""

    @property
    def confidence(self) -> float:
        """The two-sided level of all intervals, in (0, 1)."""
        return self.results.study.analyze.confidence

    @cached_property
    def scores(self) -> list[Score]:
        """The accuracy of every cell under every rule book, in total and by subject."""
        return scores(self.results)

    @cached_property
    def image_scores(self) -> list[ImageScore]:
        """The accuracy of every cell, and of all together, by number of images."""
        return image_scores(self.results)

    @cached_property
    def failure_counts(self) -> list[FailureCount]:
        """The outcomes without an answer of every cell under every rule book."""
        return failure_counts(self.results)

    @cached_property
    def saliences(self) -> list[Salience]:
        """What every cell that was looked into makes of the pictures; none without `saliency`.

        Raises:
            MissingInputError: The file of a cell is not there.
            UntrustedError: It was measured in another way than the study says.
        """
        return saliences(self.results, self.study.saliency, self.folder / "saliency")

    @cached_property
    def reasoning(self) -> Reasoning:
        """What judges and people say of the reasoning in responses.

        Raises:
            MissingInputError: A cell that the study wants judged has no file.
            FileFormatError: People's labels cannot be read.
        """
        return reasoning(self.results, self.folder / "judge")

    @cached_property
    def printed_rows(self) -> list[Printed]:
        """The rows of `analyze.published` about this dataset; none without printed results.

        Raises:
            MissingInputError: A table is not there.
        """
        return self.print_beside.rows

    @cached_property
    def print_beside(self) -> PrintBeside:
        """The tables of `analyze.published`, and what is wrong with them.

        Raises:
            MissingInputError: A table is not there.
        """
        manifest = self.results.manifest
        paths = self.results.study.analyze.published
        beside = read_print(paths, manifest.name, manifest.problems)
        for error in beside.errors:
            log.warning("%s", error)
        return beside

    @cached_property
    def printed_comparisons(self) -> list[PrintedComparison]:
        """Every printed value for whose problems all responses are here, beside ours."""
        return compare(self.results, self.printed_rows, self.folder / "aggregate")

    @cached_property
    def items(self) -> pl.DataFrame:
        """One row an item: `id`, `subject`, `cluster`, `n_images`, `answer_type`, `language` and a
        column for each attribute, null where an item lacks it: of texts, or of lists of texts where
        some item has several labels (`results.attributes.list_values` gives both in long form)."""
        return describe_items(self.results.answers.values(), self.results.questions)

    @cached_property
    def attributes(self) -> AttributeTables:
        """What results can be sliced by: attributes of items, models and settings."""
        study = self.results.study
        models = {cell.model: study.models[cell.model] for cell in study.cells}
        settings = {cell.setting: study.settings[cell.setting] for cell in study.cells}
        return AttributeTables(self.items, describe_models(models), describe_settings(settings))

    @cached_property
    def item_values(self) -> pl.DataFrame:
        """One row an item of a cell under a rule book: `model`, `setting`, `rules`, `id`,
        `cluster`, `samples`, and the means of its samples that count: `verdict`, `credit`, `ratio`,
        `strict` (null where the rule book gives none; a response without an answer is wrong)."""
        verdicts = fill_measures(self.results.counting_verdicts)
        return average_samples(verdicts, ["model", "setting", "rules"], MEANS)

    @cached_property
    def simulated_cells(self) -> pl.DataFrame:
        """One row a cell and rule book: `model`, `setting`, `rules`, `simulated`: whether its
        responses, its judge or its problems are simulated."""
        import polars as pl

        results = self.results
        pairs = self.item_values.select("model", "setting", "rules").unique(maintain_order=True)
        marks = [
            results.has_synthetic_problems
            or results.simulated_cells[Cell(model, setting)]
            or results.has_simulated_judge(rules)
            for model, setting, rules in pairs.iter_rows()
        ]
        return pairs.with_columns(pl.Series("simulated", marks, dtype=pl.Boolean))

    def mark_simulated(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Add the column `simulated` to rows with `model`, `setting` and `rules`.

        Args:
            frame: Rows about single cells.
        """
        keys = ["model", "setting", "rules"]
        return frame.join(self.simulated_cells, on=keys, how="left", maintain_order="left")

    @cached_property
    def labels(self) -> tuple[dict[str, str], dict[str, str]]:
        """The names under which models and settings are shown, by their names in the study."""
        results = self.results
        study = results.study
        models = {name: results.label(name) for name in study.models}
        return models, {name: results.setting_label(name) for name in study.settings}

    @cached_property
    def drawings(self) -> list[FigureDrawing]:
        """The figures of results that the study has; drawing them takes longer than the rest."""
        from omibench.stages.analyze.figures.draw import draw_figures

        return list(draw_figures(self))

    def table(self, name: str) -> pl.DataFrame | None:
        """The table of a result, computed once.

        Args:
            name: The result's, of `results.result.RESULTS`.

        Returns:
            Its table with all columns of `tidy.COLUMNS`; None where the study has nothing for it.

        Raises:
            OmibenchError: A file that it needs is missing or holds something else.
            PluginError: There is no result of that name, or one of a plug-in failed.
        """
        if name not in self._tables:
            with RESULTS.naming_failures(name):
                frame = RESULTS.get(name).tabulate(self)
                if frame is not None:
                    frame = complete_table(frame, name, self.results.manifest.name)
                    frame = None if frame.is_empty() else self._mark_partial(frame)
                self._tables[name] = frame
        return self._tables[name]

    def _mark_partial(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The table, in a partial run with a last column that says of what."""
        import polars as pl

        partial = self.results.partial
        return (
            frame if partial is None else frame.with_columns(pl.lit(str(partial)).alias("partial"))
        )

    @cached_property
    def _tables(self) -> dict[str, pl.DataFrame | None]:
        return {}
