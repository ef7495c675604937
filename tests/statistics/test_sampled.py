"""Means over all problems from a sample and a predictor: exact cases, coverage and variance."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pytest
from tests.statistics.respondents import Design, cluster_numbers, draw_shares
from tests.statistics.test_sequential import draw_omibench, read_accuracies

from omibench.results.statistics.intervals import clustered_wilson
from omibench.results.statistics.sampled import FEWEST, estimate_from_sample

OTHERS = np.linspace(0.15, 0.45, 9).tolist()


def hide(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The values at some places; elsewhere unknown."""
    sample = np.full(len(values), np.nan)
    sample[places] = values[places]
    return sample


def test_a_perfect_predictor_gives_the_mean_of_all_problems() -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random(400) < 0.3).astype(float)
    sample = hide(truth, rng.permutation(400)[:80])
    estimate = estimate_from_sample(sample, 3 - 2 * truth, range(400), 0.95)
    assert estimate.mean == pytest.approx(truth.mean())
    assert estimate.n == 80
    all_known = clustered_wilson(truth, range(400))
    assert estimate.lo <= all_known.mean <= estimate.hi
    assert estimate.n_eff <= all_known.n_eff


def test_a_useless_predictor_gives_nearly_the_sample_and_no_predictor_exactly() -> None:
    rng = np.random.default_rng(2)
    places = rng.permutation(1000)[:300]
    sample = hide((rng.random(1000) < 0.4).astype(float), places)
    plain = clustered_wilson(sample[places], places.tolist())
    estimate = estimate_from_sample(sample, rng.random(1000), range(1000), 0.95)
    assert estimate.mean == pytest.approx(plain.mean, abs=0.01)
    assert estimate.hi - estimate.lo == pytest.approx(plain.hi - plain.lo, rel=0.03)
    assert estimate_from_sample(sample, np.ones(1000), range(1000), 0.95) == plain


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_values_that_are_all_equal_have_the_interval_of_the_sample(right: float) -> None:
    sample = hide(np.full(500, right), np.arange(40))
    estimate = estimate_from_sample(sample, np.arange(500.0), range(500), 0.95)
    assert estimate == clustered_wilson([right] * 40, range(40))


def test_few_clusters_have_no_slope() -> None:
    values = np.tile([0.0, 1.0], 250)
    groups = [place // 10 for place in range(500)]
    sample = hide(values, np.arange(10 * (FEWEST - 1)))
    estimate = estimate_from_sample(sample, values, groups, 0.95)
    assert estimate.mean == 0.5
    assert estimate.n == 10 * (FEWEST - 1)
    assert estimate == clustered_wilson(sample[: estimate.n], groups[: estimate.n])


class Measure(NamedTuple):
    """What repeated draws of problems and of a sample of them found."""

    coverage: float
    """Share of the intervals that contain the true accuracy."""
    ratio: float
    """Squared error over that of the sample alone."""
    width: float
    """Squared width over that of the sample alone."""
    bias: float


def measure(design: Design, size: int, accuracy: float, rounds: int) -> Measure:
    """Draw problems, ten respondents and a sample for one of them, many times."""
    groups = np.array(cluster_numbers(design))
    hits, errors, plain_errors, widths, plain_widths = 0, [], [], [], []
    for seed in range(rounds):
        values = np.array(draw_shares(seed, design, [accuracy, *OTHERS]))
        places = np.random.default_rng(10**6 + seed).permutation(len(groups))[:size]
        sample, others = hide(values[0], places), values[1:].mean(axis=0)
        estimate = estimate_from_sample(sample, others, groups.tolist(), 0.95)
        plain = clustered_wilson(values[0][places], groups[places].tolist())
        hits += estimate.lo <= accuracy <= estimate.hi
        errors.append(estimate.mean - accuracy)
        plain_errors.append(plain.mean - accuracy)
        widths.append(estimate.hi - estimate.lo)
        plain_widths.append(plain.hi - plain.lo)
    return Measure(
        hits / rounds,
        fmean(np.square(errors)) / fmean(np.square(plain_errors)),
        (fmean(widths) / fmean(plain_widths)) ** 2,
        fmean(errors),
    )


def test_the_estimate_is_more_certain_than_the_sample() -> None:
    found = measure(Design(1322, 1, 1), 300, 0.3, 150)
    assert found.coverage >= 0.9
    assert 0.6 < found.ratio < 0.95
    assert 0.7 < found.width < 0.9
    assert abs(found.bias) < 0.008


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("accuracy", [0.1, 0.3, 0.6])
@pytest.mark.parametrize(
    ("design", "size", "most"),
    [
        (Design(1322, 1, 1), 300, 0.93), (Design(1322, 1, 1), 100, 0.95),
        (Design(1322, 1, 1), 38, 0.97), (Design(400, 1, 1), 100, 0.95),
        (Design(330, 4, 1, 0.5), 300, 0.95), (Design(1322, 1, 4), 300, 0.85),
    ],
    ids=str,
)  # fmt: skip
def test_coverage_and_variance_of_the_estimate(
    design: Design, size: int, most: float, accuracy: float
) -> None:
    found = measure(design, size, accuracy, 1000)
    print(f"{design} {size} {accuracy}: {found}")
    assert 0.93 <= found.coverage <= 0.975
    assert 0.4 < found.ratio <= most
    assert found.ratio - 0.05 <= found.width < 1
    assert abs(found.bias) <= 0.006


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
def test_three_hundred_problems_of_omibench_are_worth_more_with_thirty_other_models(
    root: Path,
) -> None:
    """Each of the 31 published models in turn is the one with a sample, in 20 draws."""
    accuracies = read_accuracies(root)
    hits, errors, plain_errors, worth = 0, [], [], []
    for seed in range(20):
        values = draw_omibench(seed, accuracies)
        places = np.random.default_rng(seed).permutation(1322)[:300]
        for model, truth in enumerate(accuracies["total"]):
            others = np.delete(values, model, axis=1).mean(axis=1)
            sample = hide(values[:, model], places)
            estimate = estimate_from_sample(sample, others, range(1322), 0.95)
            hits += estimate.lo <= truth <= estimate.hi
            errors.append(estimate.mean - truth)
            plain_errors.append(sample[places].mean() - truth)
            worth.append(estimate.n_eff)
    ratio = fmean(np.square(errors)) / fmean(np.square(plain_errors))
    print(f"coverage {hits / 620}, ratio {ratio}, worth {fmean(worth)}")
    assert hits / 620 >= 0.93
    assert 0.65 < ratio < 0.85
    assert fmean(worth) == pytest.approx(300 / 0.77, rel=0.1)
