"""Where a curve over sizes of models ends to rise."""

from __future__ import annotations

import pytest

from omibench.statistics.saturation import find_saturation


@pytest.mark.parametrize(
    ("scores", "size"),
    [
        ({1: 0.10, 8: 0.24, 38: 0.251, 241: 0.252}, 38),
        ({1: 0.10, 8: 0.25, 38: 0.20, 241: 0.254}, 8),
        ({1: 0.10, 8: 0.25, 38: 0.20, 241: 0.255}, None),
        ({2: 0.1, 4: 0.2, 8: 0.3}, None),
        ({8: 0.3, 2: 0.4, 4: 0.1}, 2),
        ({8: 0.3}, None),
        ({}, None),
    ],
)
def test_the_smallest_size_that_no_larger_one_surpasses(
    scores: dict[float, float], size: float | None
) -> None:
    assert find_saturation(scores) == size


def test_a_gain_of_exactly_half_a_point_is_a_gain() -> None:
    assert find_saturation({1: 0.1, 2: 0.105}) is None
    assert find_saturation({1: 0.1, 2: 0.1049}) == 1


def test_another_gain_may_be_asked_of_larger_models() -> None:
    assert find_saturation({1: 0.1, 2: 0.14}, least_gain=0.05) == 1
