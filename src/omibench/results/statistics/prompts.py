"""The accuracy of a model over several wordings of an instruction, and under another one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from math import sqrt
from typing import Final, NamedTuple

import numpy as np

from omibench.results.statistics.intervals import (
    Floats,
    clustered_mean,
    estimate_errors,
    sum_values,
    t_value,
)

FEWEST_PROMPTS: Final = 3
"""The minimum number of prompts for an estimate of their spread."""


class PromptSpread(NamedTuple):
    """An accuracy over prompts and items, both drawn at random; all in [0, 1]."""

    mean: float
    lo: float
    hi: float
    """Interval of the mean over all prompts and items of the kind."""
    new_lo: float
    new_hi: float
    """Interval of the accuracy under one more prompt of the kind."""
    sd: float
    """Standard deviation between prompts of their accuracies over all items."""


def estimate_prompt_spread(
    values: Floats, clusters: Sequence[Hashable], confidence: float
) -> PromptSpread:
    """Estimate the spread between prompts that were asked over the same items.

    Crossed random effects of prompts and items (Brennan 2001, Generalizability Theory, chapter 3).
    `sd`**2 is the variance of the prompts' means less half the mean variance of their paired
    differences, which is clustered; at least 0. Intervals are Student's on the variance over items
    plus that of the means, which is not reduced: with few prompts the reduced one is often 0. Their
    degrees of freedom are Satterthwaite's (1946, Biometrics Bulletin 2, 110-114), rounded down.

    Args:
        values: Prompts by items, each the mean of its samples, in [0, 1].
        clusters: Cluster of each item, such as its stem.
        confidence: Two-sided level of both intervals, in (0, 1).

    Returns:
        The spread; both intervals are (0, 1) for a single cluster.

    Raises:
        ValueError: There are fewer than `FEWEST_PROMPTS`.
        MissingExtraError: scipy is not installed.
    """
    count = len(values)
    if count < FEWEST_PROMPTS:
        raise ValueError(f"{count} prompts; the spread needs {FEWEST_PROMPTS}")
    over_items = sum_values(values.mean(axis=0), clusters)
    if over_items.clusters[0] < 2:
        mean = clustered_mean(values.mean(axis=0).tolist(), clusters, confidence, 0.0, 1.0).mean
        return PromptSpread(mean, 0.0, 1.0, 0.0, 1.0, 0.0)
    mean, items = float(over_items.mean[0]), float(estimate_errors(over_items)[0]) ** 2
    means = float(values.mean(axis=1).var(ddof=1))
    noise = [
        float(estimate_errors(sum_values(first - second, clusters, (-1, 0, 1)))[0]) ** 2 / 2
        for first, second in combinations(values, 2)
    ]

    def bound(share: float) -> tuple[float, float]:
        variance = items + share * means
        spread = items**2 / (over_items.clusters[0] - 1) + (share * means) ** 2 / (count - 1)
        freedom = int(variance**2 / spread) if spread > 0 else count - 1
        reach = t_value(confidence, freedom) * sqrt(variance)
        return max(0.0, mean - reach), min(1.0, mean + reach)

    (low, high), (new_low, new_high) = bound(1 / count), bound(1 + 1 / count)
    # Few items can have fewer degrees of freedom for the mean, which is the more certain one.
    new = min(low, new_low), max(high, new_high)
    between = max(0.0, means - float(np.mean(noise)))
    return PromptSpread(mean, low, high, *new, sqrt(between))
