"""What is known of simulated models comes back through scorer and intervals, or the test fails.

The full size is `benchmarks/simulation_truth.py`; here it is smaller, with bounds to match.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType

import pytest

from omibench.schemas.verdict import ScoredItem, Verdict

ITEMS, SEEDS = 100, 20
BOX = re.compile(r"\\boxed\{(?:[^{}]|\{[^{}]*\})*\}")


@pytest.fixture(scope="module")
def truth(module_at: Callable[[str], ModuleType]) -> ModuleType:
    """The benchmark's module."""
    return module_at("benchmarks/simulation_truth.py")


@pytest.mark.slow
def test_intervals_cover_and_slips_come_back(truth: ModuleType) -> None:
    results = [result for seed in range(SEEDS) for result in truth.simulate(seed, ITEMS)]
    assert len(results) == SEEDS * len(truth.CELLS) == 180
    assert truth.complaints(results) == []


def test_a_scorer_that_ignores_boxes_is_found_out(truth: ModuleType) -> None:
    def ignores_boxes(item: ScoredItem) -> Verdict:
        unboxed = BOX.sub("", item.prediction)
        return truth.robust(item.model_copy(update={"prediction": unboxed}))  # type: ignore[no-any-return]

    results = [result for seed in range(2) for result in truth.simulate(seed, 40, ignores_boxes)]
    found = truth.complaints(results)
    assert any(line.startswith("coverage") for line in found)
    assert any(line.startswith("slip units") for line in found)


@pytest.mark.slow
def test_an_accuracy_that_is_a_little_off_is_found_out(truth: ModuleType) -> None:
    def lenient(item: ScoredItem) -> Verdict:
        """Gives every response without an answer the benefit of the doubt."""
        verdict: Verdict = truth.robust(item)
        failed = verdict.outcome != "scored"
        return verdict.model_copy(update={"verdict": 1.0}) if failed else verdict

    results = [result for seed in range(4) for result in truth.simulate(seed, 200, lenient)]
    assert any(line.startswith("coverage") for line in truth.complaints(results))


def test_the_known_accuracy_agrees_with_a_plain_average(truth: ModuleType) -> None:
    import random

    from omibench.models.simulated.answers import probability_correct

    rows = truth.population(random.Random(7), 40_000)
    model = truth.PROFILES["middle"]
    answered = 1 - sum(getattr(model.slips, slip) for slip in truth.FATAL)
    mean = sum(probability_correct(model, row, "direct") for row in rows) / len(rows)
    assert truth.known_accuracy(model, "direct") == pytest.approx(mean * answered, abs=0.006)
