"""Accuracy against the number of examples before the question, with its spread over runs."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from omibench.results.slices import label_items
from omibench.stages.analyze.results.accuracy import CELL
from omibench.stages.analyze.results.curves.points import estimate_points, frame_points
from omibench.stages.analyze.results.curves.series import locate_shots
from omibench.stages.analyze.results.result import result
from omibench.statistics.samples import RunTest, compare_runs, mark_stars

if TYPE_CHECKING:
    import polars as pl

    from omibench.params.stage_params import ResultsParams
    from omibench.stages.analyze.analysis import Analysis

EXAM = "exam"
"""The attribute that distinguishes the two sets of USNCO-V."""
_CURVE = ("model", "series", "rules", "slice", "value")
_ROW = (*CELL, "slice", "value")


@result(
    "accuracy-by-shots",
    "Accuracy by the number of examples, with the standard error over runs",
    source='USNCO-V, "Few-Shot Prompting" and figure 2; OMIBench, H.4 and figure 6a',
)
def tabulate_shots(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate settings that differ in the number of examples alone.

    Args:
        analysis: The study's results.

    Returns:
        One row per model, setting and scorer, over all items and by `exam`, if items have it.
        `shots` is the number of examples; `series` distinguishes kinds of examples. Each sample
        index is a run over all items; `sd` and `sem` are over `runs`. `p` is the one-sided p of
        Welch's test that the mean over runs exceeds that of `baseline`, the setting without
        examples, with `stars` as printed by USNCO-V; `reason` explains a missing p. None if no
        model has two numbers of examples.
    """
    import polars as pl

    points = frame_points(analysis, locate_shots, "shots")
    if points.is_empty():
        return None
    slices = _slice_by_exam(analysis.items)
    verdicts = analysis.results.counting_verdicts.join(
        points.select("model", "setting"), on=["model", "setting"], how="semi"
    )
    runs = _average_runs(verdicts.join(slices, on="id"))
    values = analysis.item_values.join(slices, on="id", maintain_order="left_right")
    estimates = estimate_points(analysis, points, values, ["slice", "value"])
    joined = estimates.join(runs, on=_ROW, how="left", maintain_order="left")
    tested = _compare_with_none(joined, _list_greedy(analysis.results.study, points))
    spread = pl.col("accuracies").list.std()
    return tested.with_columns(
        runs=pl.col("accuracies").list.len().cast(pl.Int64),
        sd=spread,
        sem=spread / pl.col("accuracies").list.len().sqrt(),
    ).drop("accuracies")


def _slice_by_exam(items: pl.DataFrame) -> pl.DataFrame:
    """Return the items of the whole dataset, and of each exam if known."""
    import polars as pl

    whole = items.select("id", pl.lit("").alias("slice"), pl.lit("").alias("value"))
    return pl.concat([whole, label_items(items, EXAM)]) if EXAM in items.columns else whole


def _average_runs(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Return the accuracies of each cell's runs, in order of sample index."""
    import polars as pl

    return (
        verdicts.group_by(*_ROW, "index")
        .agg(pl.col("verdict").mean())
        .sort("index")
        .group_by(*_ROW, maintain_order=True)
        .agg(pl.col("verdict").alias("accuracies"))
    )


def _list_greedy(study: ResultsParams, points: pl.DataFrame) -> set[tuple[str, str]]:
    """Return the cells whose repeated runs would be identical: decoded at temperature 0."""
    return {
        (model, setting)
        for model, setting in points.select("model", "setting").iter_rows()
        if study.settings[setting].decoding.temperature == 0
        and study.models[model].takes_temperature
    }


def _compare_with_none(table: pl.DataFrame, greedy: set[tuple[str, str]]) -> pl.DataFrame:
    """Test every point against the point without examples on its curve.

    A greedy run without examples is repeated to match the number of runs it is compared with
    (USNCO-V, "Few-shot prompting": five of each).
    """
    import polars as pl

    baselines = table.filter(pl.col("shots") == 0).select(
        *_CURVE, pl.col("setting").alias("baseline"), pl.col("accuracies").alias("without")
    )
    joined = table.join(baselines, on=_CURVE, how="left", maintain_order="left")
    tests = []
    for model, baseline, shots, runs, without in joined.select(
        "model", "baseline", "shots", "accuracies", "without"
    ).iter_rows():
        if not shots or without is None:
            tests.append(RunTest(nan))
            continue
        repeated = without * len(runs) if (model, baseline) in greedy else without
        tests.append(compare_runs(runs, repeated))
    return joined.with_columns(
        baseline=pl.when(pl.col("shots") > 0).then("baseline"),
        p=pl.Series([test.p for test in tests], dtype=pl.Float64),
        stars=pl.Series([mark_stars(test.p) for test in tests], dtype=pl.String),
        reason=pl.Series([test.reason for test in tests], dtype=pl.String),
    ).drop("without")
