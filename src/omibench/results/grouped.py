"""Estimates of many groups at once: the formulas of `statistics`, computed on columns.

A study of 31 models under 20 settings has hundreds of thousands of verdicts; a query per cell and
slice takes minutes, one over all of them seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omibench.statistics.quantiles import t_value, z_value

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EQUAL = 1e-12
"""A variance per value below this is that of equal values."""
SAME = 1e-9
"""Differences this close count as equal."""


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
    import polars as pl

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

    Each row equals `statistics.intervals.clustered_wilson` on the values of its group.

    Args:
        values: One row per item of a group: `by`, `cluster` and `column`, in [0, 1]; rows with a
            null are ignored.
        by: Columns whose values define a group; none for one group of all rows.
        confidence: The two-sided level, in (0, 1).
        column: The column of the values.

    Returns:
        One row per group, in the order of their first occurrence: `by`, `estimate`, `low`, `high`,
        `n` (items), `clusters`, `n_eff`.

    Raises:
        MissingExtraError: scipy is needed and not installed.
    """
    import polars as pl

    groups = _describe_groups(values.filter(pl.col(column).is_not_null()), by, column)
    return estimate_sums(groups, by, confidence)


def estimate_sums(groups: pl.DataFrame, by: Sequence[str], confidence: float) -> pl.DataFrame:
    """Estimate as `estimate_groups` does, from sums over the items and clusters of each group.

    Args:
        groups: One row per group: `by`, `mean`, `n`, `squares` (of deviations from the mean),
            `clusters`, `sizes_squared` (of clusters), `between` (squared sums of the deviations of
            a cluster) and `binary` (all values are 0 or 1).
        by: The columns that identify a group.
        confidence: The two-sided level, in (0, 1).
    """
    import polars as pl

    arrays = {name: groups[name].to_numpy().astype(float) for name in _STATISTICS}
    mean, n_eff = arrays["mean"], _effective_share_n(arrays, groups["binary"], confidence)
    low, high = _wilson(np.minimum(mean * n_eff, n_eff), n_eff, confidence)
    return groups.select(
        *by,
        pl.col("mean").alias("estimate"),
        pl.Series("low", low),
        pl.Series("high", high),
        "n",
        "clusters",
        pl.Series("n_eff", n_eff),
    )


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
        `high` (Student's interval with the clustered variance at clusters - 1 degrees of freedom;
        null for one cluster), `n` (items), `clusters`.

    Raises:
        MissingExtraError: scipy is needed and not installed.
    """
    import polars as pl

    groups = _describe_groups(values.filter(pl.col(column).is_not_null()), by, column)
    return estimate_mean_sums(groups, by, confidence)


def estimate_mean_sums(groups: pl.DataFrame, by: Sequence[str], confidence: float) -> pl.DataFrame:
    """Estimate as `estimate_means` does, from the sums of `estimate_sums`."""
    import polars as pl

    arrays = {name: groups[name].to_numpy().astype(float) for name in _STATISTICS}
    half = _standard_error(arrays)
    several = arrays["clusters"] > 1
    half[several] *= _t_values(confidence, arrays["clusters"][several] - 1)
    return groups.select(
        *by,
        pl.col("mean").alias("estimate"),
        pl.Series("low", arrays["mean"] - half).fill_nan(None),
        pl.Series("high", arrays["mean"] + half).fill_nan(None),
        "n",
        "clusters",
    )


def compare_groups(
    pairs: pl.DataFrame,
    by: Sequence[str],
    confidence: float,
    comparisons: int = 1,
    columns: tuple[str, str] = ("first", "second"),
) -> pl.DataFrame:
    """Estimate first - second of each group over the same items.

    Each row equals `statistics.paired.paired_difference` on the pairs of its group.

    Args:
        pairs: One row per item that both answered: `by`, `cluster` and the two columns, in [0, 1].
        by: Columns whose values define a group; none for one group of all rows.
        confidence: The two-sided level, in (0, 1).
        comparisons: Number of simultaneous comparisons (Bonferroni).
        columns: The columns of the first and the second value.

    Returns:
        One row per group, in the order of their first occurrence: `by`, `estimate`, `low`, `high`,
        `n` (items), `clusters`, `n_eff`, `first` and `second` (means), `gained` and `lost` (sums of
        the differences above and below zero), `binary` (all differences are -1, 0 or 1) and
        `standard_error` of the mean difference, clustered (null for one cluster), and the sums
        `squares`, `between` and `sizes_squared` of `statistics.paired_tests.PairSums`.

    Raises:
        MissingExtraError: scipy is needed and not installed.
    """
    import polars as pl

    first, second = columns
    level = 1 - (1 - confidence) / max(1, comparisons)
    deltas = pairs.with_columns(_delta=pl.col(first) - pl.col(second))
    delta = pl.col("_delta")
    groups = _describe_groups(
        deltas,
        by,
        "_delta",
        pl.col(first).mean().alias("first"),
        pl.col(second).mean().alias("second"),
        delta.filter(delta > 0).sum().alias("gained"),
        (-delta.filter(delta < 0).sum()).alias("lost"),
        delta.is_in([-1.0, 0.0, 1.0]).all().alias("signs"),
        (delta.max() - delta.min()).alias("range"),
    )
    arrays = {
        name: groups[name].to_numpy().astype(float)
        for name in (*_STATISTICS, "gained", "lost", "range")
    }
    signs = groups["signs"].to_numpy() | (arrays["range"] <= SAME)
    n_eff = _effective_n(arrays, level)
    signed_low, signed_high = _compare_signs(arrays, n_eff, level)
    error = _standard_error(arrays)
    low, high = _compare_means(arrays, error, level)
    return groups.select(
        *by,
        pl.col("mean").alias("estimate"),
        pl.Series("low", np.where(signs, signed_low, low)),
        pl.Series("high", np.where(signs, signed_high, high)),
        "n",
        "clusters",
        pl.Series("n_eff", n_eff),
        "first",
        "second",
        "gained",
        "lost",
        pl.col("signs").alias("binary"),
        pl.Series("standard_error", error).fill_nan(None),
        "squares",
        "between",
        "sizes_squared",
    )


_STATISTICS = ("mean", "n", "squares", "clusters", "sizes_squared", "between")


def _describe_groups(
    values: pl.DataFrame, by: Sequence[str], column: str, *more: pl.Expr
) -> pl.DataFrame:
    """Return the sums over the items and clusters of each group that determine its variance."""
    import polars as pl

    value = pl.col(column)
    one = pl.lit(0).alias("_one")
    keys = list(by) or ["_one"]
    frame = values if by else values.with_columns(one)
    groups = frame.group_by(keys, maintain_order=True).agg(
        value.mean().alias("mean"),
        pl.len().cast(pl.Int64).alias("n"),
        ((value - value.mean()) ** 2).sum().alias("squares"),
        ((value == 0) | (value == 1)).all().alias("binary"),
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


def _design_effect(sums: dict[str, Floats]) -> Floats:
    """See `statistics.design_effect.estimate_design_effect`."""
    n, clusters = sums["n"], sums["clusters"]
    with np.errstate(divide="ignore", invalid="ignore"):
        independent = sums["squares"] * n / (n - 1)
        between = sums["between"] * clusters / (clusters - 1)
        effect = np.maximum(1.0, between / independent)
        same = (independent < EQUAL * n) | (clusters == 1)
    effect = np.where(same, sums["sizes_squared"] / n, effect)
    return np.where(n < 2, 1.0, effect)


def _effective_n(sums: dict[str, Floats], confidence: float) -> Floats:
    """See `statistics.design_effect.effective_n`."""
    n, clusters = sums["n"], sums["clusters"]
    worth = n / _design_effect(sums)
    few = (clusters > 1) & (clusters < n)
    ratio = np.ones_like(n)
    ratio[few] = (_t_values(confidence, n[few] - 1) / _t_values(confidence, clusters[few] - 1)) ** 2
    return worth * ratio


def _effective_share_n(sums: dict[str, Floats], binary: pl.Series, confidence: float) -> Floats:
    """See `statistics.design_effect.effective_share_n`."""
    worth = _effective_n(sums, confidence)
    between = ~binary.to_numpy().astype(bool) & (sums["clusters"] >= 2)
    if not between.any():
        return worth
    part = {name: values[between] for name, values in sums.items()}
    n, mean, spread = part["n"], part["mean"], part["squares"]
    most = n * mean * (1 - mean)
    spread = np.where(spread < EQUAL * n, mean**2 + (1 - mean) ** 2, spread)
    quantiles = z_value(confidence) / _t_values(confidence, part["clusters"] - 1)
    share_n = n / _design_effect(part) * most / spread * quantiles**2
    worth[between] = np.maximum(worth[between], np.minimum(share_n, n * (1 + most)))
    return worth


def _wilson(successes: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """See `statistics.intervals.wilson`; every n is above 0."""
    z = z_value(confidence)
    share, spread = successes / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * np.sqrt(np.maximum(share * (1 - share), 0) / n + spread / (4 * n))
    low = np.where(successes == 0, 0.0, np.maximum(0.0, centre - half))
    return low, np.where(successes == n, 1.0, np.minimum(1.0, centre + half))


def _compare_signs(sums: dict[str, Floats], pairs: Floats, level: float) -> tuple[Floats, Floats]:
    """Return Bonett and Price's interval of paired shares (2012, eq. 4) at the effective pairs."""
    effect = sums["n"] / pairs
    up, down = ((sums[name] / effect + 1) / (pairs + 2) for name in ("gained", "lost"))
    half = z_value(level) * np.sqrt((up + down - (up - down) ** 2) / (pairs + 2))
    return np.maximum(-1.0, up - down - half), np.minimum(1.0, up - down + half)


def _standard_error(sums: dict[str, Floats]) -> Floats:
    n, clusters = sums["n"], sums["clusters"]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(sums["squares"] / (n - 1) * _design_effect(sums) / n)
    return np.where(clusters < 2, np.nan, error)


def _compare_means(sums: dict[str, Floats], error: Floats, level: float) -> tuple[Floats, Floats]:
    """Return Student's interval of a mean difference; undefined for a single cluster."""
    several = sums["clusters"] > 1
    half = np.full_like(error, 2.0)
    half[several] = _t_values(level, sums["clusters"][several] - 1) * error[several]
    return np.maximum(-1.0, sums["mean"] - half), np.minimum(1.0, sums["mean"] + half)


def _t_values(confidence: float, freedom: NDArray[Any]) -> Floats:
    unique, places = np.unique(freedom, return_inverse=True)
    quantiles = np.array([t_value(confidence, int(df)) for df in unique], dtype=float)
    return np.asarray(quantiles[places], dtype=float) if len(unique) else np.empty(0)
