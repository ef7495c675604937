"""Tests between two sets of runs; `estimators.summarise_runs` gives their mean and spread."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from statistics import fmean, stdev
from typing import Final, NamedTuple

from omibench.extras import require_extra

STARS: Final = ((0.0001, "****"), (0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Below which p stands how many stars (USNCO-V, section "Evaluation Metrics and Significance
Tests", and the captions of figures 2 and 3)."""
SINGLE_RUN = "fewer than two runs"
NO_VARIANCE = "runs do not vary"
EQUAL = 1e-12
"""Standard deviations of accuracies below this are rounding."""


class RunTest(NamedTuple):
    """A t test between two sets of runs; p is NaN where `reason` says why there is none."""

    p: float
    reason: str = ""


def compare_runs(runs: Sequence[float], baseline: Sequence[float]) -> RunTest:
    """The one-sided p that the mean over `runs` is not above the baseline's (Welch 1947).

    USNCO-V, section "Evaluation Metrics and Significance Tests". Where neither set varies there is
    no error to hold a difference against: no p, as its figure 3 prints no marks for models that
    decode deterministically. Where one varies, its degrees of freedom count alone.

    Args:
        runs: The accuracy of each run.
        baseline: That of each run of the baseline; the two may differ in number.

    Raises:
        MissingExtraError: scipy is not installed.
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
    """The two-sided p of Student's test over runs that are paired by their number.

    OMIBench, appendix J: comparisons over five repeated runs.

    Args:
        runs: The accuracy of each run.
        baseline: Those of the same runs of the baseline, in the same order.

    Raises:
        ValueError: The two differ in number.
        MissingExtraError: scipy is not installed.
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
    """The marks of a p value: '*' below 0.05 to '****' below 0.0001; none for NaN."""
    if isnan(p):
        return ""
    return next((stars for limit, stars in STARS if p < limit), "")
