"""Breakdowns of results by one or two attributes of items, models or settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from omibench.api.comparisons import check_confidence, list_values, select_rows
from omibench.errors import ArgumentError, MissingInputError
from omibench.files.parquet import read_frame
from omibench.params.stages.analyze import split_slice
from omibench.results.attributes import (
    MODEL_ATTRIBUTES,
    SETTING_ATTRIBUTES,
    AttributeTables,
    describe_items,
)
from omibench.results.slices import (
    CELL,
    LENGTHS,
    MEANS,
    VALUES,
    ItemMatrix,
    SlicePlan,
    arrange_items,
    arrange_outcomes,
    arrange_samples,
    fill_measures,
    slice_lengths,
    slice_values,
)
from omibench.schemas.validation import suggest_name

if TYPE_CHECKING:
    from omibench.api.results import ResultTables


class SliceChoice(NamedTuple):
    """Filter of the rows of a slice; None selects all."""

    metric: str | None = None
    rules: str | None = None
    model: str | None = None
    setting: str | None = None


class Slicer:
    """Inputs of all slices of a results folder, each read once."""

    def __init__(self, results: ResultTables, choice: SliceChoice, confidence: float) -> None:
        """Read the inputs.

        Raises:
            ArgumentError: If `confidence` is out of range, or no verdict has a value in `choice`.
            MissingInputError: If there are no verdicts.
        """
        check_confidence(confidence)
        self.results = results
        self.choice = choice
        self.confidence = confidence
        if results.verdicts.is_empty():
            raise MissingInputError(
                f"{results.folder / 'score'}: has no verdicts; run `omibench score` first"
            )
        rows = results.verdicts
        for column in VALUES:
            if value := getattr(choice, column):
                rows = select_rows(rows, column, value)
        self.verdicts = _name_clusters(rows.filter(rows["counts"]))

    def tabulate(self, by: Sequence[str]) -> pl.DataFrame:
        """Compute the table of one slice.

        Args:
            by: One or two attributes.

        Returns:
            Rows with the columns of all tables of results.

        Raises:
            ArgumentError: If the attribute does not exist or the slice lacks the metric; lists
                the available ones.
        """
        from omibench.stages.analyze.results.result import complete_table

        plan = SlicePlan.make(by, self.attributes, self.marks, self.confidence)
        parts = [part for part in self._tabulate_parts(plan) if part.height]
        rows = pl.concat(parts, how="diagonal_relaxed")
        if self.choice.metric:
            names = list_values(rows, "metric")
            if self.choice.metric not in names:
                raise ArgumentError(
                    f"metric: {self.choice.metric!r} is not in this slice"
                    f"{suggest_name(self.choice.metric, names)}"
                )
            rows = rows.filter(metric=self.choice.metric)
        return complete_table(rows, "slice", self.results.manifest.name)

    @cached_property
    def attributes(self) -> AttributeTables:
        """Attributes of the frozen items, and of models and settings after `omibench analyze`."""
        files = self.results.files
        tables = self.results.folder / "analyze" / "tables"
        return AttributeTables(
            describe_items(files.answers.values(), files.questions),
            _read_attributes(tables / "models.parquet", "model", MODEL_ATTRIBUTES),
            _read_attributes(tables / "settings.parquet", "setting", SETTING_ATTRIBUTES),
        )

    @cached_property
    def marks(self) -> pl.DataFrame:
        """Return one row per cell and scorer: whether any of its input is simulated."""
        synthetic = self.results.manifest.synthetic is not None
        return self.verdicts.group_by(VALUES, maintain_order=True).agg(
            (pl.col("simulated") | pl.col("responded_simulated") | pl.lit(synthetic))
            .any()
            .alias("simulated")
        )

    def _tabulate_parts(self, plan: SlicePlan) -> Iterator[pl.DataFrame]:
        yield slice_values(self._item_values, plan)
        if self._samples:
            yield slice_values(self._samples, plan)
        yield slice_values(self._outcomes, plan)
        if self.choice.rules is None or self.choice.metric in LENGTHS:
            yield slice_lengths(self._lengths, plan)

    @cached_property
    def _item_values(self) -> ItemMatrix:
        return arrange_items(fill_measures(self.verdicts), VALUES, [*MEANS])

    @cached_property
    def _outcomes(self) -> ItemMatrix:
        return arrange_outcomes(self.verdicts)

    @cached_property
    def _samples(self) -> ItemMatrix | None:
        rows = self._keep_cells(self.results.aggregates)
        if self.choice.rules:
            rows = rows.filter(rules=self.choice.rules)
        return arrange_samples(rows) if rows.height else None

    @cached_property
    def _lengths(self) -> ItemMatrix:
        rows = self._keep_cells(self.results.responses)
        characters = pl.col("text").str.len_chars().alias("characters")
        return arrange_items(rows.with_columns(characters), CELL, LENGTHS)

    def _keep_cells(self, rows: pl.DataFrame) -> pl.DataFrame:
        kept = rows.join(self.marks.select(CELL).unique(), on=CELL, how="semi")
        return _name_clusters(kept)


def slice_folder(
    results: ResultTables, by: str | Sequence[str], choice: SliceChoice, confidence: float
) -> pl.DataFrame:
    """Compute the table of one slice of a results folder; see `ResultTables.slice`."""
    names = split_slice(by) if isinstance(by, str) else list(by)
    return Slicer(results, choice, confidence).tabulate(names)


def _read_attributes(path: Path, key: str, names: Sequence[str]) -> pl.DataFrame:
    if not path.is_file():
        return pl.DataFrame(schema={key: pl.String})
    frame = read_frame(path)
    return frame.select(key, *(name for name in names if name in frame.columns))


def _name_clusters(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.rename({"group": "cluster"})
