"""Item response models against a direct maximum of the likelihood, and against simulated truth."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from omibench.results.statistics.items import (
    find_inversions,
    fit_discriminations,
    fit_rasch,
)

Floats = npt.NDArray[np.float64]


def draw(
    seed: int, items: int, models: int, discrimination: Floats | float = 1.0
) -> tuple[Floats, Floats, Floats]:
    """True difficulties (sd 1.3) and abilities (sd 1.2), and right answers."""
    rng = np.random.default_rng(seed)
    difficulty, ability = rng.normal(0, 1.3, items), rng.normal(0, 1.2, models)
    slope = np.broadcast_to(discrimination, items)[:, None]
    chance = 1 / (1 + np.exp(-slope * (ability - difficulty[:, None])))
    return difficulty, ability, (rng.random((items, models)) < chance).astype(float)


def test_estimates_and_errors_are_those_of_the_likelihood() -> None:
    """Missing answers and shares included; with 61 Gauss-Hermite nodes and differences."""
    values = draw(4, 8, 14)[2]
    values[1, 3], values[2, 5], values[0, 0] = np.nan, 0.5, 0.25
    fit = fit_rasch(values)
    seen, right = ~np.isnan(values), np.nan_to_num(values)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)

    def lose(difficulty: Floats, spread: float) -> float:
        logits = spread * nodes - difficulty[:, None]
        logs = right.T @ logits - seen.T @ np.logaddexp(0, logits)
        return -float(np.log(np.exp(logs) @ weights).sum())

    start = np.append(np.zeros(8), 1.0)
    best = minimize(lambda x: lose(x[:-1], x[-1]), start, method="BFGS").x
    assert fit.difficulty == pytest.approx(best[:-1], abs=1e-3)
    assert fit.spread == pytest.approx(abs(best[-1]), abs=1e-3)
    steps = 1e-3 * np.eye(8)
    curvature = [
        [
            sum(
                i * j * lose(fit.difficulty + i * a + j * b, fit.spread)
                for i in (1, -1)
                for j in (1, -1)
            )
            / 4e-6
            for a in steps
        ]
        for b in steps
    ]
    assert fit.error == pytest.approx(np.sqrt(np.diag(np.linalg.inv(curvature))), rel=1e-3)


def test_simulated_difficulties_are_recovered() -> None:
    difficulty, ability, values = draw(1, 60, 12)
    fit = fit_rasch(values)
    known = ~np.isnan(fit.difficulty)
    assert known.tolist() == [0 < row.sum() < 12 for row in values]
    assert np.corrcoef(difficulty[known], fit.difficulty[known])[0, 1] > 0.75
    assert np.corrcoef(ability, fit.ability)[0, 1] > 0.9
    apart = np.abs(difficulty - fit.difficulty)[known] / fit.error[known]
    assert (apart < 1.96).mean() > 0.9


def test_without_a_right_and_a_wrong_answer_there_is_no_scale() -> None:
    fit = fit_rasch(np.array([[0.0, 0.0], [1.0, np.nan]]))
    assert np.isnan([*fit.difficulty, fit.spread]).all()
    assert np.isnan(fit_discriminations(np.ones((2, 2)), fit)).all()


def test_discriminations_are_told_apart() -> None:
    slopes = np.tile([0.5, 2.0], 60)
    values = draw(2, 120, 40, slopes)[2]
    found, _ = fit_discriminations(values, fit_rasch(values))
    known = ~np.isnan(found)
    flat, steep = (np.median(found[known & (slopes == slope)]) for slope in (0.5, 2.0))
    assert flat < 0.8
    assert steep > 1.25
    random = (np.random.default_rng(5).random(40) < 0.5).astype(float)
    unlike = np.vstack([values, random])
    assert fit_discriminations(unlike, fit_rasch(unlike))[0][-1] < 0.8


def test_an_inversion_is_right_for_the_weak_third_and_wrong_for_the_strong() -> None:
    strong = np.tile([0.0, 0.0, 0.5, 0.5, 1.0, 1.0], (20, 1))
    odd = [[1.0, 1, 0, 0, 0, 0], [1, 0.5, 0, 0, 0, 0], [1, 1, 0, 0, 1, 0], [np.nan] * 6]
    assert np.flatnonzero(find_inversions(np.vstack([odd, strong]))).tolist() == [0, 1]
    assert not find_inversions(np.vstack([odd, strong])[:, 1:]).any(), "five have no thirds of two"


def measure(items: int, models: int, rounds: int) -> tuple[float, float, float]:
    """The mean correlation with true difficulties, and the coverage of difficulties and, from 20
    models on, of discriminations (drawn from their prior) by 95 % intervals."""
    correlations, covered, kept = [], [], []
    for seed in range(rounds):
        difficulty, _, values = draw(seed, items, models)
        fit = fit_rasch(values)
        known = ~np.isnan(fit.difficulty)
        correlations.append(np.corrcoef(difficulty[known], fit.difficulty[known])[0, 1])
        covered.append((np.abs(difficulty - fit.difficulty) < 1.96 * fit.error)[known].mean())
        if models >= 20:
            slopes = np.exp(np.random.default_rng(seed).normal(0, 0.5, items))
            values = draw(seed, items, models, slopes)[2]
            found, error = fit_discriminations(values, fit_rasch(values))
            near = np.abs(np.log(found / slopes)) < 1.96 * error
            kept.append(near[~np.isnan(found)].mean())
    return tuple(float(np.mean(part or [np.nan])) for part in (correlations, covered, kept))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("items", "models", "correlation"),
    [(60, 6, 0.6), (60, 12, 0.75), (400, 8, 0.65), (400, 31, 0.9), (1322, 31, 0.9)],
)
def test_intervals_cover_true_values_over_200_draws(
    items: int, models: int, correlation: float
) -> None:
    found, difficulty, discrimination = measure(items, models, 200)
    assert found > correlation
    assert difficulty > 0.93
    assert models < 20 or discrimination > 0.93
