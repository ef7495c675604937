"""Ratios whose denominators differ between responses, such as wrong steps of all steps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import nan

import numpy as np

from omibench.statistics.intervals import Estimate, wilson
from omibench.statistics.quantiles import t_value, z_value


def clustered_ratio(
    parts: Sequence[float],
    wholes: Sequence[float],
    clusters: Sequence[Hashable],
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the sum of the parts over that of the wholes, with a clustered interval.

    The variance is that of the linearised ratio between clusters (Cochran 1977, section 2.11).
    The interval is Wilson's at the number of independent parts with that variance, which is at
    most their number, and the number of clusters if the share is 0 or 1.

    Args:
        parts: Part of each whole, such as wrong steps of one rationale; at least 0.
        wholes: Wholes, such as the steps of the rationale; each at least its part.
        clusters: Cluster of each whole.
        confidence: Two-sided level of the interval, in (0, 1).

    Returns:
        The share in [0, 1]; `n` is the sum of the wholes. Without wholes it is NaN in (0, 1).

    Raises:
        ValueError: If the lists differ in length, or a part is not in [0, whole].
        MissingExtraError: If scipy is not installed.
    """
    if not len(parts) == len(wholes) == len(clusters):
        raise ValueError(f"{len(parts)} parts, {len(wholes)} wholes, {len(clusters)} clusters")
    if any(not 0 <= part <= whole for part, whole in zip(parts, wholes, strict=True)):
        raise ValueError("a part is not between 0 and its whole")
    total = float(sum(wholes))
    if total == 0:
        return Estimate(nan, 0.0, 1.0, 0, 0.0)
    share = float(sum(parts)) / total
    codes = {cluster: code for code, cluster in enumerate(dict.fromkeys(clusters))}
    rest = np.asarray(parts, dtype=float) - share * np.asarray(wholes, dtype=float)
    sums = np.bincount([codes[cluster] for cluster in clusters], weights=rest)
    n_eff = min(total, _count_independent(share, sums, total, confidence))
    lo, hi = wilson(min(share * n_eff, n_eff), n_eff, confidence)
    return Estimate(share, lo, hi, int(total), n_eff)


def _count_independent(share: float, sums: np.ndarray, total: float, confidence: float) -> float:
    clusters = len(sums)
    if clusters < 2 or share in (0.0, 1.0):
        return float(clusters)
    variance = float(sums @ sums) * clusters / (clusters - 1) / total**2
    if variance <= 0:
        return total
    return (
        share
        * (1 - share)
        / variance
        * (z_value(confidence) / t_value(confidence, clusters - 1)) ** 2
    )
