"""The paired cluster bootstrap: its interval is that of theory, and a seed fixes it."""

from __future__ import annotations

import numpy as np
import pytest

from omibench.statistics.bootstrap import bootstrap_difference
from omibench.statistics.paired_tests import compare_sums, sum_pairs


def draw_differences(clusters: int, size: int) -> tuple[list[float], list[int]]:
    generator = np.random.default_rng(3)
    shared = np.repeat(generator.choice([-1, 0, 1], clusters, p=[0.1, 0.6, 0.3]), size)
    single = generator.choice([-1, 0, 1], clusters * size, p=[0.1, 0.7, 0.2])
    together = generator.random(clusters * size) < 0.5
    groups = [i // size for i in range(clusters * size)]
    return np.where(together, shared, single).astype(float).tolist(), groups


@pytest.mark.parametrize("size", [1, 4])
def test_it_agrees_with_the_clustered_standard_error(size: int) -> None:
    differences, groups = draw_differences(150, size)
    sums = sum_pairs(differences, [0.0] * len(differences), groups)
    error = float(np.sqrt(sums.between[0] * 150 / 149)) / len(differences)
    result = bootstrap_difference(differences, groups, resamples=4000)
    assert result.value == pytest.approx(np.mean(differences))
    assert (result.high - result.low) / 2 == pytest.approx(1.96 * error, rel=0.06)


def test_its_p_is_near_that_of_the_t_test() -> None:
    generator = np.random.default_rng(8)
    differences = generator.normal(0.02, 0.1, 100).clip(-1, 1).tolist()
    expected = compare_sums(sum_pairs(differences, [0.0] * 100, range(100))).p[0]
    assert bootstrap_difference(differences, range(100)).p == pytest.approx(expected, abs=0.01)


def test_a_seed_fixes_the_draws() -> None:
    differences, groups = draw_differences(40, 2)
    first, again, other = (
        bootstrap_difference(differences, groups, seed=seed, resamples=600) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_equal_answers_differ_by_nothing() -> None:
    assert bootstrap_difference([0.0] * 9, range(9), resamples=50) == (0, 0, 0, 1)


def test_no_differences_are_refused() -> None:
    with pytest.raises(ValueError, match="0 differences"):
        bootstrap_difference([], [])
