"""Mean scores from cut-offs."""

from __future__ import annotations

from math import isnan
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from omibench.stages.analyze.people import estimate_score
from omibench.stages.analyze.user_files import Cutoff


def cutoff(percentile: float, score: float) -> Cutoff:
    return Cutoff(year=2024, percentile=percentile, score=score, of=60)


def test_scores_that_are_normal_give_their_mean() -> None:
    scores = NormalDist(0.45, 0.15)
    rows = [cutoff(p, 60 * scores.inv_cdf(p / 100)) for p in (10, 25, 75, 90)]
    estimate = estimate_score(rows)
    assert estimate is not None
    assert estimate.mean == pytest.approx(0.45)
    assert (estimate.lo, estimate.hi) == pytest.approx((0.45, 0.45), abs=1e-6)


def test_two_cut_offs_give_no_interval() -> None:
    estimate = estimate_score([cutoff(50, 27), cutoff(90, 44)])
    assert estimate is not None
    assert estimate.mean == pytest.approx(27 / 60)
    assert isnan(estimate.lo)


def test_the_interval_is_that_of_the_regression() -> None:
    rows = [cutoff(p, s) for p, s in ((10, 15), (30, 24), (60, 28), (90, 46))]
    estimate = estimate_score(rows)
    quantiles = stats.norm.ppf([0.1, 0.3, 0.6, 0.9])
    line = stats.linregress(quantiles, np.asarray([15, 24, 28, 46]) / 60)
    half = stats.t.ppf(0.975, 2) * line.intercept_stderr
    assert estimate is not None
    assert estimate[:3] == pytest.approx(
        (line.intercept, line.intercept - half, line.intercept + half)
    )


def test_a_single_cut_off_says_something_only_where_it_is_the_median() -> None:
    estimate = estimate_score([cutoff(50, 27)])
    assert estimate is not None
    assert (estimate.mean, estimate.method) == (0.45, "median")
    assert estimate_score([cutoff(90, 44)]) is None
    assert estimate_score([cutoff(90, 44), cutoff(90, 45)]) is None


def test_an_estimate_stays_among_possible_scores() -> None:
    estimate = estimate_score([cutoff(90, 6), cutoff(99, 50)])
    assert estimate is not None
    assert estimate.mean == 0
