"""Estimates and comparisons of many groups at once: `statistics` on the columns of a frame.

A study of 31 models under 20 settings has hundreds of thousands of verdicts; a query per cell and
slice takes minutes, one over all of them seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import nan
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from omibench.params.cells import Family
from omibench.params.setting import Cell
from omibench.results.statistics.intervals import (
    Estimate,
    RankRange,
    Sums,
    adjust_holm,
    bound_means,
    bound_shares,
    clustered_wilson,
    count_effective,
    estimate_errors,
    find_rank_ranges,
)
from omibench.results.statistics.paired import (
    EQUAL,
    AccuracyDifference,
    PairSums,
    adjust_level,
    bound_differences,
    compare_sums,
)

AnySums = TypeVar("AnySums", bound=Sums)


def estimate_accuracy(rows: pl.DataFrame, confidence: float) -> Estimate:
    """Estimate the accuracy over problems, each the mean of its samples.

    Args:
        rows: Verdicts with the columns `id`, `verdict` (in [0, 1]) and `cluster`.
        confidence: The two-sided level of the interval, in (0, 1).

    Returns:
        The mean with an interval clustered by problem group.
    """
    problems = average_samples(rows, [])
    values, clusters = problems["verdict"].to_numpy(), problems["cluster"].to_list()
    return clustered_wilson(values, clusters, confidence)


def average_samples(
    verdicts: pl.DataFrame, by: Sequence[str], columns: Sequence[str] = ("verdict",)
) -> pl.DataFrame:
    """Return the means of each item's samples in each group.

    Args:
        verdicts: Rows with `id`, `cluster`, the columns of `by` and the columns to average.
        by: Columns whose values define a group, such as model, setting and rules.
        columns: The columns to average; nulls are ignored, and only nulls give a null.

    Returns:
        One row per group and item: `by`, `id`, `cluster`, `samples` and `columns`, in the order of
        their first occurrence.
    """
    alone = verdicts.group_by(list(by)).agg(pl.col("id").n_unique() == pl.len()) if by else None
    # with one sample per item, its mean is the value itself
    if alone is not None and alone["id"].all():
        means = (pl.col(name).cast(pl.Float64) for name in columns)
        samples = pl.lit(1, pl.Int64).alias("samples")
        return verdicts.select(*by, "id", "cluster", samples, *means)
    return verdicts.group_by(*by, "id", maintain_order=True).agg(
        pl.col("cluster").first(),
        pl.len().cast(pl.Int64).alias("samples"),
        *(pl.col(name).mean() for name in columns),
    )


def estimate_groups(
    values: pl.DataFrame, by: Sequence[str], confidence: float, column: str = "verdict"
) -> pl.DataFrame:
    """Estimate the mean of each group with Wilson's interval at the effective sample size.

    Args:
        values: One row per item of a group: `by`, `cluster` and `column`, in [0, 1]; rows with a
            null are ignored.
        by: Columns whose values define a group; none for one group of all rows.
        confidence: The two-sided level, in (0, 1).
        column: The column of the values.

    Returns:
        One row per group, in the order of their first occurrence: `by`, `estimate`, `low`, `high`,
        `n` (items), `clusters`, `n_eff` (`statistics.intervals.bound_shares`).

    Raises:
        MissingExtraError: scipy is needed and not installed.
    """
    groups = _sum_groups(values.filter(pl.col(column).is_not_null()), by, column)
    return estimate_sums(groups, by, confidence)


def estimate_sums(groups: pl.DataFrame, by: Sequence[str], confidence: float) -> pl.DataFrame:
    """Estimate as `estimate_groups` does, from the sums of each group.

    Args:
        groups: One row per group: `by` and the fields of `statistics.intervals.Sums`.
        by: The columns that identify a group.
        confidence: The two-sided level, in (0, 1).
    """
    low, high, n_eff = bound_shares(_read_sums(groups, Sums), confidence)
    return _name_estimates(groups, by, low, high).hstack([_make_column("n_eff", n_eff)])


def estimate_means(
    values: pl.DataFrame, by: Sequence[str], confidence: float, column: str
) -> pl.DataFrame:
    """Estimate the mean of each group of values of any size, such as lengths.

    Args:
        values: One row per item of a group: `by`, `cluster` and `column`; rows with a null are
            ignored.
        by: Columns whose values define a group; none for one group of all rows.
        confidence: The two-sided level, in (0, 1).
        column: The column of the values.

    Returns:
        One row per group, in the order of their first occurrence: `by`, `estimate`, `low` and
        `high` (`statistics.intervals.bound_means`; null for one cluster), `n` (items), `clusters`.

    Raises:
        MissingExtraError: scipy is needed and not installed.
    """
    groups = _sum_groups(values.filter(pl.col(column).is_not_null()), by, column)
    return estimate_mean_sums(groups, by, confidence)


def estimate_mean_sums(groups: pl.DataFrame, by: Sequence[str], confidence: float) -> pl.DataFrame:
    """Estimate as `estimate_means` does, from the sums of `estimate_sums`."""
    return _name_estimates(groups, by, *bound_means(_read_sums(groups, Sums), confidence))


def compare_groups(
    pairs: pl.DataFrame,
    by: Sequence[str],
    confidence: float,
    comparisons: int = 1,
    columns: tuple[str, str] = ("first", "second"),
) -> pl.DataFrame:
    """Estimate first - second of each group over the same items.

    Args:
        pairs: One row per item that both answered: `by`, `cluster` and the two columns, in [0, 1].
        by: Columns whose values define a group; none for one group of all rows.
        confidence: The two-sided level, in (0, 1).
        comparisons: Number of simultaneous comparisons (Bonferroni).
        columns: The columns of the first and the second value.

    Returns:
        One row per group, in the order of their first occurrence: `by`, `estimate`, `low`, `high`
        (`statistics.paired.bound_differences`), `n` (items), `clusters`, `n_eff`, `first` and
        `second` (means), `gained` and `lost` (sums of the differences above and below zero),
        `binary` (all differences are -1, 0 or 1), `standard_error` of the mean difference,
        clustered (null for one cluster), and the sums `squares`, `between` and `sizes_squared` of
        `statistics.paired.PairSums`.

    Raises:
        MissingExtraError: scipy is needed and not installed.
    """
    groups = _sum_pairs(pairs, by, columns)
    return _bound_pairs(
        groups, by, _read_sums(groups, PairSums), adjust_level(confidence, comparisons)
    )


def compare_pairs(
    pairs: pl.DataFrame,
    by: Sequence[str],
    confidence: float,
    columns: tuple[str, str] = ("first", "second"),
    family: int | None = None,
) -> pl.DataFrame:
    """Compare two values over the same items in each group, with an interval and a test.

    Args:
        pairs: One row per item that both answered: `by`, `cluster` and the two columns, in [0, 1].
        by: Columns whose values define a group; each group is one comparison.
        confidence: The two-sided level of each interval, in (0, 1); alpha is the rest.
        columns: The columns of the first and the second value.
        family: Number of simultaneous comparisons; default: all groups.

    Returns:
        The output of `compare_groups`, with intervals for one comparison each, and more columns:
        `p` (`statistics.paired.compare_sums`; null without a test), `p_holm` (adjusted over all
        groups), and `detectable`, the smallest true difference that the comparison detects with a
        power of 0.8 at alpha over the family; null if it detects none.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    groups = _sum_pairs(pairs, by, columns)
    sums = _read_sums(groups, PairSums)
    tests = compare_sums(sums, (1 - confidence) / max(1, family or groups.height))
    finite = np.where(np.isfinite(tests.detectable), tests.detectable, np.nan)
    return _bound_pairs(groups, by, sums, confidence).with_columns(
        _make_column("p", tests.p),
        _make_column("p_holm", adjust_holm(tests.p)),
        _make_column("detectable", finite),
    )


def _sum_pairs(pairs: pl.DataFrame, by: Sequence[str], columns: tuple[str, str]) -> pl.DataFrame:
    """Return the fields of `PairSums` and the means of the two values for each group."""
    first, second = columns
    delta = pl.col("_delta")
    return _sum_groups(
        pairs.with_columns(_delta=pl.col(first) - pl.col(second)),
        by,
        "_delta",
        pl.col(first).mean().alias("first"),
        pl.col(second).mean().alias("second"),
        delta.filter(delta > 0).sum().alias("gained"),
        (-delta.filter(delta < 0).sum()).alias("lost"),
        (delta.max() - delta.min() <= EQUAL).alias("alike"),
        ends=(-1, 0, 1),
    )


def _bound_pairs(
    groups: pl.DataFrame, by: Sequence[str], sums: PairSums, level: float
) -> pl.DataFrame:
    return (
        _name_estimates(groups, by, *bound_differences(sums, level))
        .with_columns(_make_column("n_eff", count_effective(sums, level)))
        .hstack(groups.select("first", "second", "gained", "lost", "binary"))
        .with_columns(_make_column("standard_error", estimate_errors(sums)))
        .hstack(groups.select("squares", "between", "sizes_squared"))
    )


def _sum_groups(
    values: pl.DataFrame,
    by: Sequence[str],
    column: str,
    *more: pl.Expr,
    ends: Sequence[int] = (0, 1),
) -> pl.DataFrame:
    """Return the fields of `Sums` for each group, in the order of their first occurrence."""
    value = pl.col(column)
    keys = list(by) or ["_one"]
    frame = values if by else values.with_columns(_one=pl.lit(0))
    groups = frame.group_by(keys, maintain_order=True).agg(
        value.mean().alias("mean"),
        pl.len().cast(pl.Int64).alias("n"),
        ((value - value.mean()) ** 2).sum().alias("squares"),
        pl.any_horizontal(value == end for end in ends).all().alias("binary"),
        *more,
    )
    clusters = frame.group_by([*keys, "cluster"], maintain_order=True).agg(
        value.sum().alias("_sum"), pl.len().alias("_size")
    )
    deviation = pl.col("_sum") - pl.col("_size") * pl.col("mean")
    sums = (
        clusters.join(
            groups.select(*keys, "mean"), on=keys, nulls_equal=True, maintain_order="left"
        )
        .group_by(keys, maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("clusters"),
            (pl.col("_size").cast(pl.Int64) ** 2).sum().alias("sizes_squared"),
            (deviation**2).sum().alias("between"),
        )
    )
    return groups.join(sums, on=keys, nulls_equal=True, maintain_order="left")


def _read_sums(groups: pl.DataFrame, kind: type[AnySums]) -> AnySums:
    columns = {field.name: groups[field.name] for field in fields(kind)}
    return kind(
        **{
            name: column.to_numpy().astype(bool if column.dtype == pl.Boolean else float)
            for name, column in columns.items()
        }
    )


def _name_estimates(groups: pl.DataFrame, by: Sequence[str], low: Any, high: Any) -> pl.DataFrame:
    return groups.select(
        *by,
        pl.col("mean").alias("estimate"),
        _make_column("low", low),
        _make_column("high", high),
        "n",
        "clusters",
    )


def _make_column(name: str, numbers: Any) -> pl.Series:
    """Return a column with a null for each NaN."""
    return pl.Series(name, numbers, nan_to_null=True)


# Tests of all pairs of a study's compared cells.


class PairTest(NamedTuple):
    """One cell minus another over the items that both answered."""

    difference: AccuracyDifference
    """With the interval of this comparison alone."""
    p: float
    """Two-sided; NaN without a test."""
    adjusted: float
    """p adjusted by Holm over all pairs of the family."""
    detectable: float
    """The smallest true difference that would be detected; NaN if none would."""
    clusters: int
    """Number of clusters of the items that both answered."""


@dataclass(frozen=True)
class FamilyTests:
    """The tests of all pairs of a family, at one family-wise error."""

    family: Family
    confidence: float
    pairs: dict[tuple[Cell, Cell], PairTest]
    """The pairs of cells that share an item, in the order of the family."""

    @property
    def alpha(self) -> float:
        """The family-wise error."""
        return 1 - self.confidence

    def compare(self, first: Cell, second: Cell) -> PairTest:
        """Return first minus second."""
        if (first, second) in self.pairs:
            return self.pairs[first, second]
        reverse = self.pairs.get((second, first), _UNTESTED)
        value, lo, hi, n = reverse.difference
        return reverse._replace(difference=AccuracyDifference(-value, -hi, -lo, n))

    def is_ahead(self, first: Cell, second: Cell) -> bool:
        """Whether the first cell's accuracy is significantly higher, by Holm over the family."""
        test = self.compare(first, second)
        return test.difference.value > 0 and test.adjusted < self.alpha

    @cached_property
    def ranks(self) -> dict[Cell, RankRange]:
        """The ranks that each cell can have by the tests."""
        cells = self.family.cells
        tests = [[self.compare(first, second) for second in cells] for first in cells]
        differences = [[test.difference.value for test in row] for row in tests]
        adjusted = [[test.adjusted for test in row] for row in tests]
        ranges = find_rank_ranges(differences, adjusted, self.alpha)
        return dict(zip(cells, ranges, strict=True))


def adjust_families(table: pl.DataFrame, p: str, family: Sequence[str]) -> pl.DataFrame:
    """Add Holm's adjusted p values within families of tests.

    Args:
        table: One row per test, with the column `p`; null marks a test that could not be made.
        p: The column of unadjusted p values.
        family: The columns whose equal values make a family.

    Returns:
        The table with `p_holm` (null without a p) and `family`, the number of tests of the family.
    """

    def adjust(values: pl.Series) -> pl.Series:
        return pl.Series(adjust_holm(values.cast(pl.Float64).to_numpy()))

    adjusted = pl.col(p).map_batches(adjust, return_dtype=pl.Float64).over(family)
    return table.with_columns(
        p_holm=adjusted.fill_nan(None), family=pl.col(p).count().over(family).cast(pl.Int64)
    )


_UNTESTED = PairTest(AccuracyDifference(nan, -1.0, 1.0, 0), nan, nan, nan, 0)


def compare_family(verdicts: pl.DataFrame, family: Family, confidence: float) -> FamilyTests:
    """Test all pairs of the cells of a family over the items that both answered.

    Args:
        verdicts: The counting verdicts of one scorer, with `model`, `setting`, `id`, `cluster` and
            `verdict`.
        family: The cells.
        confidence: 1 - the family-wise error, and the level of each pair's own interval.

    Raises:
        MissingExtraError: There are two cells or more and scipy is not installed.
    """
    frames = list(_compare_with_later(verdicts, family, confidence))
    if not frames:
        return FamilyTests(family, confidence, {})
    table = pl.concat(frames)
    adjusted = adjust_holm(table["p"].to_numpy())
    pairs = {
        (family.cells[row["place"]], family.cells[row["place_right"]]): PairTest(
            AccuracyDifference(row["estimate"], row["low"], row["high"], row["n"]),
            _number(row["p"]), float(p), _number(row["detectable"]), row["clusters"],
        )
        for row, p in zip(table.iter_rows(named=True), adjusted, strict=True)
    }  # fmt: skip
    return FamilyTests(family, confidence, pairs)


def _compare_with_later(
    verdicts: pl.DataFrame, family: Family, confidence: float
) -> Iterator[pl.DataFrame]:
    """Yield each cell with all after it as one table, so that memory grows only with the cells."""
    places = pl.DataFrame(
        [(*cell, place) for place, cell in enumerate(family.cells)],
        schema={"model": pl.String, "setting": pl.String, "place": pl.Int64},
        orient="row",
    )
    of_family = verdicts.join(places, on=["model", "setting"], maintain_order="left")
    values = average_samples(of_family, ["place"])
    for place in range(len(family.cells) - 1):
        first = values.filter(pl.col("place") == place)
        later = values.filter(pl.col("place") > place).select("id", "place", "verdict")
        pairs = first.join(later, on="id", maintain_order="right")
        if pairs.height:
            yield compare_pairs(
                pairs, ["place", "place_right"], confidence, ("verdict", "verdict_right"),
                family=family.pairs,
            )  # fmt: skip


def _number(value: float | None) -> float:
    return nan if value is None else value
