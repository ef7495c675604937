"""Logistic regression of correctness on model, setting, number of images and subject."""

from __future__ import annotations

from math import exp

import polars as pl

from omibench.results.load import VOTE_MARK
from omibench.results.slices import label_items
from omibench.results.statistics.regression import AnswerCounts, fit_logistic
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import result, write_estimate

ITEM_FACTORS = ("n_images", "subject")


@result("regression", "Odds of a right answer by model, setting, images and subject")
def tabulate_regression(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate a logistic regression for each scorer, if `analyze.regression` is set.

    The outcomes are counts of right answers per item and cell. Items that share a stem and all
    answers to one item are a cluster (`statistics.logistic.fit_logistic`). The baseline of a factor
    is the first model, the reference setting, the smallest number of images and the first subject.
    `estimate`, `low` and `high` are log-odds, `odds_ratio` is e to that power; `note` explains a
    missing estimate. Items with a credit of at least 0.5 count as right.

    Args:
        analysis: The study's results.

    Returns:
        One row per scorer and level; `slice` is the factor, `value` the level, `n` its answers.
    """
    if not analysis.study.analyze.regression:
        return None
    results = analysis.results
    verdicts = results.counting_verdicts.with_columns(right=pl.col("verdict") >= 0.5)
    rows = []
    for rules in results.rules:
        if VOTE_MARK in rules:
            continue
        counts = (
            verdicts.filter(pl.col("rules") == rules)
            .group_by("model", "setting", "id", maintain_order=True)
            .agg(pl.col("cluster").first(), pl.col("right").sum(), total=pl.len())
        )
        fit = fit_logistic(_make_counts(analysis, counts), analysis.confidence)
        rows += [
            {
                "rules": rules, "slice": row.factor, "value": row.level, "metric": "log odds",
                **write_estimate((row.estimate, row.low, row.high)), "n": row.n,
                "clusters": fit.clusters, "simulated": results.rests_on_simulation(rules),
                "odds_ratio": exp(row.estimate), "p": row.p, "note": row.note,
            }
            for row in fit.coefficients
        ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _make_counts(analysis: Analysis, counts: pl.DataFrame) -> AnswerCounts:
    study, results = analysis.results.study, analysis.results
    levels: dict[str, list[str]] = {}
    for name in ITEM_FACTORS:
        labels = label_items(analysis.items, name).select("id", value="value")
        counts = counts.join(labels, on="id", maintain_order="left").rename({"value": name})
        levels[name] = labels["value"].unique(maintain_order=True).to_list()
    reference = results.family.setting
    settings = dict.fromkeys(
        [*([reference] if reference else []), *(cell.setting for cell in study.cells)]
    )
    models = dict.fromkeys(cell.model for cell in study.cells)
    levels = {"model": list(models), "setting": list(settings), **levels}
    return AnswerCounts(
        right=counts["right"].to_list(),
        total=counts["total"].to_list(),
        clusters=counts["cluster"].to_list(),
        factors={name: counts[name].to_list() for name in levels},
        levels={name: values for name, values in levels.items() if len(values) > 1},
    )
