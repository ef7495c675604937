"""Item response models of problems answered by models: Rasch, and two parameters (2PL).

Both are fitted by marginal maximum likelihood with the EM algorithm over equally spaced nodes (Bock
and Aitkin 1981). Abilities are normal with mean 0; the mean is free within a step and the result
moved back, which removes the slow direction of EM (Liu, Rubin and Wu 1998).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from omibench.results.statistics.intervals import Floats

PRIOR: Final = 0.5
"""Standard deviation of the normal prior of the logarithm of a discrimination, with mean 0."""
_STEPS, _CLOSE = 500, 1e-6
_REACH: Final = 7
"""Outermost node, in standard deviations of abilities."""
_LEAST_SPREAD: Final = 0.05
_SEEN: Final = 1e-10
"""A node with less weight is left out of covariances."""


class RaschFit(NamedTuple):
    """Difficulties of items and abilities of respondents, in log-odds, with standard errors."""

    difficulty: Floats
    """NaN for an item that nobody or everybody solved: it is infinite."""
    error: Floats
    ability: Floats
    """Posterior means."""
    ability_error: Floats
    """Posterior standard deviations."""
    spread: float
    """Standard deviation of abilities."""


def fit_rasch(values: Floats) -> RaschFit:
    """Fit P(right) = 1 / (1 + exp(difficulty - ability)) with abilities ~ N(0, spread^2).

    Standard errors are those of the observed information of all difficulties (Louis 1982), the
    spread taken as known. They include the error of the origin, which all items share. A share
    counts as that part of one right answer, which makes them too wide for means of samples.

    Args:
        values: Shares right in [0, 1]: [item, respondent]; NaN for missing ones.
    """
    finite, right, seen = _find_finite(values)
    difficulty, error = np.full((2, len(values)), np.nan)
    people = np.zeros(values.shape[1])
    if not finite.any():
        return RaschFit(difficulty, error, people, people + np.nan, np.nan)
    # Items with as many right answers of the same respondents have the same difficulty.
    keys = np.column_stack([right.sum(axis=1).round(9), seen])
    _, kind, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    kind = kind.reshape(-1)
    starts = np.append(0, np.cumsum(sizes)[:-1])
    right, seen = (np.add.reduceat(part[np.argsort(kind)], starts) for part in (right, seen))
    totals = right.sum(axis=1)
    place, spread = np.log(seen.sum(axis=1) / totals - 1), 1.0
    for _ in range(_STEPS):
        nodes = _make_nodes(spread, len(values))
        posterior = _weigh(nodes - place[:, None], right, seen, nodes, spread)
        centre = float((posterior @ nodes).mean())
        weights, new = seen @ posterior, place
        for _ in range(3):
            chance = _expit(nodes - new[:, None])
            slope = (weights * chance * (1 - chance)).sum(axis=1)
            new = new + np.clip(((weights * chance).sum(axis=1) - totals) / slope, -1, 1)
        variance = float((posterior @ (nodes - centre) ** 2).mean())
        before, spread = (place, spread), max(_LEAST_SPREAD, variance**0.5)
        place = new - centre
        if max(np.abs(place - before[0]).max(), abs(spread - before[1])) < _CLOSE:
            break
    nodes = _make_nodes(spread, len(values))
    posterior = _weigh(nodes - place[:, None], right, seen, nodes, spread)
    ability = posterior @ nodes
    chance = _expit(nodes - place[:, None])
    information = ((seen @ posterior) * chance * (1 - chance)).sum(axis=1) / sizes
    shared = _share_information(chance, posterior, seen / sizes[:, None])
    # Diagonal of the inverse of diag(information) - shared, by Woodbury's identity.
    lost = np.eye(len(sizes)) - shared * (sizes / information)
    added = np.diag(np.linalg.solve(lost, shared)) / information**2
    difficulty[finite], error[finite] = place[kind], np.sqrt(1 / information + added)[kind]
    ability_error = np.sqrt(posterior @ nodes**2 - ability**2)
    return RaschFit(difficulty, error, ability, ability_error, spread)


def fit_discriminations(values: Floats, rasch: RaschFit) -> tuple[Floats, Floats]:
    """Fit P(right) = 1 / (1 + exp(-discrimination * ability - intercept)) for each item.

    The abilities have the spread of the Rasch fit. The logarithm of a discrimination has a normal
    prior with mean 0 and standard deviation `PRIOR`, so that an item of few answers stays near 1;
    they are the mode and curvature of its posterior. The error includes that of the
    spread of n respondents, 1 / sqrt(2 n) in logarithms.

    Args:
        values: Shares right in [0, 1]: [item, respondent]; NaN for missing ones.
        rasch: The Rasch fit of the same values.

    Returns:
        The discriminations, 1 as in the Rasch model, and the standard errors of their logarithms;
        NaN for items without a difficulty.
    """
    finite, right, seen = _find_finite(values)
    value, error = np.full((2, len(values)), np.nan)
    if not finite.any():
        return value, error
    nodes = _make_nodes(rasch.spread, len(values))
    log, intercept = np.zeros(int(finite.sum())), -rasch.difficulty[finite]
    for _ in range(_STEPS):
        slope = np.exp(log)[:, None]
        logits = slope * nodes + intercept[:, None]
        posterior = _weigh(logits, right, seen, nodes, rasch.spread)
        chance, steep = _expit(logits), slope * nodes
        weights = seen @ posterior
        wrong = right @ posterior - weights * chance
        weights = weights * chance * (1 - chance)
        across, along = weights.sum(axis=1), (weights * steep**2).sum(axis=1) + PRIOR**-2
        both = (weights * steep).sum(axis=1)
        down, out = wrong.sum(axis=1), (wrong * steep).sum(axis=1) - log / PRIOR**2
        determinant = across * along - both**2
        step = np.clip((across * out - both * down) / determinant, -0.5, 0.5)
        log = log + step
        intercept = intercept + np.clip((along * down - both * out) / determinant, -1, 1)
        intercept += np.exp(log) * float((posterior @ nodes).mean())
        if np.abs(step).max() < 100 * _CLOSE:
            break
    value[finite] = np.exp(log)
    error[finite] = np.sqrt(across / determinant + 1 / (2 * values.shape[1]))
    return value, error


def find_inversions(values: Floats) -> npt.NDArray[np.bool_]:
    """Find the items that weak respondents solve and strong ones miss.

    The third of the respondents with the highest means (rounded down, at least two) has a mean of
    at most 1/3 on such an item, the third with the lowest means one of at least 2/3.

    Args:
        values: Shares right in [0, 1]: [item, respondent]; NaN for missing ones.
    """
    strength = average_rows(values.T)
    order = np.argsort(strength, kind="stable")[: int((~np.isnan(strength)).sum())]
    third = len(order) // 3
    if third < 2:
        return np.zeros(len(values), dtype=bool)
    weak, strong = (average_rows(values[:, part]) for part in (order[:third], order[-third:]))
    return np.asarray((strong <= 1 / 3) & (weak >= 2 / 3), dtype=bool)


def average_rows(values: Floats) -> Floats:
    """Return the mean of each row without NaN; NaN for a row of NaN."""
    with np.errstate(invalid="ignore"):
        sums = np.nansum(values, axis=1)
        return np.asarray(sums / (~np.isnan(values)).sum(axis=1), dtype=float)


def _find_finite(values: Floats) -> tuple[npt.NDArray[np.bool_], Floats, Floats]:
    """Return which items have right and wrong answers; their shares right, and which are seen."""
    seen = ~np.isnan(values)
    right = np.nan_to_num(values)
    totals = right.sum(axis=1)
    finite = (totals > _CLOSE) & (totals < seen.sum(axis=1) - _CLOSE)
    return finite, right[finite], seen[finite].astype(float)


def _make_nodes(spread: float, items: int) -> Floats:
    """Return nodes that resolve the prior and the posterior, which narrows with the items."""
    width = min(spread / 4, 3 / max(1, items) ** 0.5)
    return np.linspace(-_REACH * spread, _REACH * spread, 1 + 2 * int(_REACH * spread / width + 1))


def _expit(logits: Floats) -> Floats:
    return np.asarray(0.5 + 0.5 * np.tanh(logits / 2), dtype=float)


def _weigh(logits: Floats, right: Floats, seen: Floats, nodes: Floats, spread: float) -> Floats:
    """Return the posterior of each respondent's ability: [respondent, node]."""
    log = right.T @ logits - seen.T @ np.logaddexp(0, logits) - nodes**2 / (2 * spread**2)
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=float)


def _share_information(chance: Floats, posterior: Floats, seen: Floats) -> Floats:
    """Return the covariances of two items' scores that the unknown abilities cause."""
    shared = np.zeros((len(chance), len(chance)))
    for weights, answered in zip(posterior, seen.T, strict=True):
        near = weights > _SEEN
        part = chance[:, near] * answered[:, None]
        part = (part - (part @ weights[near])[:, None]) * np.sqrt(weights[near])
        shared += part @ part.T
    return shared
