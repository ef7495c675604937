"""Repeated runs: mean and spread of each cell, and one-sided tests against baselines."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import polars as pl

from omibench.results.grouped import adjust_families
from omibench.results.statistics.samples import (
    compare_run_pairs,
    compare_runs,
    mark_stars,
    summarise_runs,
)
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.baselines import DIFFERENCE, mark_both_simulated
from omibench.stages.analyze.results.result import result
from omibench.stages.analyze.results.slices import slice_items

RUN_MEAN = "run mean"
KEYS = ("model", "setting", "rules", "slice", "value")
Runs = dict[tuple[Any, ...], dict[str, Any]]
"""By `KEYS`: `place` (the keys, `n` items and `clusters`), and `accuracies` by run."""


@result(
    "run-tests",
    "Accuracy over repeated runs, and tests over runs",
    source="USNCO-V, figures 2 and 3; OMIBench, table 5",
)
def tabulate_runs(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate mean, SD and SEM over runs, and gains over baselines, overall and by slice.

    A run is one sample index of a cell whose samples all count, and one of `aggregate.runs` of a
    cell that chooses a sample in each. Other cells that choose one sample per item have no runs.
    Rows with the metric `run mean` have `estimate` (the mean over runs of the
    accuracy over items), `sd`, `sem` and `runs`; each judge of a panel has separate rows. Rows with
    the metric `difference` compare a setting or model with its baseline in `analyze.baselines`:
    `p_welch` is the one-sided p of Welch's test that the mean over runs is not above the
    baseline's, `p_holm` the same adjusted by Holm over the `family` of comparisons of one kind,
    scorer and slice, `stars` its marks, `stars_unadjusted` those of `p_welch` as USNCO-V prints
    them, `p_paired` the two-sided p of runs paired by their
    number (OMIBench, J), and `note` the reason for a missing p: fewer than two runs, or no
    variance. These tests generalise to other runs over the same items; those of `baselines`
    generalise to other items.

    Args:
        analysis: The study's results.

    Returns:
        The rows; None if no cell has two runs.
    """
    runs = _list_runs(analysis)
    if not any(len(cell["accuracies"]) > 1 for cell in runs.values()):
        return None
    tables = [
        analysis.mark_simulated(pl.DataFrame(_summarise(runs), infer_schema_length=None)),
        *_compare(analysis, runs),
    ]
    return pl.concat(tables, how="diagonal_relaxed")


def _list_runs(analysis: Analysis) -> Runs:
    """Return the runs of each cell, overall and by slice."""
    sizes = {
        name: setting.samples_of_a_run if setting.aggregate.runs > 1 else 1
        for name, setting in analysis.results.study.settings.items()
        # If one sample of an item is chosen, its index differs between items: no index is a run.
        if setting.aggregate.runs > 1 or setting.aggregate.how in ("mean", "first")
    }
    if not sizes:
        return {}
    size = pl.col("setting").replace_strict(sizes, return_dtype=pl.Int64)
    verdicts = analysis.results.counting_verdicts.filter(pl.col("setting").is_in([*sizes])).select(
        "model", "setting", "rules", "id", "cluster", "verdict", run=pl.col("index") // size
    )
    runs: Runs = {}
    for part in slice_items(analysis).partition_by("slice", maintain_order=True):
        means = (
            verdicts.join(part, on="id")
            .group_by(*KEYS, "run")
            .agg(pl.col("verdict").mean(), n=pl.len(), clusters=pl.col("cluster").n_unique())
            .sort(*KEYS, "run")
        )
        # Drop runs with missing items: their accuracy is for other problems.
        whole = means.filter(pl.col("n") == pl.col("n").max().over(KEYS))
        for place in whole.group_by(KEYS, maintain_order=True).agg(
            "run", "verdict", pl.col("n", "clusters").first()
        ).iter_rows(named=True):  # fmt: skip
            accuracies = dict(zip(place.pop("run"), place.pop("verdict"), strict=True))
            key = tuple(place[name] for name in KEYS)
            runs[key] = {"place": place, "accuracies": accuracies}
    return runs


def _summarise(runs: Runs) -> list[dict[str, Any]]:
    return [
        of["place"]
        | {"metric": RUN_MEAN, "estimate": summary.mean, "runs": summary.runs, "sd": summary.sd,
           "sem": summary.sem}
        for of in runs.values()
        if len(of["accuracies"]) > 1
        for summary in [summarise_runs([*of["accuracies"].values()])]
    ]  # fmt: skip


def _compare(analysis: Analysis, runs: Runs) -> list[pl.DataFrame]:
    declared = analysis.study.analyze.baselines
    rows: list[dict[str, Any]] = []
    for (model, setting, *rest), of in runs.items():
        for kind, baselines, own in (
            ("setting", declared.settings, setting),
            ("model", declared.models, model),
        ):
            baseline = baselines.get(own)
            cell = (model, baseline) if kind == "setting" else (baseline, setting)
            base = runs.get((*cell, *rest))
            if base and max(len(of["accuracies"]), len(base["accuracies"])) > 1:
                row = of["place"] | {"kind": kind, "baseline": baseline}
                rows.append(row | _test(of["accuracies"], base["accuracies"]))
    if not rows:
        return []
    table = pl.DataFrame(rows, infer_schema_length=None).cast({"p_welch": pl.Float64})
    adjusted = mark_stars_of(adjust_families(table, "p_welch", ["kind", "rules", "slice"]))
    return [mark_both_simulated(analysis, adjusted)]


def _test(runs: dict[int, float], base_runs: dict[int, float]) -> dict[str, Any]:
    values, base = [*runs.values()], [*base_runs.values()]
    welch = compare_runs(values, base)
    # If the cells lack different runs, the lists have pairs of unlike runs.
    paired = compare_run_pairs(values, base) if [*runs] == [*base_runs] else None
    score, baseline = sum(values) / len(values), sum(base) / len(base)
    return {
        "metric": DIFFERENCE,
        "estimate": score - baseline,
        "score": score,
        "baseline_score": baseline,
        "runs": len(values),
        "baseline_runs": len(base),
        "p_welch": None if isnan(welch.p) else welch.p,
        "stars_unadjusted": mark_stars(welch.p),
        "p_paired": None if paired is None or isnan(paired.p) else paired.p,
        "note": welch.reason,
    }


def mark_stars_of(table: pl.DataFrame) -> pl.DataFrame:
    """Add `stars`, the marks of `p_holm`; empty without a p."""
    marks = [mark_stars(nan if p is None else p) for p in table["p_holm"]]
    return table.with_columns(stars=pl.Series(marks, dtype=pl.String))
