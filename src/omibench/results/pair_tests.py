"""Tests of many paired comparisons, as columns next to their estimates and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from omibench.results.grouped import compare_groups
from omibench.statistics.multiplicity import adjust_holm
from omibench.statistics.paired_tests import PairSums, compare_sums

if TYPE_CHECKING:
    import polars as pl

_SUMS = ("n", "clusters", "gained", "lost", "squares", "between", "sizes_squared", "binary")
"""The columns of `compare_groups` in the order of the fields of `PairSums`."""


def compare_pairs(
    pairs: pl.DataFrame,
    by: Sequence[str],
    confidence: float,
    columns: tuple[str, str] = ("first", "second"),
    family: int | None = None,
) -> pl.DataFrame:
    """Compare two values over the same items in each group, with an interval and a test.

    Args:
        pairs: One row per item that both answered: `by`, `cluster` and the two columns, in [0, 1].
        by: Columns whose values define a group; each group is one comparison.
        confidence: The two-sided level of each interval, in (0, 1); alpha is the rest.
        columns: The columns of the first and the second value.
        family: Number of simultaneous comparisons; default: all groups.

    Returns:
        The output of `grouped.compare_groups`, with intervals for one comparison each, and more
        columns: `p` (`statistics.paired_tests.compare_sums`; null without a test), `p_holm`
        (adjusted over all groups), and `detectable`, the smallest true difference that the
        comparison detects with a power of 0.8 at alpha over the family; null if it detects none.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    import polars as pl

    groups = compare_groups(pairs, by, confidence, columns=columns)
    sums = PairSums(*(groups[name].to_numpy().astype(float) for name in _SUMS))
    alpha = (1 - confidence) / max(1, family or groups.height)
    tests = compare_sums(sums, alpha)
    finite = np.where(np.isfinite(tests.detectable), tests.detectable, np.nan)
    return groups.with_columns(
        pl.Series("p", tests.p).fill_nan(None),
        pl.Series("p_holm", adjust_holm(tests.p)).fill_nan(None),
        pl.Series("detectable", finite).fill_nan(None),
    )
