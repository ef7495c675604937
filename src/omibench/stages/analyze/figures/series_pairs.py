"""Pairs of our metrics and those of other benchmarks, over their common models."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from omibench.stages.analyze.figures.interval_findings import count_sides
from omibench.statistics.correlation import FEWEST, Correlation, correlate

if TYPE_CHECKING:
    import polars as pl


class SeriesPair(NamedTuple):
    """Two series over their common models.

    Attributes:
        name: Name of the second series.
        models: Common models.
        ours: Values of the first series.
        others: Values of the second series.
        rank: Spearman's correlation of both.
    """

    name: str
    models: list[str]
    ours: list[float]
    others: list[float]
    rank: Correlation


def pair_series(table: pl.DataFrame) -> tuple[str, list[SeriesPair]]:
    """Pair the first series with those of other metrics and benchmarks.

    Args:
        table: The result `model-scores`.

    Returns:
        The name of the first series, and a pair for each other series that shares three models with
        it. The same metric by another scorer is only in the table.
    """
    kinds = {row[0]: row[1:] for row in table.select("series", "benchmark", "metric").iter_rows()}
    series = {
        name: dict(part.select("model", "estimate").iter_rows())
        for (name,), part in table.partition_by("series", as_dict=True, maintain_order=True).items()
    }
    first, *others = kinds
    pairs = []
    for name in others:
        models = [model for model in series[first] if model in series[name]]
        if kinds[name] == kinds[first] or len(models) < FEWEST:
            continue
        values = [[series[side][model] for model in models] for side in (first, name)]
        rank = correlate(values[0], values[1], "spearman")
        pairs.append(SeriesPair(name, models, values[0], values[1], rank))
    return first, pairs


def count_correlations(table: pl.DataFrame) -> str | None:
    """Count the other series correlated with the first one, by intervals of Spearman's coefficient.

    Args:
        table: The result `model-scores`.
    """
    first, pairs = pair_series(table)
    bounds = [pair.rank.interval for pair in pairs if not isnan(pair.rank.interval.lo)]
    if not pairs:
        return None
    if not bounds:
        return "The series share too few models for an interval."
    counts = count_sides(bounds)
    return (
        f"Spearman's correlation of {first} with {counts.total:,} other series has an interval "
        f"above zero for {counts.above:,} and below for {counts.below:,}. The intervals are not "
        "corrected for their number."
    )
