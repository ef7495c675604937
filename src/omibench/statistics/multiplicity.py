"""Families of tests: adjusted p values (Holm 1979), and the ranks that they leave possible."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.statistics.quantiles import Floats


def adjust_holm(p_values: npt.ArrayLike) -> Floats:
    """Return Holm's adjusted p values: each below alpha rejects at family-wise error alpha.

    The i-th smallest of m is multiplied by m - i + 1, and is never below that of a smaller one
    (Holm 1979). The tests can be dependent.

    Args:
        p_values: One p per test; NaN marks a test that could not be made and is not in the family.

    Returns:
        The adjusted values in the same order, at most 1; NaN stays NaN.
    """
    values = np.asarray(p_values, dtype=float)
    adjusted = np.full(values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    steps = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * steps))
    return adjusted


class RankRange(NamedTuple):
    """Best and worst rank consistent with the tests; 1 is the highest accuracy."""

    best: int
    worst: int


def find_rank_ranges(
    differences: npt.ArrayLike, p_values: npt.ArrayLike, alpha: float = 0.05
) -> list[RankRange]:
    """Compute the range of ranks of each of m respondents from the tests of all their pairs.

    The best rank is one more than the number of significantly better respondents, the worst is m
    minus the number of significantly worse ones. With p values adjusted over all pairs (Holm),
    all ranges jointly contain the true ranks with probability 1 - alpha (Mogstad, Romano, Shaikh
    and Wilhelm 2024, section 3).

    Args:
        differences: Matrix [m, m]: accuracy of row minus accuracy of column, paired.
        p_values: Matrix [m, m], symmetric, adjusted; NaN for an untested pair.
        alpha: Family-wise error.

    Returns:
        One range per row.
    """
    difference = np.asarray(differences, dtype=float)
    significant = np.asarray(p_values, dtype=float) < alpha
    np.fill_diagonal(significant, val=False)
    better = (significant & (difference < 0)).sum(axis=1)
    worse = (significant & (difference > 0)).sum(axis=1)
    return [
        RankRange(1 + int(above), len(difference) - int(below))
        for above, below in zip(better, worse, strict=True)
    ]
