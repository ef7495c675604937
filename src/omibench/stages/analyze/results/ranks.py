"""All pairs of models under the reference setting, and the range of ranks their tests allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from omibench.params.setting import Cell
from omibench.results.grouped import FamilyTests, compare_family
from omibench.results.load import VOTE_MARK
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.baselines import DIFFERENCE
from omibench.stages.analyze.results.result import frame_rows, result, write_estimate


@result("ranks", "Ranges of ranks from paired tests")
def tabulate_ranks(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate each cell's rank by accuracy, and the range of ranks allowed by the tests of all
    pairs.

    The cells are those compared by the headline. `estimate` is the rank by accuracy (equal
    accuracies share the best); `low` and `high` are the best and the worst rank that Holm's tests
    over all pairs allow (Mogstad, Romano, Shaikh and Wilhelm 2024). Jointly, all ranges contain the
    true ranks with probability `analyze.confidence`. Cells are ranked over the items that each
    answered.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell and scorer, best first; None for a single cell.
    """
    rows: list[dict[str, Any]] = []
    for rules, tests in _test_books(analysis):
        means = _list_means(analysis, rules, tests)
        scores = [mean["score"] for mean in means.values()]
        rows += [
            mean
            | {
                "rules": rules,
                "metric": "rank",
                "estimate": 1 + sum(score > mean["score"] for score in scores),
                "low": tests.ranks[cell].best,
                "high": tests.ranks[cell].worst,
                "cells": len(means),
                "family": len(tests.pairs),
            }
            for cell, mean in sorted(means.items(), key=lambda entry: -entry[1]["score"])
        ]
    return analysis.mark_simulated(pl.DataFrame(rows)) if rows else None


@result("pairs", "All pairs of models under the reference setting")
def tabulate_pairs(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the paired difference of every two cells compared by the headline.

    The difference is first minus second over the items that both answered, with p, Holm's p over
    all pairs, and, if it is not significant, the smallest difference detected with a power of 0.8.

    Args:
        analysis: The study's results.

    Returns:
        One row per pair and scorer; None for a single cell.
    """
    rows = [
        {
            "model": first.model,
            "setting": first.setting,
            "baseline_model": second.model,
            "baseline_setting": second.setting,
            "rules": rules,
            "metric": DIFFERENCE,
            **write_estimate(test.difference),
            "n": test.difference.n,
            "clusters": test.clusters,
            "p": test.p,
            "p_holm": test.adjusted,
            "family": len(tests.pairs),
            "detectable": None if test.adjusted < tests.alpha else test.detectable,
        }
        for rules, tests in _test_books(analysis)
        for (first, second), test in tests.pairs.items()
    ]
    table = frame_rows(rows)
    if table is None:
        return None
    return analysis.mark_pairs(table, pl.col("baseline_model"), pl.col("baseline_setting"))


def _test_books(analysis: Analysis) -> Iterator[tuple[str, FamilyTests]]:
    """Return the tests of each scorer; those of the main scorer are the headline's."""
    results = analysis.results
    if not results.family.pairs:
        return
    for rules in results.rules:
        if rules == results.main_rules:
            yield rules, results.family_tests
        elif VOTE_MARK not in rules:
            verdicts = results.select_verdicts(rules)
            yield rules, compare_family(verdicts, results.family, analysis.confidence)


def _list_means(analysis: Analysis, rules: str, tests: FamilyTests) -> dict[Cell, dict[str, Any]]:
    """Return the accuracy of each cell of the family as its `score`, in order."""
    means = (
        analysis.item_values.filter(rules=rules)
        .group_by("model", "setting")
        .agg(score=pl.col("verdict").mean(), n=pl.len(), clusters=pl.col("cluster").n_unique())
    )
    by_cell = {Cell(row["model"], row["setting"]): row for row in means.to_dicts()}
    return {cell: by_cell[cell] for cell in tests.family.cells if cell in by_cell}
