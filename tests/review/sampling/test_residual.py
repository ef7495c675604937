"""Errors that remain in settled work, by what seniors overturn (OMIBench, A.4.3)."""

from __future__ import annotations

import numpy as np
import pytest

from omibench.results.statistics.intervals import wilson
from omibench.review.sampling.strata import estimate_weighted_share, measure_residual_error
from omibench.review.sampling.weekly import SamplePlan, draw_samples
from omibench.schemas.review import ReviewDecision, ReviewTask
from review.builders import GOOD, decide
from review.sampling.test_weekly import WEEK, settle_items

WRONG = GOOD | {"valid": "invalid"}


def judge_samples(wrong: int) -> tuple[list[ReviewTask], list[ReviewDecision]]:
    """Eighty settled items, twenty judged again, the first `wrong` of them overturned."""
    tasks, decisions = settle_items(80)
    samples = draw_samples(tasks, decisions, SamplePlan(WEEK, share=0.25)).tasks
    judged = [
        decide(1000 + i, "eve", "senior", task, WRONG if i < wrong else GOOD)
        for i, task in enumerate(samples)
    ]
    return [*tasks, *samples], [*decisions, *judged]


def test_the_rate_of_proportional_strata_is_that_of_the_sample() -> None:
    (error,) = measure_residual_error(*judge_samples(2))
    assert (error.kind, error.settled, error.judged, len(error.overturned)) == ("item", 80, 20, 2)
    assert error.rate == pytest.approx(0.1)
    assert (error.low, error.high) == pytest.approx(wilson(2, 20))
    assert error.remaining == pytest.approx((6, 60 * error.low, 60 * error.high))


def test_no_error_found_is_not_no_error() -> None:
    (error,) = measure_residual_error(*judge_samples(0))
    assert (error.rate, error.low) == (0, 0)
    assert error.high == pytest.approx(wilson(0, 20)[1])


def test_a_correction_afterwards_does_not_hide_the_error() -> None:
    tasks, decisions = judge_samples(1)
    name = measure_residual_error(tasks, decisions)[0].overturned[0]
    task = next(task for task in tasks if task.id == name)
    mended = decide(5000, "eve", "senior", task, WRONG)
    (error,) = measure_residual_error(tasks, [*decisions, mended])
    assert error.overturned == (name,)


def test_without_judged_samples_there_is_no_rate() -> None:
    tasks, decisions = judge_samples(0)
    assert measure_residual_error(tasks, [d for d in decisions if d.role != "senior"]) == []


def test_simulated_seniors_are_marked() -> None:
    tasks, decisions = judge_samples(0)
    simulated = [d.model_copy(update={"simulated": d.role == "senior"}) for d in decisions]
    assert measure_residual_error(tasks, simulated)[0].simulated


def test_strata_weigh_by_their_size() -> None:
    marks = {("a",): [True, False], ("b",): [False] * 8}
    estimate = estimate_weighted_share(marks, {("a",): 90, ("b",): 10})
    assert estimate.mean == pytest.approx(0.45)
    assert estimate.n_eff == pytest.approx(1 / (0.9**2 / 2 + 0.1**2 / 8))


def test_strata_that_nobody_judged_count_with_the_thin_ones() -> None:
    marks = {("a",): [True], ("b",): [False, False]}
    estimate = estimate_weighted_share(marks, {("a",): 10, ("b",): 60, ("c",): 30})
    assert estimate.mean == pytest.approx(0.4)


def test_intervals_cover_rates_that_differ_by_stratum() -> None:
    generator = np.random.default_rng(5)
    rates, sizes, held = {("a",): 0.05, ("b",): 0.3}, {("a",): 300, ("b",): 100}, 0
    truth = 0.75 * 0.05 + 0.25 * 0.3
    for _ in range(300):
        marks = {
            key: (generator.random(number) < rates[key]).tolist()
            for key, number in ((("a",), 30), (("b",), 10))
        }
        estimate = estimate_weighted_share(marks, sizes)
        held += estimate.lo <= truth <= estimate.hi
    assert held / 300 >= 0.92
