"""Accuracy against the token budget of a response."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from omibench.results.grouped import estimate_groups
from omibench.stages.analyze.results.curves.points import (
    estimate_points,
    frame_cells,
    frame_points,
)
from omibench.stages.analyze.results.curves.series import locate_budget
from omibench.stages.analyze.results.result import result
from omibench.statistics.intervals import clustered_mean

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis


@result(
    "accuracy-by-budget",
    "Accuracy and tokens used by token budget",
    source="OMIBench, H.1 and figure 5a",
)
def tabulate_budgets(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate settings that differ only in the maximum number of new tokens.

    Args:
        analysis: The study's results.

    Returns:
        One row per model, setting and metric: accuracy under every scorer; `tokens`, the mean
        number of tokens per response as counted by the provider; `truncated`, the share of
        truncated responses. `budget` is in tokens; `series` distinguishes curves of other
        conditions. None if no model has two budgets.
    """
    import polars as pl

    points = frame_points(analysis, locate_budget, "budget")
    if points.is_empty():
        return None
    accuracy = estimate_points(analysis, points, analysis.item_values)
    used = points.join(
        pl.concat([_average_tokens(analysis, points), _count_truncated(analysis, points)]),
        on=["model", "setting"],
        how="inner",
        maintain_order="left_right",
    )
    return pl.concat([accuracy, used], how="diagonal")


def _select_responses(analysis: Analysis, points: pl.DataFrame) -> pl.DataFrame:
    """Return the responses at the points, with their item's cluster and their cell's mark."""
    clusters = analysis.items.select("id", "cluster")
    cells = frame_cells(analysis).select("model", "setting", "simulated")
    keys = points.select("model", "setting").unique()
    responses = analysis.results.responses.drop("simulated").join(
        keys, on=["model", "setting"], how="semi"
    )
    return responses.join(clusters, on="id").join(cells, on=["model", "setting"])


def _average_tokens(analysis: Analysis, points: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    items = (
        _select_responses(analysis, points)
        .drop_nulls("output_tokens")
        .group_by("model", "setting", "simulated", "id", "cluster", maintain_order=True)
        .agg(pl.col("output_tokens").mean())
    )
    rows = []
    for (model, setting, simulated), part in items.group_by(
        "model", "setting", "simulated", maintain_order=True
    ):
        clusters = part["cluster"].to_list()
        mean = clustered_mean(
            part["output_tokens"].to_list(), clusters, analysis.confidence, 0, inf
        )
        rows.append(
            (model, setting, simulated, mean.mean, mean.lo, mean.hi, mean.n, len(set(clusters)))
        )
    schema = {
        "model": pl.String, "setting": pl.String, "simulated": pl.Boolean, "estimate": pl.Float64,
        "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "clusters": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(metric=pl.lit("tokens"))


def _count_truncated(analysis: Analysis, points: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    items = (
        _select_responses(analysis, points)
        .group_by("model", "setting", "simulated", "id", "cluster", maintain_order=True)
        .agg(truncated=(pl.col("outcome") == "truncated").mean())
    )
    keys = ["model", "setting", "simulated"]
    shares = estimate_groups(items, keys, analysis.confidence, "truncated").drop("n_eff")
    columns = ["model", "setting", "simulated", "estimate", "low", "high", "n", "clusters"]
    return shares.select(columns).with_columns(metric=pl.lit("truncated"))
