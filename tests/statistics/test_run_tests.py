"""Tests over runs against scipy, and what they say where runs do not vary."""

from __future__ import annotations

from math import isnan, nan

import pytest
from scipy.stats import ttest_1samp, ttest_ind, ttest_rel

from omibench.statistics.run_tests import (
    NO_VARIANCE,
    SINGLE_RUN,
    compare_run_pairs,
    compare_runs,
    mark_stars,
)

RUNS, BASELINE = [0.52, 0.49, 0.55, 0.5, 0.53], [0.47, 0.48, 0.5, 0.46, 0.49]


def test_welch_is_one_sided() -> None:
    expected = ttest_ind(RUNS, BASELINE, equal_var=False, alternative="greater").pvalue
    assert compare_runs(RUNS, BASELINE).p == pytest.approx(expected)
    assert compare_runs(BASELINE, RUNS).p == pytest.approx(1 - expected)


def test_runs_are_paired_by_their_number() -> None:
    assert compare_run_pairs(RUNS, BASELINE).p == pytest.approx(ttest_rel(RUNS, BASELINE).pvalue)
    with pytest.raises(ValueError, match="zip"):
        compare_run_pairs(RUNS, BASELINE[1:])


@pytest.mark.parametrize("compare", [compare_runs, compare_run_pairs])
def test_without_variance_there_is_no_p(compare: object) -> None:
    assert callable(compare)
    p, reason = compare([0.5] * 5, [0.4] * 5)
    assert isnan(p)
    assert reason == NO_VARIANCE
    p, reason = compare([0.5], [0.4])
    assert isnan(p)
    assert reason == SINGLE_RUN


def test_one_side_that_varies_is_enough_for_welch() -> None:
    """A baseline that decodes deterministically is a constant: Student's test of one sample."""
    p, reason = compare_runs(RUNS, [0.47] * 5)
    assert p == pytest.approx(ttest_1samp(RUNS, 0.47, alternative="greater").pvalue)
    assert not reason


@pytest.mark.parametrize(
    ("p", "stars"),
    [(0.05, ""), (0.0499, "*"), (0.01, "*"), (0.0099, "**"), (0.0009, "***"), (9e-5, "****"),
     (nan, "")],
)  # fmt: skip
def test_the_stars_are_those_of_usnco_v(p: float, stars: str) -> None:
    assert mark_stars(p) == stars
