"""Repeated samples: pass@k, votes and agreement of k of n samples, and tests over runs.

The n samples of a problem fall into classes of equal answers, and samples without an answer. The
first k samples are one subset of many; the mean over all equally likely subsets is unbiased for
k new samples (Chen et al. 2021, section 2.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import comb, isnan, nan, sqrt
from statistics import fmean, stdev
from typing import Final, NamedTuple

import numpy as np

from omibench.extras import require_extra
from omibench.results.statistics.intervals import Floats

STARS: Final = ((0.0001, "****"), (0.001, "***"), (0.01, "**"), (0.05, "*"))
"""p thresholds of the stars (USNCO-V, section "Evaluation Metrics and Significance Tests", and the
captions of figures 2 and 3).
"""
SINGLE_RUN = "fewer than two runs"
NO_VARIANCE = "runs do not vary"
EQUAL = 1e-12
"""Smaller standard deviations of accuracies are rounding error."""


def pass_at_k(n: int, right: int, k: int) -> float:
    """Return the probability that k of n samples, drawn without replacement, include a correct one.

    1 - C(n - right, k) / C(n, k): unbiased for k new samples (Chen et al. 2021, section 2.1);
    with k = n it is the pass@5 of USNCO-V (eq. 3). Raises ValueError for k or right out of
    range.
    """
    if not 1 <= k <= n:
        raise ValueError(f"k must be in 1..{n}, got {k}")
    if not 0 <= right <= n:
        raise ValueError(f"right must be in 0..{n}, got {right}")
    return 1 - comb(n - right, k) / comb(n, k)


class AnswerCounts(NamedTuple):
    """Samples of one problem: class sizes, and the number of samples without an answer."""

    classes: tuple[int, ...]
    """Sizes of the classes of equal answers, each at least 1."""
    invalid: int = 0

    @property
    def samples(self) -> int:
        """Number of samples."""
        return sum(self.classes) + self.invalid


@cache
def vote_curve(
    counts: AnswerCounts, verdicts: tuple[float, ...], invalid_verdict: float, most: int
) -> tuple[float, ...]:
    """Return the mean verdict of the majority answer among k samples, for k = 1 to `most`.

    The largest class wins, with random tie breaks; without any answer, an invalid sample is
    chosen (OMIBench, H.3).

    Args:
        counts: Classes of the samples.
        verdicts: Mean verdict of the members of each class, in the order of `counts.classes`.
        invalid_verdict: Mean verdict of the samples without an answer; 0 if there are none.
        most: Largest number of voting samples, in 1..n.

    Returns:
        For each k the mean over all subsets of k samples, and over ties.

    Raises:
        ValueError: If `most` is out of range, or `verdicts` does not match the classes.
    """
    if len(verdicts) != len(counts.classes):
        raise ValueError(f"{len(verdicts)} verdicts but {len(counts.classes)} classes")
    chances = _winning_chances(_normalise(counts), _check_most(counts, most))
    curve = np.array(
        [comb(counts.invalid, k) / comb(counts.samples, k) for k in range(1, most + 1)]
    )
    curve *= invalid_verdict
    for size, verdict in zip(counts.classes, verdicts, strict=True):
        curve += chances[size] * verdict
    return tuple(curve.tolist())


@cache
def agreement_curve(counts: AnswerCounts, most: int) -> tuple[float, ...]:
    """Return the mean share of k samples that give their most frequent answer, for k = 1 to `most`.

    USNCO-V, equations 4 and 5.

    Args:
        counts: Classes of the samples; those without a valid answer count in the denominator.
        most: Largest number of compared samples, in 1..n.

    Returns:
        For each k the mean over all subsets of k samples.

    Raises:
        ValueError: If `most` is out of range.
    """
    _check_most(counts, most)
    classes, ks = Counter(counts.classes), np.arange(1, most + 1)
    totals = np.array([comb(counts.samples, int(k)) for k in ks], dtype=float)
    largest = min(most, max(counts.classes, default=0))
    expected = np.zeros(
        most
    )  # of the largest class: the sum over a of the probability that it has more
    for members in range(largest):
        if members == 0:
            within = np.array([comb(counts.invalid, int(k)) for k in ks], dtype=float)
        else:
            within = _ways_below(classes, counts.invalid, members, most)[1:].sum(axis=1)
        expected += 1 - within / totals
    return tuple((expected / ks).tolist())


def _check_most(counts: AnswerCounts, most: int) -> int:
    if not 1 <= most <= counts.samples:
        raise ValueError(f"k must be in 1..{counts.samples}, got {most}")
    return most


def _normalise(counts: AnswerCounts) -> AnswerCounts:
    return AnswerCounts(tuple(sorted(counts.classes)), counts.invalid)


@cache
def _winning_chances(counts: AnswerCounts, most: int) -> dict[int, Floats]:
    """Map class size -> probabilities that a class of this size wins, for k = 1 to `most`.

    A class wins with a members if no other has more, and with 1 / (t + 1) if t others also have
    a. The ways to draw from the others are coefficients of a product of polynomials.
    """
    multiplicity = Counter(counts.classes)
    chances = {size: np.zeros(most) for size in multiplicity}
    totals = np.array([comb(counts.samples, k) for k in range(1, most + 1)], dtype=float)
    for members in range(1, min(most, max(counts.classes, default=0)) + 1):
        shares = 1 / np.arange(1, (most - members) // members + 3)
        for size in (size for size in multiplicity if size >= members):
            others = multiplicity - Counter([size])
            ways = _ways_below(others, counts.invalid, members, most - members) @ shares
            chances[size][members - 1 :] += comb(size, members) * ways / totals[members - 1 :]
    return chances


def _ways_below(classes: Counter[int], invalid: int, most: int, samples: int) -> Floats:
    """Count draws of s samples with no class above `most` and t classes equal to it: [s, t]."""
    ways = np.zeros((samples + 1, samples // most + 2))
    drawn = np.arange(min(invalid, samples) + 1)
    ways[: len(drawn), 0] = [comb(invalid, int(number)) for number in drawn]
    for size, number in classes.items():
        for _ in range(number):
            ways = _draw_from_class(ways, size, most)
    return ways


def _draw_from_class(ways: Floats, size: int, most: int) -> Floats:
    """Extend the counts by a class of `size` samples, at most `most` of which are drawn."""
    more = np.zeros_like(ways)
    for number in range(min(size, most, len(ways) - 1) + 1):
        rows = ways[: len(ways) - number] * comb(size, number)
        if number == most:
            more[number:, 1:] += rows[:, :-1]
        else:
            more[number:] += rows
    return more


class Runs(NamedTuple):
    """Accuracies of repeated runs: mean, sample standard deviation, standard error of the mean.

    The last two are NaN for a single run.
    """

    mean: float
    sd: float
    sem: float
    runs: int


def summarise_runs(accuracies: Sequence[float]) -> Runs:
    """Return mean and spread over runs (OMIBench, table 5; USNCO-V). Raises ValueError without
    runs.
    """
    runs = len(accuracies)
    if not runs:
        raise ValueError("no runs given")
    sd = stdev(accuracies) if runs > 1 else nan
    return Runs(fmean(accuracies), sd, sd / sqrt(runs), runs)


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
