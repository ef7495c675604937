"""Repeated runs: mean and spread of each cell, and one-sided tests against baselines."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from omibench.results.statistics.samples import (
    compare_run_pairs,
    compare_runs,
    mark_stars,
    summarise_runs,
)
from omibench.stages.analyze.results.baselines import DIFFERENCE, mark_both_simulated
from omibench.stages.analyze.results.result import result
from omibench.stages.analyze.results.slices import slice_items

if TYPE_CHECKING:
    from omibench.stages.analyze.analysis import Analysis

RUN_MEAN = "run mean"
Key = tuple[str, str, str, str, str]
"""Model, setting, scorer, slice and value."""


class _Runs(NamedTuple):
    """The accuracy of each run of a cell in order, with the number of items and clusters."""

    accuracies: list[float]
    items: int
    clusters: int


@result(
    "run-tests",
    "Accuracy over repeated runs, and tests over runs",
    source="USNCO-V, figures 2 and 3; OMIBench, table 5",
)
def tabulate_runs(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate mean, SD and SEM over runs, and gains over baselines, overall and by slice.

    A run is one sample index of a cell whose samples all count. Cells that select one sample per
    item have no runs. Rows with the metric `run mean` have `estimate` (the mean over runs of the
    accuracy over items), `sd`, `sem` and `runs`; each judge of a panel has separate rows. Rows with
    the metric `difference` compare a setting or model with its baseline in `analyze.baselines`:
    `p_welch` is the one-sided p of Welch's test that the mean over runs is not above the
    baseline's, `stars` its marks (USNCO-V), `p_paired` the two-sided p of runs paired by their
    number (OMIBench, J), and `note` the reason for a missing p: fewer than two runs, or no
    variance. These tests generalise to other runs over the same items; those of `baselines`
    generalise to other items.

    Args:
        analysis: The study's results.

    Returns:
        The rows; None if no cell has two runs.
    """
    runs = _list_runs(analysis)
    if not any(len(cell.accuracies) > 1 for cell in runs.values()):
        return None
    tables = [
        analysis.mark_simulated(pl.DataFrame(_summarise(runs), infer_schema_length=None)),
        *_compare(analysis, runs),
    ]
    return pl.concat(tables, how="diagonal_relaxed")


def _list_runs(analysis: Analysis) -> dict[Key, _Runs]:
    """Return the runs of each cell, overall and by slice."""
    settings = analysis.results.study.settings.items()
    # If one sample of an item is selected, its index differs between items: no index is a run.
    chosen = [name for name, setting in settings if setting.aggregate.how not in ("mean", "first")]
    verdicts = analysis.results.counting_verdicts.filter(~pl.col("setting").is_in(chosen)).select(
        "model", "setting", "rules", "id", "cluster", "index", "verdict"
    )
    labels = slice_items(analysis)
    runs: dict[Key, _Runs] = {}
    cell = ["model", "setting", "rules"]
    for part in labels.partition_by("slice", maintain_order=True):
        keys = [*cell, "slice", "value"]
        means = (
            verdicts.join(part, on="id")
            .group_by(*keys, "index")
            .agg(pl.col("verdict").mean(), pl.len(), pl.col("cluster").n_unique())
            .sort(*keys, "index")
        )
        # Drop runs with missing items: their accuracy is for other problems.
        whole = means.filter(pl.col("len") == pl.col("len").max().over(keys))
        grouped = whole.group_by(keys, maintain_order=True).agg(
            "verdict", pl.col("len").first(), pl.col("cluster").first()
        )
        for model, setting, rules, name, value, *cell_runs in grouped.iter_rows():
            runs[model, setting, rules, name, value] = _Runs(*cell_runs)
    return runs


def _summarise(runs: dict[Key, _Runs]) -> list[dict[str, Any]]:
    rows = []
    for key, runs_of_cell in runs.items():
        if len(runs_of_cell.accuracies) < 2:
            continue
        summary = summarise_runs(runs_of_cell.accuracies)
        rows.append(
            _name_key(key)
            | {
                "metric": RUN_MEAN,
                "estimate": summary.mean,
                "n": runs_of_cell.items,
                "clusters": runs_of_cell.clusters,
                "runs": summary.runs,
                "sd": summary.sd,
                "sem": summary.sem,
            }
        )
    return rows


def _compare(analysis: Analysis, runs: dict[Key, _Runs]) -> list[pl.DataFrame]:
    declared = analysis.study.analyze.baselines
    rows: list[dict[str, Any]] = []
    for key, runs_of_cell in runs.items():
        model, setting, rules, name, value = key
        for kind, baseline in (
            ("setting", declared.settings.get(setting)),
            ("model", declared.models.get(model)),
        ):
            if baseline is None:
                continue
            cell = (model, baseline) if kind == "setting" else (baseline, setting)
            base = runs.get((*cell, rules, name, value))
            if base is None or max(len(runs_of_cell.accuracies), len(base.accuracies)) < 2:
                continue
            row = _name_key(key) | {
                "kind": kind,
                "baseline": baseline,
                "n": runs_of_cell.items,
                "clusters": runs_of_cell.clusters,
            }
            rows.append(row | _test(runs_of_cell.accuracies, base.accuracies))
    if not rows:
        return []
    return [mark_both_simulated(analysis, pl.DataFrame(rows, infer_schema_length=None))]


def _test(values: list[float], base: list[float]) -> dict[str, Any]:
    welch = compare_runs(values, base)
    paired = compare_run_pairs(values, base) if len(values) == len(base) else None
    score, baseline = sum(values) / len(values), sum(base) / len(base)
    return {
        "metric": DIFFERENCE,
        "estimate": score - baseline,
        "score": score,
        "baseline_score": baseline,
        "runs": len(values),
        "baseline_runs": len(base),
        "p_welch": None if isnan(welch.p) else welch.p,
        "stars": mark_stars(welch.p),
        "p_paired": None if paired is None or isnan(paired.p) else paired.p,
        "note": welch.reason,
    }


def _name_key(key: Key) -> dict[str, Any]:
    return dict(zip(("model", "setting", "rules", "slice", "value"), key, strict=True))
