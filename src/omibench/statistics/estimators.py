"""pass@k, and mean and standard deviation over repeated runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, nan, sqrt
from statistics import fmean, stdev
from typing import NamedTuple


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
