"""p values of a family of tests that are looked at together (Holm 1979)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from omibench.statistics.quantiles import Floats


def adjust_holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's adjusted p values: each below alpha rejects at family-wise error alpha.

    The i-th smallest of m is multiplied by m - i + 1, and is never below a smaller one's (Holm
    1979). Tests may depend on each other in any way.

    Args:
        p_values: One p a test; NaN is a test that could not be made and is no part of the family.

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
