"""Tests between two sets of runs; `estimators.summarise_runs` gives their mean and spread."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from statistics import fmean, stdev
from typing import Final, NamedTuple

from omibench.extras import require_extra

STARS: Final = ((0.0001, "****"), (0.001, "***"), (0.01, "**"), (0.05, "*"))
"""p thresholds of the stars (USNCO-V, section "Evaluation Metrics and Significance Tests", and the
captions of figures 2 and 3).
"""
SINGLE_RUN = "fewer than two runs"
NO_VARIANCE = "runs do not vary"
EQUAL = 1e-12
"""Smaller standard deviations of accuracies are rounding error."""


class RunTest(NamedTuple):
    """A t test between two sets of runs; if p is NaN, `reason` explains why."""

    p: float
    reason: str = ""


def compare_runs(runs: Sequence[float], baseline: Sequence[float]) -> RunTest:
    """Return the one-sided p that the mean over `runs` is not above the baseline's (Welch 1947).

    USNCO-V, section "Evaluation Metrics and Significance Tests". If neither set varies, there is
    no error estimate and no p; figure 3 of the paper prints no marks for models that decode
    deterministically. If one varies, only its degrees of freedom count.

    Args:
        runs: Accuracy of each run.
        baseline: Accuracy of each run of the baseline; the numbers of runs can differ.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    if min(len(runs), len(baseline)) < 2:
        return RunTest(nan, SINGLE_RUN)
    if max(stdev(runs), stdev(baseline)) < EQUAL:
        return RunTest(nan, NO_VARIANCE)
    require_extra("stats", "a test over runs", "scipy")
    from scipy.stats import ttest_ind_from_stats

    moments = [
        moment
        for values in (runs, baseline)
        for moment in (fmean(values), stdev(values), len(values))
    ]
    result = ttest_ind_from_stats(*moments, equal_var=False, alternative="greater")
    return RunTest(float(result.pvalue))


def compare_run_pairs(runs: Sequence[float], baseline: Sequence[float]) -> RunTest:
    """Return the two-sided p of Student's test over runs paired by their number.

    OMIBench, appendix J: comparisons over five repeated runs.

    Args:
        runs: Accuracy of each run.
        baseline: Accuracies of the same runs of the baseline, in the same order.

    Raises:
        ValueError: If the two differ in number.
        MissingExtraError: If scipy is not installed.
    """
    gains = [run - base for run, base in zip(runs, baseline, strict=True)]
    if len(gains) < 2:
        return RunTest(nan, SINGLE_RUN)
    if stdev(gains) < EQUAL:
        return RunTest(nan, NO_VARIANCE)
    require_extra("stats", "a test over runs", "scipy")
    from scipy.stats import ttest_1samp

    return RunTest(float(ttest_1samp(gains, 0.0).pvalue))


def mark_stars(p: float) -> str:
    """Return the stars of a p value: '*' below 0.05 to '****' below 0.0001; none for NaN."""
    if isnan(p):
        return ""
    return next((stars for limit, stars in STARS if p < limit), "")
