"""Ranges of ranks from tests of all pairs."""

from __future__ import annotations

import numpy as np

from omibench.statistics.rank_ranges import find_rank_ranges


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
