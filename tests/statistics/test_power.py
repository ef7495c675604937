"""The smallest detectable difference, against the printed formula and against simulation."""

from __future__ import annotations

from math import isinf
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.statistics.design_effect import effective_size
from omibench.statistics.power import detectable_difference

RUNS = 4000


def mcnemar_power(
    rng: np.random.Generator, n: int, discordant: float, difference: float,
    critical: float = 1.959964,
) -> float:  # fmt: skip
    """Share of simulated studies of n problems in which McNemar's test finds the difference."""
    gain, loss = (discordant + difference) / 2, (discordant - difference) / 2
    won, lost, _ = rng.multinomial(n, [gain, loss, 1 - gain - loss], size=RUNS).T
    z = (won - lost) / np.sqrt(np.maximum(won + lost, 1))
    return float(np.mean(z > critical))


def clustered_power(
    rng: np.random.Generator, clusters: int, size: int, discordant: float, difference: float,
    correlation: float,
) -> float:  # fmt: skip
    """The same where problems of one stem go the same way with probability `correlation`."""
    gain, loss = (discordant + difference) / 2, (discordant - difference) / 2
    shape = (RUNS // 4, clusters, size)
    values, odds = [1, -1, 0], [gain, loss, 1 - gain - loss]
    own = rng.choice(values, p=odds, size=shape)
    shared = rng.choice(values, p=odds, size=(*shape[:2], 1))
    # With probability r a whole cluster draws once: two of its members correlate by r.
    together = rng.random((*shape[:2], 1)) < correlation
    sums = np.where(together, shared, own).sum(axis=2)
    z = sums.sum(axis=1) / np.sqrt((sums**2).sum(axis=1))
    return float(np.mean(z > 1.959964))


@pytest.mark.parametrize("pairs", [15, 465])
def test_a_family_of_comparisons_needs_larger_differences(pairs: int) -> None:
    """At alpha over their number the difference is found four times in five, as one alone is."""
    n, discordant, alpha = 1322, 0.3, 0.05 / pairs
    difference = detectable_difference(n, discordant, alpha)
    assert difference > 1.3 * detectable_difference(n, discordant)
    critical = NormalDist().inv_cdf(1 - alpha / 2)
    power = mcnemar_power(np.random.default_rng(pairs), n, discordant, difference, critical)
    assert power == pytest.approx(0.8, abs=0.025)


@pytest.mark.parametrize(
    ("n", "discordant"), [(200, 0.3), (473, 0.2), (1322, 0.3), (1322, 0.5), (2788, 0.2)]
)
def test_the_difference_is_found_four_times_in_five(n: int, discordant: float) -> None:
    power = mcnemar_power(
        np.random.default_rng(n), n, discordant, detectable_difference(n, discordant)
    )
    assert power == pytest.approx(0.8, abs=0.025)


def test_clusters_cost_what_the_design_effect_says() -> None:
    groups = [str(i // 4) for i in range(1200)]
    size = effective_size(groups, 0.2)
    assert size == pytest.approx(1200 / 1.6)
    difference = detectable_difference(size, 0.3)
    rng = np.random.default_rng(7)
    assert clustered_power(rng, 300, 4, 0.3, difference, 0.2) == pytest.approx(0.8, abs=0.04)
    naive = detectable_difference(1200, 0.3)
    assert clustered_power(rng, 300, 4, 0.3, naive, 0.2) < 0.66


def test_a_worked_example() -> None:
    """Of pairs that differ by 0.45 one way and 0.05 the other, Connor's formula needs 23."""
    assert detectable_difference(23, 0.5) < 0.4 < detectable_difference(22, 0.5)


def test_too_few_problems_detect_nothing() -> None:
    assert isinf(detectable_difference(10, 0.2))
    assert isinf(detectable_difference(0, 0.3))


@given(st.integers(60, 10_000), st.floats(0.15, 1.0))
def test_more_problems_detect_less(n: int, discordant: float) -> None:
    assert (
        detectable_difference(2 * n, discordant)
        < detectable_difference(n, discordant)
        <= discordant
    )


def test_problems_without_a_stem_stand_alone() -> None:
    assert effective_size(["", "", ""]) == 3
    assert effective_size([]) == 0
    assert effective_size(["a", "a"], 1.0) == 1
    assert effective_size(["a", "a", ""], 0.0) == 3
