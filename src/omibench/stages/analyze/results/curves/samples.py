"""Accuracy against the number of samples, with a line on log2 k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omibench.results.grouped import estimate_groups
from omibench.stages.analyze.results.accuracy import CELL
from omibench.stages.analyze.results.curves.points import frame_cells
from omibench.stages.analyze.results.curves.votes import measure_samples
from omibench.stages.analyze.results.result import result
from omibench.statistics.curves import fit_log_trend

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

FIT = (1, 3, 4, 8, 16)
"""The values of k used to fit the line (OMIBench, eq. 12: no vote is defined for 2)."""
SLOPE, INTERCEPT = "slope", "intercept"
_METRIC = (*CELL, "metric")


@result(
    "accuracy-by-k",
    "pass@k, majority@k and consistency@k by the number of samples, and their slopes",
    source="OMIBench, H.3 and figure 5c; USNCO-V, eqs. 3 to 5; EMMA, section 4.1",
)
def tabulate_samples(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate pass@k, majority@k and consistency@k for k = 1 to 16.

    Each value is the mean over all subsets of k of the n samples, which is unbiased for k fresh
    samples. Lines are fitted by least squares on log2 k at k = 1, 3, 4, 8 and 16, up to the number
    of samples.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell with several samples, scorer, metric (`pass@k`, `majority@k`: the verdict
        of the most frequent answer, ties drawn; `consistency@k`: the share of samples that give it)
        and `k`. Rows with the metric `slope` (gain per doubling, with `r_squared`) and `intercept`
        (at k = 1) describe the line through the metric in `curve`. None if no problem has several
        samples.
    """
    import polars as pl

    values = _frame_worths(analysis)
    if values.is_empty():
        return None
    estimates = estimate_groups(values, [*_METRIC, "k"], analysis.confidence, "value").drop("n_eff")
    lines = pl.DataFrame(_fit_lines(analysis, values), infer_schema_length=None)
    table = pl.concat([estimates.with_columns(curve=pl.col("metric")), lines], how="diagonal")
    cells = frame_cells(analysis).select("model", "setting", "label", "setting_label")
    return analysis.mark_simulated(
        table.join(cells, on=["model", "setting"], how="left", maintain_order="left")
    )


def _frame_worths(analysis: Analysis) -> pl.DataFrame:
    """Return a row per problem of a cell, scorer, metric and k, with the problem's cluster."""
    import polars as pl

    results = analysis.results
    settings = {cell.setting for cell in results.study.aggregated_cells}
    verdicts = results.verdicts.filter(pl.col("setting").is_in(settings))
    parts = verdicts.partition_by("model", "setting", as_dict=True)
    rows = [
        (cell.model, cell.setting, *worth)
        for cell in results.study.aggregated_cells
        if (cell.model, cell.setting) in parts
        for worth in measure_samples(results, cell, parts[cell.model, cell.setting])
    ]
    schema: dict[str, pl.DataType] = {
        **dict.fromkeys(("model", "setting", "rules", "id", "metric"), pl.String()),
        "value": pl.List(pl.Float64),
    }
    clusters = analysis.items.select("id", "cluster")
    return (
        pl.DataFrame(rows, schema=schema, orient="row")
        .with_columns(k=pl.int_ranges(1, pl.col("value").list.len() + 1))
        .explode("value", "k")
        .drop_nulls("k")
        .join(clusters, on="id", maintain_order="left")
    )


def _fit_lines(analysis: Analysis, values: pl.DataFrame) -> list[dict[str, Any]]:
    import polars as pl

    points = values.filter(pl.col("k").is_in(FIT))
    rows: list[dict[str, Any]] = []
    for keys, part in points.group_by(*_METRIC, maintain_order=True):
        wide = part.sort("k").group_by("id", "cluster", maintain_order=True).agg("value")
        places = part["k"].unique().sort().to_list()
        matrix = np.array(wide["value"].to_list(), dtype=float)
        clusters = wide["cluster"].to_list()
        trend = fit_log_trend(places, matrix, clusters, analysis.confidence)
        if trend is None:
            continue
        *cell, curve = keys
        facts = dict(zip(CELL, cell, strict=True)) | {"curve": curve}
        for metric, term in ((SLOPE, trend.slope), (INTERCEPT, trend.intercept)):
            numbers = {"estimate": term.mean, "low": term.lo, "high": term.hi, "n": term.n}
            facts |= {"metric": metric, "clusters": len(set(clusters))}
            rows.append(facts | numbers | {"r_squared": trend.r_squared})
    return rows
