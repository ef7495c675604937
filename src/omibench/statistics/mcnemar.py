"""McNemar's exact test of two binary answers to each problem."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from omibench.extras import require_extra
from omibench.statistics.quantiles import Floats


def mcnemar_p(gained: npt.ArrayLike, lost: npt.ArrayLike, *, mid: bool = True) -> Floats:
    """Return the two-sided p of equally frequent gains and losses, for many comparisons.

    Exact: each of the gained + lost problems goes either way with probability 1/2 (McNemar
    1947). The mid-p counts half the probability of the observed result, which keeps the level
    and is less conservative (Fagerland, Lydersen and Laake 2013, section "The McNemar mid-p
    test").

    Args:
        gained: Number of problems that only the first answered correctly.
        lost: Number of problems that only the second answered correctly.
        mid: Whether to compute the mid-p instead of the exact p.

    Returns:
        p in [0, 1]; 1 if no problem is gained or lost.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    require_extra("stats", "McNemar's test", "scipy")
    from scipy.special import bdtr

    up, down = np.asarray(gained, dtype=np.int64), np.asarray(lost, dtype=np.int64)
    fewer, total = np.minimum(up, down), up + down
    tail = bdtr(fewer, total, 0.5)
    if mid:
        below = np.where(fewer > 0, bdtr(np.maximum(fewer - 1, 0), total, 0.5), 0.0)
        return np.asarray(np.minimum(1.0, tail + below), dtype=float)
    return np.asarray(np.minimum(1.0, 2 * tail), dtype=float)
