"""How alike problems are that share a stem, estimated from the verdicts of an earlier run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import nan
from typing import Final

import numpy as np

from omibench.results.statistics.intervals import Floats, number_labels

FEWEST_STEMS: Final = 20
"""The minimum number of stems with several problems for an estimate."""


def estimate_stem_correlation(values: Floats, stems: Sequence[str]) -> float:
    """Estimate the correlation of the differences of two cells between problems of one stem.

    The moment estimator of the intraclass correlation from the mean squares between and within
    stems with several problems (Donner 1986, International Statistical Review 54, 67-82, section
    2), with its numerator and denominator summed over all pairs of cells.

    Args:
        values: Cells by problems, in [0, 1]; NaN for a missing value.
        stems: The stem of each problem; "" for a problem of its own, which does not count.

    Returns:
        The correlation, in [0, 1]; NaN for fewer than `FEWEST_STEMS` stems with several problems,
        fewer than two cells, or equal cells.
    """
    sizes = Counter(stem for stem in stems if stem)
    if sum(size > 1 for size in sizes.values()) < FEWEST_STEMS:
        return nan
    shares = [sizes[stem] > 1 for stem in stems]
    values, codes = values[:, shares], number_labels(s for s in stems if sizes[s] > 1)
    excess = total = 0.0
    for first, second in combinations(values, 2):
        known = ~np.isnan(first - second)
        deltas = (first - second)[known]
        places = np.unique(codes[known], return_inverse=True)[1]
        counts = np.bincount(places)
        n, k = len(deltas), len(counts)
        if not 1 < k < n:
            continue
        means = np.bincount(places, weights=deltas) / counts
        between = float(counts @ (means - deltas.mean()) ** 2) / (k - 1)
        within = float(((deltas - means[places]) ** 2).sum()) / (n - k)
        size = (n - float(counts @ counts) / n) / (k - 1)
        excess += between - within
        total += between + (size - 1) * within
    return float(np.clip(excess / total, 0.0, 1.0)) if total else nan
