"""Logistic regression of correct answers on categories, with standard errors clustered by item.

The fit is by statsmodels on counts of equal rows. The covariance is the sandwich over all rows,
computed with sparse matrices, so that a study of a million answers fits into memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.extras import require_extra
from omibench.statistics.quantiles import Floats, t_tails, t_value

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
