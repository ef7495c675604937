"""Saliency as the paper defines it: what an option loses when a place is covered."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.saliency.maps import (
    Effect,
    measure_effects,
    normalise,
)

BASE = {"A": -1.0, "B": -0.5}
HERE, THERE = (0, 0, 56), (28, 0, 56)


def test_a_drop_supports_and_a_rise_speaks_against() -> None:
    found = measure_effects(BASE, [(HERE, {"A": -3.0, "B": -0.1}), (THERE, {"A": -0.75})], "A")
    assert found == [Effect(HERE, 2.0), Effect(THERE, -0.25)]
    assert measure_effects(BASE, [(HERE, {"A": -3.0, "B": -0.1})], "B")[0].drop == pytest.approx(
        -0.4
    )
    assert measure_effects(BASE, [(THERE, {"A": -1.0})], "B") == [], "an option that was not scored"


@given(st.dictionaries(st.sampled_from("ABCDE"), st.floats(-700, 0), min_size=1))
def test_log_probabilities_are_normalised_over_the_options(scores: dict[str, float]) -> None:
    normalised = normalise(scores)
    assert math.fsum(map(math.exp, normalised.values())) == pytest.approx(1)
    first, *others = scores
    for other in others:
        gap = scores[other] - scores[first]
        assert normalised[other] - normalised[first] == pytest.approx(gap, abs=1e-9)
