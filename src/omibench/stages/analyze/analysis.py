"""The data behind a report: the results of a study, and tables shared by its sections."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from omibench.errors import OmibenchError, PluginError
from omibench.papers.comparison import compare_with_print
from omibench.papers.study import PrintedResult, StudyPrint, read_print
from omibench.params.setting import Cell
from omibench.plugins.registry import BY_OMIBENCH, Registry
from omibench.results.attributes import (
    AttributeTables,
    describe_items,
    describe_models,
    describe_settings,
)
from omibench.results.grouped import average_samples
from omibench.results.judgements import read_judgements
from omibench.results.load import Results
from omibench.results.slices import fill_measures
from omibench.stages.analyze.results.result import RESULTS, fill_table, round_table

if TYPE_CHECKING:
    from omibench.params.study import Study
    from omibench.stages.analyze.figures.figure import FigureDrawing
    from omibench.stages.analyze.results.saliency import Salience

log = logging.getLogger("omibench.stages.analyze")
MEANS = ("verdict", "credit", "ratio", "strict")


@dataclass(frozen=True)
class Analysis:
    """The results of a study and the tables that several sections share, each computed once."""

    study: Study
    """The study as given by its parameters; `results.study` has only the cells with results."""
    results: Results
    folder: Path
    """The results folder, with one subfolder per stage."""
    report: Path
    """The path of the report, for relative links."""
    failed: dict[str, str] = field(default_factory=dict)
    """The parts of plug-ins that failed and are left out, each with its error on one line."""

    @contextmanager
    def leave_out_failing(self, registry: Registry[Any], name: str) -> Iterator[None]:
        """Run a part of the report; if it is a plug-in's and fails, note that in `failed`.

        Args:
            registry: The registry of the part.
            name: The part that runs in this block.

        Raises:
            OmibenchError: A built-in part failed.
        """
        try:
            with registry.calling(name):
                yield
        except OmibenchError as error:
            if registry.origin(name) == BY_OMIBENCH:
                raise
            part = f"{registry.noun} {name!r}"
            self.failed[part] = str(error)
            log.warning("%s failed and is left out of the report: %s", part, error)

    def has_failed(self, registry: Registry[Any], name: str) -> bool:
        """Return whether a part of a plug-in has failed."""
        return f"{registry.noun} {name!r}" in self.failed

    @property
    def confidence(self) -> float:
        """The two-sided level of all intervals, in (0, 1)."""
        return self.results.study.analyze.confidence

    @cached_property
    def scores(self) -> pl.DataFrame:
        """The results about the accuracy of each cell under each scorer, in total and by subject,
        in one row (`results.accuracy.frame_scores`)."""
        from omibench.stages.analyze.results.accuracy import frame_scores

        return frame_scores(self)

    @cached_property
    def saliences(self) -> list[Salience]:
        """The saliency measurements of each cell; empty without the stage `saliency`.

        Raises:
            MissingInputError: The file of a cell is missing.
            UntrustedError: The measurement does not match the parameters of the study.
        """
        from omibench.stages.analyze.results.saliency import saliences

        return saliences(self.results, self.study.saliency, self.folder / "saliency")

    @cached_property
    def judgements(self) -> dict[Cell, pl.DataFrame]:
        """The counting judgements of each judged cell (`results.judgements.read_judgements`).

        Raises:
            MissingInputError: A cell to be judged has no file.
        """
        results, folder = self.results, self.folder / "judge"
        judged = set(results.study.judged_cells)
        cells = [cell for cell in results.cells if cell in judged]
        return {cell: read_judgements(results, folder, cell) for cell in cells}

    @cached_property
    def error_judgements(self) -> pl.DataFrame:
        """The judgements and labels of errors (`results.reasoning.collect_error_judgements`)."""
        from omibench.stages.analyze.results.reasoning import collect_error_judgements

        return collect_error_judgements(self)

    @cached_property
    def printed_rows(self) -> list[PrintedResult]:
        """The rows of `analyze.published` about this dataset; none without printed results.

        Raises:
            MissingInputError: A table is missing.
        """
        return self.print_beside.rows

    @cached_property
    def print_beside(self) -> StudyPrint:
        """The tables of `analyze.published` and the errors found in them.

        Raises:
            MissingInputError: A table is missing.
        """
        manifest = self.results.manifest
        paths = self.results.study.analyze.published
        beside = read_print(paths, manifest.name, manifest.problems)
        for error in beside.errors:
            log.warning("%s", error)
        return beside

    @cached_property
    def printed_comparisons(self) -> pl.DataFrame:
        """Each printed value with ours (`papers.comparison.COLUMNS`), if all responses to its
        problems are available."""
        return compare_with_print(self.results, self.printed_rows, self.folder / "aggregate")

    @cached_property
    def items(self) -> pl.DataFrame:
        """One row per item, with `id`, `subject`, `cluster`, `n_images`, `answer_type`, `language`
        and a column for each attribute, null if an item lacks it. An attribute is a list column if
        any item has several labels (`results.attributes.list_values` returns both kinds in long
        form)."""
        return describe_items(self.results.answers.values(), self.results.questions)

    def add_clusters(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Add the `cluster` of each item to rows with its `id`."""
        clusters = self.items.select("id", "cluster")
        return frame.join(clusters, on="id", maintain_order="left")

    @cached_property
    def attributes(self) -> AttributeTables:
        """The attributes of items, models and settings by which results can be sliced."""
        study = self.results.study
        models = {cell.model: study.models[cell.model] for cell in study.cells}
        settings = {cell.setting: study.settings[cell.setting] for cell in study.cells}
        return AttributeTables(self.items, describe_models(models), describe_settings(settings))

    @cached_property
    def item_values(self) -> pl.DataFrame:
        """One row per item, cell and scorer: `model`, `setting`, `rules`, `id`, `cluster`,
        `samples`, and the means over its counted samples: `verdict`, `credit`, `ratio`, `strict`
        (null if the scorer does not define it; a response without an answer is wrong)."""
        verdicts = fill_measures(self.results.counting_verdicts)
        return average_samples(verdicts, ["model", "setting", "rules"], MEANS)

    @cached_property
    def simulated_cells(self) -> pl.DataFrame:
        """One row per cell and scorer: `model`, `setting`, `rules`, and `simulated` (whether its
        responses, judge or problems are simulated)."""
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
            frame: Rows that are each about one cell.
        """
        keys = ["model", "setting", "rules"]
        return frame.join(self.simulated_cells, on=keys, how="left", maintain_order="left")

    def mark_pairs(self, frame: pl.DataFrame, model: pl.Expr, setting: pl.Expr) -> pl.DataFrame:
        """Add `simulated` to rows about two cells: whether either is simulated.

        Args:
            frame: Rows with the `model`, `setting` and `rules` of the first cell.
            model: The model of the second.
            setting: Its setting.
        """
        second = self.mark_simulated(frame.select("rules", model=model, setting=setting))
        return self.mark_simulated(frame).with_columns(
            pl.col("simulated") | second["simulated"].fill_null(value=False)
        )

    @cached_property
    def labels(self) -> tuple[dict[str, str], dict[str, str]]:
        """The labels of models and settings by their names in the study."""
        results = self.results
        study = results.study
        models = {name: results.label(name) for name in study.models}
        return models, {name: results.setting_label(name) for name in study.settings}

    @cached_property
    def drawings(self) -> list[FigureDrawing]:
        """The figures for the results of the study, drawn on first access."""
        from omibench.stages.analyze.figures.figure import draw_figures

        return draw_figures(self)

    def table(self, name: str) -> pl.DataFrame | None:
        """Return the table of a result, computed once.

        Args:
            name: Name in `results.result.RESULTS`.

        Returns:
            A table with all columns of `result.COLUMNS` and numbers of 6 digits, or None if the
            study has no data for it, or it is a plug-in's and failed.

        Raises:
            OmibenchError: A required file is missing or invalid.
            PluginError: No result has this name.
        """
        if name not in self._rounded:
            rows = self.find_rows(name)
            self._rounded[name] = None if rows is None else round_table(rows)
        return self._rounded[name]

    def find_rows(self, name: str) -> pl.DataFrame | None:
        """Return the table of a result with all digits, for pages, which round each number once."""
        if name not in self._tables:
            self._tables[name] = None
            with self.leave_out_failing(RESULTS, name):
                frame = RESULTS.get(name).tabulate(self)
                if frame is not None:
                    frame = fill_table(frame, name, self.results.manifest.name)
                    if partial := self.results.partial:  # the last column describes the part
                        frame = frame.with_columns(partial=pl.lit(str(partial)))
                self._tables[name] = None if frame is None or frame.is_empty() else frame
        return self._tables[name]

    def list_rows(self, name: str, **values: object) -> list[dict[str, Any]]:
        """Return the rows of `find_rows` with these values; none if the study has no such table."""
        frame = self.find_rows(name)
        return [] if frame is None else frame.filter(**values).to_dicts()

    def rows(self, name: str) -> pl.DataFrame:
        """Return `find_rows` of a built-in result that every study has."""
        frame = self.find_rows(name)
        if frame is None:
            raise PluginError(f"result {name!r}: has no rows")
        return frame

    def slice(self, names: str) -> pl.DataFrame:
        """Return one slice of the accuracies, computed once (`results.slices.slice_accuracy`).

        Args:
            names: One attribute, or two separated by a comma; `analyze.slices` need not list it.
        """
        from omibench.stages.analyze.results.slices import slice_accuracy

        if names not in self._slices:
            frame = slice_accuracy(self, names)
            self._slices[names] = fill_table(frame, "slices", self.results.manifest.name)
        return self._slices[names]

    @cached_property
    def _rounded(self) -> dict[str, pl.DataFrame | None]:
        return {}

    @cached_property
    def _tables(self) -> dict[str, pl.DataFrame | None]:
        return {}

    @cached_property
    def _slices(self) -> dict[str, pl.DataFrame]:
        return {}
