"""The accuracy of verdicts over problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.statistics.intervals import Estimate, clustered_wilson

if TYPE_CHECKING:
    import polars as pl


def estimate_accuracy(rows: pl.DataFrame, confidence: float) -> Estimate:
    """Estimate the accuracy over problems, each the mean of its samples.

    Args:
        rows: Verdicts with the columns `id`, `verdict` (in [0, 1]) and `cluster`.
        confidence: The two-sided level of the interval, in (0, 1).

    Returns:
        The mean with an interval clustered by problem group.
    """
    import polars as pl

    problems = rows.group_by("id", maintain_order=True).agg(
        pl.col("verdict").mean(), pl.col("cluster").first()
    )
    values, clusters = problems["verdict"].to_list(), problems["cluster"].to_list()
    return clustered_wilson(values, clusters, confidence)
