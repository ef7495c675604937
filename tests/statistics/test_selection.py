"""The interval of the best of several equal respondents covers its true accuracy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2
from tests.statistics.respondents import Design, cluster_numbers, draw_shares

from omibench.results.statistics.intervals import adjust_holm, clustered_wilson
from omibench.results.statistics.selection import bound_best


def measure_best(design: Design, accuracies: list[float], rounds: int) -> tuple[float, float]:
    """The coverage of the plain and of the corrected interval of the best, for single answers.

    Respondents that Holm's tests over all pairs find behind the best are not compared.
    """
    groups, covered = cluster_numbers(design), np.zeros(2)
    for seed in range(rounds):
        values = np.transpose(draw_shares(seed, design, accuracies))
        best = int(values.mean(axis=0).argmax())
        gained = values.T @ (1 - values)
        first, second = np.triu_indices(len(accuracies), 1)
        differing = np.maximum(gained + gained.T, 1)
        p = chi2.sf((gained - gained.T) ** 2 / differing, 1)  # McNemar's score test of each pair
        p[first, second] = p[second, first] = adjust_holm(p[first, second])
        kept = [column for column in range(len(p)) if column == best or p[best, column] >= 0.05]
        estimates = (
            clustered_wilson(values[:, best], groups),
            bound_best(values[:, kept], groups, kept.index(best)),
        )
        covered += [estimate.lo <= accuracies[best] <= estimate.hi for estimate in estimates]
    return float(covered[0] / rounds), float(covered[1] / rounds)


def test_one_respondent_has_the_plain_interval() -> None:
    values = np.array([[1.0], [0.0], [1.0], [1.0]])
    assert bound_best(values, range(4), 0) == clustered_wilson(values[:, 0], range(4))


def test_more_rivals_lower_the_bound_and_copies_do_not() -> None:
    values = (np.random.default_rng(1).random((200, 12)) < 0.5).astype(float)
    best = int(values.mean(axis=0).argmax())
    alone = clustered_wilson(values[:, best], range(200))
    many = bound_best(values, range(200), best)
    copies = bound_best(np.repeat(values[:, [best]], 12, axis=1), range(200), 0)
    assert many.lo < alone.lo - 0.02
    assert (many.mean, many.hi, many.n) == (alone.mean, alone.hi, alone.n)
    assert copies.lo == pytest.approx(alone.lo, abs=0.003)


def test_a_perfect_respondent_has_a_bound() -> None:
    values = np.ones((30, 2))
    estimate = bound_best(values, range(30), 0)
    assert 0.8 < estimate.lo < clustered_wilson(values[:, 0], range(30)).lo


@pytest.mark.slow
def test_the_best_of_equal_respondents_is_covered() -> None:
    plain, corrected = measure_best(Design(60, 1, 1), [0.45] * 6, 60)
    assert plain < corrected
    assert corrected >= 0.9


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("problems", [100, 1322])
@pytest.mark.parametrize("models", [6, 16, 31])
def test_the_coverage_of_the_best_over_1000_draws(models: int, problems: int) -> None:
    assert measure_best(Design(problems, 1, 1), [0.45] * models, 1000)[1] >= 0.93


@pytest.mark.slow
@pytest.mark.long
def test_the_coverage_of_unequal_respondents_over_1000_draws() -> None:
    accuracies = [0.5, 0.49, 0.48, 0.4, 0.3, 0.2]
    assert measure_best(Design(400, 1, 1), accuracies, 1000)[1] >= 0.93
