"""Effects within groups: statsmodels' coefficient, few values of one kind, level by simulation."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import t

from omibench.results.statistics.fixed_effects import Effect, fit_effect

EIGHT = tuple(range(2015, 2023))
CASES = [
    ((2016, 2020), 10, 1), ((2016, 2018), 10, 1), ((2016, 2020), 50, 5), ((2016, 2020), 10, 5),
    (EIGHT, 10, 1), (EIGHT, 10, 5),
]  # fmt: skip
"""Years of the models' cut-offs, problems of each of twelve years, and problems of a stem."""


def draw(
    seed: int, cutoffs: tuple[int, ...], per_year: int, size: int, leak: float = 0.0
) -> tuple[np.ndarray, ...]:
    """Verdicts, whether the exam is older, problems, stems, and models that differ by 10 points.

    New problems are harder. Half of the problems are as hard as their stem.
    """
    rng = np.random.default_rng(seed)
    problems = np.arange(12 * per_year)
    years, stems = 2012 + problems // per_year, problems // size
    alone, shared = rng.random(len(problems)), rng.random(stems.max() + 1)[stems]
    hardness = np.where(rng.random(len(problems)) < 0.5, alone, shared)
    parts = []
    for model, cutoff in enumerate(cutoffs):
        odds = 0.25 + 0.5 * hardness - 0.01 * (years - 2012) + 0.1 * model / (len(cutoffs) - 1)
        verdicts = rng.random(len(problems)) < odds + leak * (years < cutoff)
        models = np.full(len(problems), model)
        columns = (verdicts.astype(float), years < cutoff, problems, stems, models)
        parts.append([column[years != cutoff] for column in columns])
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


def fit(columns: tuple[np.ndarray, ...]) -> Effect:
    *fixed, models = columns
    return fit_effect(*fixed, others=models)


def measure(case: tuple[tuple[int, ...], int, int], rounds: int) -> tuple[float, float]:
    """How often an effect is found at 0.05 where there is none, and one of 15 points is covered."""
    level = np.mean([fit(draw(seed, *case)).p < 0.05 for seed in range(rounds)])
    found = [fit(draw(rounds + seed, *case, leak=0.15)) for seed in range(rounds)]
    return float(level), float(np.mean([effect.low <= 0.15 <= effect.high for effect in found]))


def test_the_effect_is_the_coefficient_of_statsmodels() -> None:
    verdicts, older, problems, stems, models = draw(3, (2014, 2017, 2019), 4, 2)
    design = np.column_stack(
        [older, problems[:, None] == np.unique(problems), models[:, None] == [1, 2]]
    )
    fitted = sm.OLS(verdicts, design.astype(float)).fit()
    found = fit_effect(verdicts, older, problems, stems, others=models)
    assert found.value == pytest.approx(fitted.params[0])
    assert found.low < found.value < found.high


def test_the_standard_error_of_independent_values_is_hc2() -> None:
    rng = np.random.default_rng(4)
    kind = rng.random(600) < 0.2
    values = (rng.random(600) < 0.4 + 0.2 * kind).astype(float)
    fitted = sm.OLS(values, sm.add_constant(kind.astype(float))).fit(cov_type="HC2")
    found = fit_effect(values, kind, [0] * 600, range(600))
    assert found.value == pytest.approx(fitted.params[1])
    weights = (kind - kind.mean()) ** 2
    freedom = int(weights.sum() ** 2 / (weights**2).sum()) - 1
    half = fitted.bse[1] * t.ppf(0.975, freedom)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.002)


@pytest.mark.parametrize("kind", [[True] * 8, [True, False] * 4])
def test_a_kind_without_contrast_or_of_one_cluster_has_no_interval(kind: list[bool]) -> None:
    values = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    found = fit_effect(values, kind, [0] * 8, [0] * 8)
    assert isnan(found.value) == all(kind)
    assert isnan(found.low)
    assert isnan(found.p)


def test_models_of_equal_cutoffs_have_no_effect_to_find() -> None:
    assert isnan(fit(draw(5, (2016, 2016), 10, 1)).value)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_difference_in_differences_keeps_its_level_and_covers(
    case: tuple[tuple[int, ...], int, int],
) -> None:
    """Measured: level 0.046 to 0.061, coverage 94.7 to 95.6 %."""
    level, covered = measure(case, 2000)
    assert 0.04 <= level <= 0.065
    assert 0.94 <= covered <= 0.96


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(10, 10), (10, 90), (10, 500), (30, 300)])
def test_a_difference_within_subjects_keeps_its_level(sizes: tuple[int, int]) -> None:
    """Measured: 0.056 to 0.060."""
    kind, found = np.repeat([True, False], sizes), 0
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        subjects = rng.integers(0, 3, len(kind))
        values = (rng.random(len(kind)) < np.array([0.3, 0.5, 0.7])[subjects]).astype(float)
        found += fit_effect(values, kind, subjects, np.arange(len(kind))).p < 0.05
    assert 80 <= found <= 130
