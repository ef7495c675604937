"""Adjusted p values for a family of tests (Holm 1979)."""

from __future__ import annotations

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
