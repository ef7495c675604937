"""The ranks that pairwise tests leave open to each of several respondents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class RankRange(NamedTuple):
    """The best and the worst rank that the tests allow; 1 is the highest accuracy."""

    best: int
    worst: int


def find_rank_ranges(
    differences: npt.ArrayLike, p_values: npt.ArrayLike, alpha: float = 0.05
) -> list[RankRange]:
    """The range of ranks of each of m respondents, from the tests of all their pairs.

    The best rank is one more than the number of respondents that are significantly better, the
    worst is m less the number that are significantly worse. With p values adjusted over all pairs
    (Holm) all ranges hold the true ranks together with probability 1 - alpha (Mogstad, Romano,
    Shaikh and Wilhelm 2024, section 3).

    Args:
        differences: Matrix [m, m]: accuracy of row minus accuracy of column, paired.
        p_values: Matrix [m, m], symmetric, adjusted; NaN where a pair was not tested.
        alpha: The family-wise error.

    Returns:
        One range a row.
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
