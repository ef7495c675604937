"""Our metrics beside those of other benchmarks, over the models that have both."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from omibench.stages.analyze.figures.interval_findings import count_sides
from omibench.statistics.correlation import FEWEST, Correlation, correlate

if TYPE_CHECKING:
    import polars as pl


class SeriesPair(NamedTuple):
    """Two series over the models that have both.

    Attributes:
        name: The name of the second one.
        models: The models.
        ours: The first series.
        others: The second one.
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
        The name of the first series, and a pair for each other one that shares three models with
        it. The same metric by another rule book is in the table alone.
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
    """Say with how many other series the first one goes together, by Spearman's intervals.

    Args:
        table: The result `model-scores`.
    """
    first, pairs = pair_series(table)
    bounds = [pair.rank.interval for pair in pairs if not isnan(pair.rank.interval.lo)]
    if not pairs:
        return None
    if not bounds:
        return "Too few models are in both series for an interval: nothing is claimed."
    counts = count_sides(bounds)
    return (
        f"Spearman's correlation of {first} with {counts.total:,} other series has an interval "
        f"above zero for {counts.above:,} and below for {counts.below:,}. Each stands alone, "
        "without a correction for their number."
    )
