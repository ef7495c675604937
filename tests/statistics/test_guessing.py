"""The distribution of guessed accuracies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from omibench.statistics.guessing import count_distribution, guess_accuracy

CHANCES = st.lists(st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0]), max_size=9)


def enumerate_outcomes(chances: list[float]) -> list[float]:
    """P(k right) over all 2^n outcomes."""
    distribution = [0.0] * (len(chances) + 1)
    for outcome in range(2 ** len(chances)):
        right = [bool(outcome >> place & 1) for place in range(len(chances))]
        probability = 1.0
        for is_right, chance in zip(right, chances, strict=True):
            probability *= chance if is_right else 1 - chance
        distribution[sum(right)] += probability
    return distribution


@given(CHANCES)
def test_the_distribution_is_that_of_all_outcomes(chances: list[float]) -> None:
    np.testing.assert_allclose(count_distribution(chances), enumerate_outcomes(chances), atol=1e-12)


def test_equal_chances_are_binomial() -> None:
    expected = stats.binom(2788, 0.25).pmf(range(2789))
    np.testing.assert_allclose(count_distribution([0.25] * 2788), expected, atol=1e-12)


def test_the_upper_point_is_the_binomial_quantile() -> None:
    guessed = guess_accuracy([0.25] * 52 + [0.0] * 48)
    exact = stats.binom(52, 0.25)
    assert guessed.mean == pytest.approx(0.13)
    assert guessed.sd == pytest.approx(exact.std() / 100)
    assert guessed.upper == exact.ppf(0.95) / 100
    assert (guessed.lo, guessed.hi) == (exact.ppf(0.025) / 100, exact.ppf(0.975) / 100)


def test_open_problems_alone_are_never_guessed() -> None:
    assert guess_accuracy([0.0] * 7) == (0.0, 0.0, 0.0, 0.0, 0.0, 7)


@pytest.mark.parametrize("chances", [[], [0.2, 1.5], [-0.1]])
def test_chances_out_of_range_are_refused(chances: list[float]) -> None:
    with pytest.raises(ValueError, match=r"chance must be in|no problem"):
        guess_accuracy(chances)
