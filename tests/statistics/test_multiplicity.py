"""Adjusted p values against statsmodels, and the ranks that tests leave possible."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from omibench.results.statistics.intervals import adjust_holm, find_rank_ranges


@pytest.mark.parametrize("tests", [1, 2, 10, 300])
def test_the_adjusted_values_are_those_of_statsmodels(tests: int) -> None:
    values = np.random.default_rng(tests).random(tests) ** 3
    values[: tests // 3] = values[-1]
    assert adjust_holm(values) == pytest.approx(multipletests(values, method="holm")[1])


def test_a_test_that_could_not_be_made_is_no_part_of_the_family() -> None:
    assert adjust_holm([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert adjust_holm([]).size == 0


def test_only_significant_differences_narrow_the_range() -> None:
    accuracies = np.array([0.6, 0.5, 0.3])
    differences = accuracies[:, None] - accuracies[None, :]
    p_values = np.array([[1, 0.2, 0.001], [0.2, 1, 0.01], [0.001, 0.01, 1]])
    assert find_rank_ranges(differences, p_values) == [(1, 2), (1, 2), (3, 3)]
    assert find_rank_ranges(differences, p_values, alpha=0.005) == [(1, 2), (1, 3), (2, 3)]


def test_a_pair_that_was_not_tested_leaves_ranks_open() -> None:
    assert find_rank_ranges([[0, 0.5], [-0.5, 0]], np.full((2, 2), np.nan)) == [(1, 2), (1, 2)]


def test_all_ranks_are_fixed_where_all_pairs_differ() -> None:
    accuracies = np.array([0.1, 0.9, 0.5])
    ranges = find_rank_ranges(accuracies[:, None] - accuracies, np.zeros((3, 3)))
    assert ranges == [(3, 3), (1, 1), (2, 2)]
