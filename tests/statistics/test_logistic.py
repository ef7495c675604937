"""The logistic regression against statsmodels' own clustered covariance, and by simulation."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
import statsmodels.api as sm

from omibench.results.statistics.regression import (
    ALIASED,
    ALWAYS,
    BASE,
    NEVER,
    AnswerCounts,
    fit_logistic,
)

MODELS, SETTINGS = ["a", "b", "c"], ["direct", "cot"]
EFFECTS = {"a": 0.0, "b": 0.8, "c": -0.5, "direct": 0.0, "cot": 0.4}


def draw_counts(seed: int, clusters: int = 60, size: int = 2, samples: int = 2) -> AnswerCounts:
    """Answers of three models under two settings; the items of a cluster are as hard."""
    generator = np.random.default_rng(seed)
    hard = np.repeat(generator.standard_normal(clusters) * 0.7, size)
    rows = [
        (str(item // size), model, setting, hard[item] + EFFECTS[model] + EFFECTS[setting])
        for item in range(clusters * size)
        for model in MODELS
        for setting in SETTINGS
    ]
    shares = 1 / (1 + np.exp(-np.array([row[3] for row in rows])))
    right = generator.binomial(samples, shares).astype(float)
    return AnswerCounts(
        right.tolist(), [float(samples)] * len(rows), [row[0] for row in rows],
        {"model": [row[1] for row in rows], "setting": [row[2] for row in rows]},
        {"model": MODELS, "setting": SETTINGS},
    )  # fmt: skip


def test_estimates_and_errors_are_those_of_statsmodels() -> None:
    counts = draw_counts(1)
    right, total = np.asarray(counts.right), np.asarray(counts.total)
    columns = [
        np.asarray(counts.factors[name]) == level
        for name, level in (("model", "b"), ("model", "c"), ("setting", "cot"))
    ]
    design = np.column_stack([np.ones(len(right)), *columns]).astype(float)
    groups = np.asarray(counts.clusters, dtype=int)
    expected = sm.GLM(
        np.column_stack([right, total - right]), design, family=sm.families.Binomial()
    ).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    expected.df_resid_inference = 59
    fit = fit_logistic(counts)
    rows = [row for row in fit.coefficients if row.note != BASE]
    assert [row.estimate for row in rows] == pytest.approx(expected.params, rel=1e-6)
    assert [row.high - row.estimate for row in rows] == pytest.approx(
        2.000995 * expected.bse, rel=1e-4
    )
    assert (fit.rows, fit.clusters) == (720, 60)


def test_the_first_level_is_the_baseline() -> None:
    rows = {(row.factor, row.level): row for row in fit_logistic(draw_counts(2)).coefficients}
    assert (rows["model", "a"].estimate, rows["model", "a"].note) == (0, BASE)
    assert rows["setting", "cot"].n == 720


@pytest.mark.parametrize(("value", "note"), [(0.0, NEVER), (2.0, ALWAYS)])
def test_a_model_that_is_never_or_always_right_has_no_coefficient(value: float, note: str) -> None:
    counts = draw_counts(3)
    right = [
        value if model == "c" else r
        for model, r in zip(counts.factors["model"], counts.right, strict=True)
    ]
    fit = fit_logistic(
        AnswerCounts(right, counts.total, counts.clusters, counts.factors, counts.levels)
    )
    rows = {row.level: row for row in fit.coefficients}
    assert rows["c"].note == note
    assert isnan(rows["c"].estimate)
    assert rows["b"].p < 0.05
    assert fit.rows == 480


def test_factors_that_cannot_be_told_apart_say_so() -> None:
    counts = draw_counts(4)
    copied = {**counts.factors, "again": counts.factors["setting"]}
    levels = {**counts.levels, "again": SETTINGS}
    fit = fit_logistic(AnswerCounts(counts.right, counts.total, counts.clusters, copied, levels))
    notes = {(row.factor, row.level): row.note for row in fit.coefficients}
    assert notes["again", "cot"] == ALIASED
    assert notes["setting", "cot"] == ""


def test_answers_that_are_all_wrong_fit_nothing() -> None:
    counts = draw_counts(5)
    nothing = [0.0] * len(counts.right)
    fit = fit_logistic(
        AnswerCounts(nothing, counts.total, counts.clusters, counts.factors, counts.levels)
    )
    assert fit.rows == 0
    assert {row.note for row in fit.coefficients} == {NEVER}


def measure_coefficient_coverage(clusters: int, rounds: int) -> float:
    """The share of fits whose interval of model b against a holds the marginal truth."""
    many = fit_logistic(draw_counts(10**6, clusters=40_000, size=1, samples=8))
    truth = next(row.estimate for row in many.coefficients if row.level == "b")
    covered = 0
    for seed in range(rounds):
        row = next(
            row for row in fit_logistic(draw_counts(seed, clusters)).coefficients
            if row.level == "b"
        )  # fmt: skip
        covered += row.low <= truth <= row.high
    return covered / rounds


@pytest.mark.slow
def test_intervals_of_coefficients_cover() -> None:
    assert 0.91 <= measure_coefficient_coverage(40, 200) <= 0.985


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("clusters", [30, 100])
def test_intervals_of_coefficients_cover_over_5000_draws(clusters: int) -> None:
    assert 0.93 <= measure_coefficient_coverage(clusters, 5000) <= 0.97
