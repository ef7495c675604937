"""Shapes of curves: the line on the logarithm of a quantity, and the size where gains end."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nan
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.extras import require_extra
from omibench.results.statistics.intervals import (
    Estimate,
    Floats,
    clustered_mean,
    number_labels,
    t_tails,
    t_value,
)

FEWEST_PLACES = 3
"""Minimum number of places; every line fits fewer."""
LEAST_GAIN: Final = 0.005
"""Minimum gain that counts: 0.5 points (OMIBench, H.2)."""
RESAMPLES: Final = 2000
_EQUAL: Final = 1e-9
"""Tolerance for comparing a gain with the minimum, because scores are quotients."""


class LogTrend(NamedTuple):
    """Least squares of means on log2 of their places: mean = intercept + slope * log2(place).

    `slope` is the gain per doubling, `intercept` the value at 1; both in units of the values.
    """

    slope: Estimate
    intercept: Estimate
    r_squared: float
    """Share of the variance between the means explained by the line; NaN if there is none."""


def fit_log_trend(
    places: Sequence[float],
    values: Floats,
    clusters: Sequence[Hashable],
    confidence: float = 0.95,
) -> LogTrend | None:
    """Fit mean values against log2 of their places (OMIBench, H.3, figure 5c).

    Slope and intercept are means of each problem's own, because both are linear in the values.
    Their intervals are Student's at clusters - 1 degrees of freedom with the clustered variance,
    which accounts for the same problems at all places.

    Args:
        places: Places of the means, such as numbers of samples; all above 0.
        values: [problem, place], each problem at every place.
        clusters: Cluster of each problem.
        confidence: Two-sided level of the intervals, in (0, 1).

    Returns:
        The line; None for fewer than three different places, or without problems.

    Raises:
        ValueError: If a place is not above 0, or the shapes do not match.
        MissingExtraError: If scipy is not installed.
    """
    if values.shape != (len(clusters), len(places)):
        raise ValueError(
            f"values are {values.shape}, not {(len(clusters), len(places))}: problems, places"
        )
    if any(place <= 0 for place in places):
        raise ValueError("a place is not above 0")
    if len(set(places)) < FEWEST_PLACES or not len(clusters):
        return None
    x = np.log2(np.asarray(places, dtype=float))
    weights = (x - x.mean()) / float(((x - x.mean()) ** 2).sum())
    slopes = values @ weights
    intercepts = values.mean(axis=1) - x.mean() * slopes
    slope, intercept = (
        clustered_mean(terms.tolist(), clusters, confidence, -inf, inf)
        for terms in (slopes, intercepts)
    )
    return LogTrend(slope, intercept, _explain(values.mean(axis=0), x))


def _explain(means: Floats, x: Floats) -> float:
    if float(np.ptp(means)) < 1e-12:
        return nan
    return float(np.corrcoef(x, means)[0, 1] ** 2)


def find_saturation(scores: Mapping[float, float], least_gain: float = LEAST_GAIN) -> float | None:
    """Find the smallest size beyond which every larger model gains less than `least_gain`
    (OMIBench, H.2, figure 5b).

    Gains are relative to the score at that size. The largest size has no successor: a curve that
    still rises there does not saturate.

    Args:
        scores: Size -> score in [0, 1], the best if several models have the same size.
        least_gain: Minimum gain in score that counts, in [0, 1].

    Returns:
        The size; None if every size but the largest is surpassed, or there are fewer than two.
    """
    sizes = sorted(scores)
    for place, size in enumerate(sizes[:-1]):
        best = max(scores[larger] for larger in sizes[place + 1 :])
        if best - scores[size] < least_gain - _EQUAL:
            return size
    return None


def resample_saturation(
    places: Sequence[float],
    values: Floats,
    clusters: Sequence[Hashable],
    size: float | None,
    least_gain: float = LEAST_GAIN,
) -> float:
    """Find the share of resamples of the items that saturate at the same size.

    Clusters are drawn with replacement, the same for all models (Efron and Tibshirani 1993,
    section 8.6).

    Args:
        places: Size of each model.
        values: [item, model], in [0, 1].
        clusters: Cluster of each item; at least one.
        size: Result of `find_saturation` for all items.
        least_gain: Minimum gain in score that counts, in [0, 1].

    Returns:
        The share in [0, 1].
    """
    members = number_labels(clusters)
    sizes_of_clusters = np.bincount(members)
    count = len(sizes_of_clusters)
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, members, values)
    draw = np.random.default_rng(len(clusters))
    weights = draw.multinomial(count, np.full(count, 1 / count), RESAMPLES)
    means = (weights @ sums) / (weights @ sizes_of_clusters)[:, None]
    ordered = sorted(set(places))
    best = np.stack(
        [means[:, [place == other for other in places]].max(axis=1) for place in ordered], axis=1
    )
    beyond = np.maximum.accumulate(best[:, ::-1], axis=1)[:, ::-1][:, 1:]
    ends = beyond - best[:, :-1] < least_gain - _EQUAL
    last = len(ordered) - 1
    places_found = np.where(ends.any(axis=1), ends.argmax(axis=1), last)
    place = last if size is None else ordered.index(size)
    return float((places_found == place).mean())


# Logistic regression of correct answers on categories, with standard errors clustered by item.
#
# The fit is by statsmodels on counts of equal rows. The covariance is the sandwich over all rows,
# computed with sparse matrices, so that a study of a million answers fits into memory.

INTERCEPT = "(intercept)"
BASE = "baseline"
NEVER, ALWAYS, ALIASED = "never right", "always right", "not separable from the other factors"
_DEPENDENT = 1e-9
"""A column counts as explained by earlier columns if its remaining part is smaller."""
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class AnswerCounts:
    """Correct answers out of `total`, one row for each combination of item and cell.

    `factors` maps a name to the level of each row; `levels` lists them, its baseline first.
    """

    right: Sequence[float]
    total: Sequence[float]
    clusters: Sequence[str]
    factors: Mapping[str, Sequence[str]]
    levels: Mapping[str, Sequence[str]]


class Coefficient(NamedTuple):
    """Effect of one level of a factor on the log-odds of a correct answer, against its baseline.

    `estimate`, `low` and `high` are log-odds, p is two-sided; NaN if there is a `note` with the
    reason.
    """

    factor: str
    level: str
    n: int
    """Answers with this level."""
    estimate: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    note: str = ""


class Fit(NamedTuple):
    """Coefficients of a regression, and its numbers of rows and clusters."""

    coefficients: list[Coefficient]
    rows: int
    clusters: int


@dataclass
class _Design:
    """Level of each column, and reasons for levels without one."""

    codes: dict[str, Codes]
    levels: Mapping[str, Sequence[str]]
    notes: dict[tuple[str, int], str] = field(default_factory=dict)

    def find_rows(self) -> npt.NDArray[np.bool_]:
        """Return the rows whose levels all have a finite coefficient."""
        keep = np.ones(len(next(iter(self.codes.values()))), dtype=bool)
        for (name, index), note in self.notes.items():
            if note in {NEVER, ALWAYS}:
                keep &= self.codes[name] != index
        return keep

    def list_columns(self) -> list[tuple[str, int]]:
        """Return the levels with a separate column, in the order of the columns after the first."""
        return [
            (name, index)
            for name, levels in self.levels.items()
            for index in range(len(levels))
            if (name, index) not in self.notes
        ]


def fit_logistic(counts: AnswerCounts, confidence: float = 0.95) -> Fit:
    """Fit logit P(right) = intercept + a coefficient for each level except baselines.

    Covariance by Liang and Zeger (1986), times G / (G - 1) * (N - 1) / (N - K) for G clusters, N
    rows and K coefficients, as statsmodels' `cov_type="cluster"`; intervals and p by Student's
    distribution at G - 1 degrees of freedom. A level whose answers are all wrong, or all right,
    has no finite coefficient: its rows are dropped, and its coefficient has a note.

    Args:
        counts: Correct answers with their factors.
        confidence: Two-sided level of the intervals, in (0, 1).

    Raises:
        MissingExtraError: If statsmodels is not installed.
    """
    require_extra("stats", "a logistic regression", "statsmodels", "scipy")
    right, total = (np.asarray(column, dtype=float) for column in (counts.right, counts.total))
    codes = {name: _encode(counts.factors[name], levels) for name, levels in counts.levels.items()}
    design = _Design(codes, counts.levels)
    _leave_out_separated(design, right, total)
    keep = design.find_rows()
    answers = {
        key: int(total[codes[key[0]] == key[1]].sum())
        for key in ((name, i) for name, levels in counts.levels.items() for i in range(len(levels)))
    }
    if not keep.any():
        return Fit([_describe(design, key, answers[key]) for key in answers], 0, 0)
    _leave_out_baselines(design, keep)
    groups = np.unique(np.asarray(counts.clusters, dtype=str)[keep], return_inverse=True)[1]
    clusters = int(groups.max()) + 1
    values, errors = _estimate(design, keep, right[keep], total[keep], groups)
    half = errors * (t_value(confidence, clusters - 1) if clusters > 1 else nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        tails = t_tails(values / errors, max(1, clusters - 1))
    numbers = {
        key: (float(values[i]), float(values[i] - half[i]), float(values[i] + half[i]), tails[i])
        for i, key in enumerate([(INTERCEPT, 0), *design.list_columns()])
    }
    rows = [Coefficient(INTERCEPT, "", int(total[keep].sum()), *numbers[INTERCEPT, 0])]
    for key, n in answers.items():
        coefficient = _describe(design, key, n)
        if key in numbers:
            estimate, low, high, p = numbers[key]
            coefficient = coefficient._replace(estimate=estimate, low=low, high=high, p=float(p))
        rows.append(coefficient)
    return Fit(rows, int(keep.sum()), clusters)


def _encode(values: Sequence[str], levels: Sequence[str]) -> Codes:
    positions = {level: index for index, level in enumerate(levels)}
    return np.fromiter((positions[value] for value in values), dtype=np.intp, count=len(values))


def _describe(design: _Design, key: tuple[str, int], n: int) -> Coefficient:
    name, index = key
    note = design.notes.get(key, "")
    estimate = 0.0 if note == BASE else nan
    return Coefficient(name, design.levels[name][index], n, estimate, note=note)


def _leave_out_separated(design: _Design, right: Floats, total: Floats) -> None:
    """Note the levels without a finite coefficient, repeating until none is left."""
    before = -1
    while before != len(design.notes):
        before = len(design.notes)
        keep = design.find_rows()
        for name, code in design.codes.items():
            size = len(design.levels[name])
            successes = np.bincount(code[keep], weights=right[keep], minlength=size)
            trials = np.bincount(code[keep], weights=total[keep], minlength=size)
            for index in np.flatnonzero((trials > 0) & (successes <= 0)):
                design.notes[name, int(index)] = NEVER
            for index in np.flatnonzero((trials > 0) & (successes >= trials)):
                design.notes.setdefault((name, int(index)), ALWAYS)


def _leave_out_baselines(design: _Design, keep: npt.NDArray[np.bool_]) -> None:
    """Note the first remaining level of each factor as its baseline, and levels without rows."""
    for name, code in design.codes.items():
        present = np.unique(code[keep])
        design.notes[name, int(present[0])] = BASE
        for index in range(len(design.levels[name])):
            if index not in present:
                design.notes.setdefault((name, index), ALIASED)


def _estimate(
    design: _Design,
    keep: npt.NDArray[np.bool_],
    right: Floats,
    total: Floats,
    groups: Codes,
) -> tuple[Floats, Floats]:
    """Return coefficients and standard errors: the intercept, then those of `list_columns`."""
    from scipy.sparse import csr_array
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    codes = np.column_stack([code[keep] for code in design.codes.values()])
    kinds, kind = np.unique(codes, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    names = list(design.codes)
    columns = design.list_columns()
    matrix = np.column_stack(
        [np.ones(len(kinds)), *(kinds[:, names.index(name)] == i for name, i in columns)]
    ).astype(float)
    free = np.abs(np.diag(np.linalg.qr(matrix, mode="r"))) > _DEPENDENT * np.sqrt(len(matrix))
    free = np.append(free, np.zeros(matrix.shape[1] - len(free), dtype=bool))
    for key, is_free in zip(columns, free[1:], strict=True):
        if not is_free:
            design.notes[key] = ALIASED
    matrix = matrix[:, free]
    successes, trials = (np.bincount(kind, weights=w) for w in (right, total))
    counts = np.column_stack([successes, trials - successes])
    values = np.asarray(GLM(counts, matrix, family=Binomial()).fit().params, dtype=float)
    means = 1 / (1 + np.exp(-matrix @ values))
    bread = np.linalg.inv(matrix.T @ (matrix * (trials * means * (1 - means))[:, None]))
    residuals = right - total * means[kind]
    # Scores summed by cluster: [cluster, kind of row] residuals times the rows of each kind.
    sums = csr_array((residuals, (groups, kind)), shape=(int(groups.max()) + 1, len(kinds)))
    scores = np.asarray(sums @ matrix)
    n, size, clusters = len(right), matrix.shape[1], len(scores)
    if clusters < 2 or n <= size:
        return values, np.full(size, nan)
    factor = clusters / (clusters - 1) * (n - 1) / (n - size)
    covariance = bread @ (scores.T @ scores) @ bread * factor
    return values, np.sqrt(np.diag(covariance))
