"""The numbers of a box plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

REACH = 1.5
"""The reach of a whisker beyond its box, in interquartile ranges (Tukey 1977, section 2C)."""


class BoxSummary(NamedTuple):
    """The quartiles of some values and the most extreme values that are not outliers."""

    median: float
    q1: float
    q3: float
    whisker_low: float
    whisker_high: float


def summarise_box(values: Sequence[float]) -> BoxSummary:
    """Summarise values as in a box plot.

    Args:
        values: One or more numbers.

    Returns:
        The quartiles by linear interpolation between order statistics, and as whiskers the smallest
        and largest values within 1.5 interquartile ranges of the box.

    Raises:
        ValueError: `values` is empty.
    """
    if not len(values):
        raise ValueError("there are no values to summarise")
    array = np.asarray(values, dtype=float)
    q1, median, q3 = (float(quantile) for quantile in np.quantile(array, (0.25, 0.5, 0.75)))
    reach = REACH * (q3 - q1)
    inside = array[(array >= q1 - reach) & (array <= q3 + reach)]
    return BoxSummary(median, q1, q3, float(inside.min()), float(inside.max()))
