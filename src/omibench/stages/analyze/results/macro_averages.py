"""Unweighted averages over the parts of a dataset, and differences between parts."""

from __future__ import annotations

import polars as pl

from omibench.results.attributes import NOT_STATED
from omibench.results.slices import JOINT
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import result

_PARTS = ("model", "setting", "rules", "slice", "of")
_SUMS = ("n", "clusters", "simulated")


@result("macro", "Averages and differences of the parts of a slice", source="USNCO-V, tables 1-2")
def tabulate_macro(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the mean of the accuracies of the values of each slice, and their difference.

    USNCO-V's tables 1 and 2: Average is the mean of local and national accuracy, Difference is
    local minus national. Parts have different items, so their errors are independent. The intervals
    combine those of the parts (Newcombe 1998, method 10; Zou and Donner 2008).

    Args:
        analysis: The study's results.

    Returns:
        For each slice by one item attribute whose values share no item: rows with the metric
        `macro`, and `difference` (first minus second value) if there are two values; `of` is the
        underlying metric. None if no slice has two values.
    """
    table = analysis.table("slices")
    if table is None:
        return None
    items = analysis.attributes.items.schema
    single = [
        name
        for name in table["slice"].unique(maintain_order=True)
        if JOINT not in name and name in items and not isinstance(items[name], pl.List)
    ]
    parts = table.filter(pl.col("slice").is_in(single) & (pl.col("value") != NOT_STATED))
    groups = _describe_parts(parts.rename({"metric": "of"})).filter(pl.col("parts") > 1)
    if groups.is_empty():
        return None
    return pl.concat([_average_parts(groups), _compare_parts(groups.filter(parts=2))])


def _describe_parts(parts: pl.DataFrame) -> pl.DataFrame:
    """The data for averages and differences over the values of a slice; one row per cell."""
    estimate, low, high = (pl.col(name) for name in ("estimate", "low", "high"))
    bounds = parts.with_columns(below=estimate - low, above=high - estimate)
    names = ("value", "estimate", "below", "above")
    return bounds.group_by(_PARTS, maintain_order=True).agg(
        (pl.col("below", "above") ** 2).sum().sqrt().name.prefix("sum_"),
        pl.col(names).first().name.prefix("first_"),
        pl.col(names).last().name.prefix("last_"),
        pl.col("n", "clusters").sum(),
        pl.col("simulated").any(),
        values=pl.col("value").str.join(", "),
        parts=pl.len(),
        mean=estimate.mean(),
    )


def _average_parts(groups: pl.DataFrame) -> pl.DataFrame:
    mean, parts = pl.col("mean"), pl.col("parts")
    return groups.select(
        *_PARTS,
        *_SUMS,
        value="values",
        metric=pl.lit("macro"),
        estimate="mean",
        low=mean - pl.col("sum_below") / parts,
        high=mean + pl.col("sum_above") / parts,
    )


def _compare_parts(groups: pl.DataFrame) -> pl.DataFrame:
    """Return the difference as in `statistics.paired.independent_difference`."""
    difference = pl.col("first_estimate") - pl.col("last_estimate")
    below = (pl.col("first_below") ** 2 + pl.col("last_above") ** 2).sqrt()
    above = (pl.col("first_above") ** 2 + pl.col("last_below") ** 2).sqrt()
    return groups.select(
        *_PARTS,
        *_SUMS,
        value=pl.concat_str("first_value", pl.lit(" - "), "last_value"),
        metric=pl.lit("difference"),
        estimate=difference,
        low=(difference - below).clip(lower_bound=-1),
        high=(difference + above).clip(upper_bound=1),
    )
