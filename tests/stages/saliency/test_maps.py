"""Saliency as the paper defines it: what an option loses when a place is covered."""

from __future__ import annotations

import pytest

from omibench.stages.saliency.maps import (
    Effect,
    find_best_option,
    measure_effects,
    measure_impact,
    select_strongest,
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


def test_impact_is_the_largest_effect_either_way() -> None:
    found = [Effect(HERE, 0.5), Effect(THERE, -0.75)]
    assert measure_impact(found) == 0.75
    assert measure_impact([]) == 0.0
    assert select_strongest(found, 1) == [Effect(THERE, -0.75)]


def test_the_likeliest_option_is_chosen() -> None:
    assert find_best_option(BASE) == "B"
