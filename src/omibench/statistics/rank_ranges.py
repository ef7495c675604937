"""Possible ranks of several respondents, given pairwise tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


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
