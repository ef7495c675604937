"""Accuracies and their differences, computed from the table of verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from omibench.api.arguments import check_kind
from omibench.errors import ArgumentError
from omibench.results.grouped import estimate_accuracy
from omibench.schemas.validation import suggest_name
from omibench.statistics.intervals import Estimate
from omibench.statistics.paired import AccuracyDifference, paired_difference


def select_rows(frame: pl.DataFrame, column: str, value: str) -> pl.DataFrame:
    """Return the rows with a given value in a column.

    Raises:
        ArgumentError: If no row has it; suggests the nearest value.
    """
    names = list_values(frame, column)
    if value not in names:
        raise ArgumentError(f"{column}: no verdict has {value!r}{suggest_name(str(value), names)}")
    return frame.filter(**{column: value})


def list_values(frame: pl.DataFrame, column: str) -> list[str]:
    """Return the distinct values of a column in order."""
    values: list[str] = frame[column].unique(maintain_order=True).to_list()
    return values


def check_confidence(confidence: object) -> None:
    """Check the level of an interval.

    Raises:
        ArgumentError: If it is not a number between 0 and 1.
    """
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise ArgumentError(f"confidence: is {confidence!r}; give a level between 0 and 1")
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence: is {confidence}; give a level between 0 and 1")


def estimate_cell(rows: pl.DataFrame, confidence: float) -> Estimate:
    """Estimate the accuracy of one cell under one scorer."""
    check_confidence(confidence)
    counting = rows.filter(rows["counts"])
    return estimate_accuracy(counting.rename({"group": "cluster"}), confidence)


def compare_rows(
    frames: Sequence[pl.DataFrame], confidence: float, comparisons: int
) -> AccuracyDifference:
    """Compare the verdicts of two cells under one scorer on their common problems.

    Raises:
        ArgumentError: If `confidence` or `comparisons` is out of range.
    """
    check_confidence(confidence)
    check_kind("comparisons", comparisons, int, "give a number of at least 1")
    if comparisons < 1:
        raise ArgumentError(f"comparisons: is {comparisons}; give a number of at least 1")
    first, second = (_mean_by_problem(frame.filter(frame["counts"])) for frame in frames)
    pairs = first.join(second, on=["id", "group"], suffix="_second").sort("id")
    return paired_difference(
        pairs["score"].to_list(),
        pairs["score_second"].to_list(),
        pairs["group"].to_list(),
        confidence,
        comparisons,
    )


def _mean_by_problem(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by("id", "group").agg(score=pl.col("verdict").mean())
