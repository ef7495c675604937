"""McNemar's test of two answers to each problem that are right or wrong, by its exact binomial."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from omibench.extras import require_extra
from omibench.statistics.quantiles import Floats


def mcnemar_p(gained: npt.ArrayLike, lost: npt.ArrayLike, *, mid: bool = True) -> Floats:
    """The two-sided p that a problem is as often gained as lost, for many comparisons at once.

    Exact: of gained + lost problems each goes either way with probability 1/2 (McNemar 1947). The
    mid-p counts half of what is as extreme as observed, which keeps the level and is less
    conservative (Fagerland, Lydersen and Laake 2013, section "The McNemar mid-p test").

    Args:
        gained: Problems that only the first answered rightly.
        lost: Problems that only the second answered rightly.
        mid: Whether the mid-p is computed in place of the exact p.

    Returns:
        p in [0, 1]; 1 where no problem is gained or lost.

    Raises:
        MissingExtraError: scipy is not installed.
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
