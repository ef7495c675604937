"""Replaces missing partial credit, ratio and strict accuracy of a response."""

from __future__ import annotations

from typing import Literal

import polars as pl

OptionalMeasure = Literal["credit", "ratio", "strict"]
OPTIONAL_MEASURES: tuple[OptionalMeasure, ...] = ("credit", "ratio", "strict")
"""Columns of verdicts that only some scorers return, and only for readable answers."""


def fill_measure(measure: OptionalMeasure) -> pl.Expr:
    """Return the column of a measure without nulls: responses without an answer count as wrong.

    The verdict replaces a missing credit or ratio; a response without a strict value is wrong
    (MathReal, evaluation protocol).
    """
    return pl.coalesce(measure, pl.lit(0.0) if measure == "strict" else "verdict").alias(measure)


def fill_measures(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Fill the measures of every scorer that returns them, so that each covers all responses.

    Args:
        verdicts: Rows with `rules`, `verdict` and the columns of `OPTIONAL_MEASURES`.

    Returns:
        The same rows; a measure stays null under a scorer that never returns it.
    """
    return verdicts.with_columns(
        pl.when(pl.col(measure).is_not_null().any().over("rules"))
        .then(fill_measure(measure))
        .alias(measure)
        for measure in OPTIONAL_MEASURES
    )
