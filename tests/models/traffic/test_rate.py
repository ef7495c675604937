"""Caps a minute hold over any minute, and are used."""

from __future__ import annotations

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.models.api.limits import Caps, RateLimiter


def sent(pace: RateLimiter, amounts: list[float]) -> list[float]:
    """When each amount goes, each as soon as it may."""
    now, times = 0.0, []
    for amount in amounts:
        now += pace.wait(amount, now)
        assert pace.wait(amount, now) == 0
        pace.take(amount, now)
        times.append(now)
    return times


@given(st.floats(0.5, 5000), st.integers(1, 300))
def test_no_minute_has_more_than_its_cap(per_minute: float, count: int) -> None:
    times = sent(RateLimiter(per_minute, 0.0), [1.0] * count)
    for start in times:
        within = sum(start <= t < start + 60 - 1e-6 for t in times)
        assert within <= ceil(per_minute)


def test_the_cap_is_used() -> None:
    times = sent(RateLimiter(600, 0.0), [1.0] * 3000)
    assert times[-1] == pytest.approx(300, rel=0.02)


def test_what_exceeds_a_second_goes_into_debt() -> None:
    times = sent(RateLimiter(6000, 0.0), [5000.0, 1000.0, 1.0])
    assert times[0] == 0
    assert times[1] > 45
    assert times[2] > times[1]


@given(st.lists(st.floats(1, 3000), min_size=1, max_size=60))
def test_tokens_keep_to_their_flow(amounts: list[float]) -> None:
    times = sent(RateLimiter(6000, 0.0), amounts)
    before_last = sum(amounts[:-1])
    assert times[-1] >= (before_last - 100) / 100 - 1e-6


def test_guesses_become_counts() -> None:
    caps = Caps(None, 60_000, 0.0)
    assert caps.guess(4000) == 4000
    caps.take(4000, 0.0)
    assert caps.wait(1000, 0.0) > 0
    caps.correct(4000, 500, 0.0)
    assert caps.guess(4000) == 500
    assert caps.wait(500, 0.0) == pytest.approx(0.5, rel=0.01)
    caps.correct(4000, None, 0.0)
    assert caps.guess(4000) == 500


def test_no_caps_no_waits() -> None:
    caps = Caps(None, None, 0.0)
    for _ in range(10):
        assert caps.wait(1e9, 0.0) == 0
        caps.take(1e9, 0.0)
