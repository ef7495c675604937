"""The effect of a kind of values within groups of them: linear regression with fixed effects."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import nan, sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.results.statistics.intervals import (
    FLAT,
    Booleans,
    Codes,
    Floats,
    number_labels,
    t_tails,
    t_value,
)

_ALIKE: Final = 1e-9
"""A kind that varies less than this within groups is constant there."""


class Effect(NamedTuple):
    """A coefficient in [-1, 1] with its interval and two-sided p; NaN where undetermined."""

    value: float = nan
    low: float = nan
    high: float = nan
    p: float = nan


def subtract_means(column: npt.ArrayLike, codes: Codes) -> Floats:
    """Return the deviation of each value from the mean of its group, by number of the group."""
    values = np.asarray(column, dtype=float)
    sizes = np.maximum(np.bincount(codes), 1)
    return np.asarray(values - (np.bincount(codes, weights=values) / sizes)[codes])


def fit_effect(  # noqa: PLR0913 (the columns of a regression)
    values: Sequence[float] | Floats,
    kind: Sequence[bool] | Booleans,
    groups: Sequence[Hashable],
    clusters: Sequence[Hashable],
    confidence: float = 0.95,
    *,
    others: Sequence[Hashable] = (),
) -> Effect:
    """Fit values = effect * kind + one constant per group (and per level of `others`).

    Ordinary least squares on deviations from the means of the groups (Frisch and Waugh 1933). The
    variance is clustered, with the residuals of a cluster of leverage h divided by sqrt(1 - h)
    (Bell and McCaffrey 2002, Survey Methodology 28, 169-181; h is that of the effect alone), times
    N / (N - K) for N values and K constants, without those of groups that lie in one cluster each
    (Cameron and Miller 2015, Journal of Human Resources 50, 317-372, section III.B). Interval and p
    are Student's at E - 1 degrees of freedom, rounded down, for the effective number of clusters
    E = 1 / sum(h^2) (Carter, Schnepel and Steigerwald 2017, Review of Economics and Statistics 99,
    698-709), which is small if few values are of one kind.

    Args:
        values: Values in [0, 1].
        kind: Whether each value is of the kind.
        groups: Group of each value.
        clusters: Cluster of each value.
        confidence: Two-sided level, in (0, 1).
        others: Level of each value in a second grouping; none without one.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    codes, levels, places = (number_labels(labels) for labels in (groups, others, clusters))
    varied, outcome = (subtract_means(column, codes) for column in (kind, values))
    if len(levels):
        # Constants of the levels from their normal equations: a study has too many for a design.
        pairs = codes * (levels.max() + 1) + levels
        shape = (codes.max() + 1, levels.max() + 1)
        counts = np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)
        within = counts.T @ (counts / counts.sum(axis=1, keepdims=True))
        solve = np.linalg.pinv(np.diag(counts.sum(axis=0)) - within, hermitian=True)
        varied, outcome = (
            column - subtract_means((solve @ np.bincount(levels, weights=column))[levels], codes)
            for column in (varied, outcome)
        )
    total = float(varied @ varied)
    if not (np.abs(varied) > _ALIKE).any():
        return Effect()
    value = float(varied @ outcome) / total
    shares = np.bincount(places, weights=varied**2) / total
    scores = np.bincount(places, weights=varied * (outcome - value * varied))
    freedom = int(1 / float(shares @ shares) + _ALIKE) - 1
    if freedom < 1:
        return Effect(value)
    count = int(codes.max()) + 1
    is_nested = len(np.unique(codes * (places.max() + 1) + places)) == count
    free = len(codes) - levels.max(initial=0) - (0 if is_nested else count)
    variance = float((scores**2 / (1 - shares)).sum()) / total**2 * len(codes) / max(1, free)
    if not variance > FLAT:
        return Effect(value)
    half = sqrt(variance) * t_value(confidence, freedom)
    p = float(t_tails(value / sqrt(variance), freedom))
    return Effect(value, max(-1.0, value - half), min(1.0, value + half), p)
