"""The limit of requests in flight adapts, and caps a minute hold over any minute."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from math import ceil
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.models.api.scheduler import Caps, Concurrency, RateLimiter

Answer = Callable[[float, int], tuple[float, bool]]
"""(second, requests in flight) -> (seconds that it takes, whether it is turned away)."""


def drive(concurrency: Concurrency, answer: Answer, seconds: float) -> list[tuple[float, int]]:
    """Keep the limit filled for so long; returns the limit after every end."""
    flying: list[tuple[float, int, int, float, bool]] = []
    now, count, limits = 0.0, 0, []
    while now < seconds:
        while len(flying) < concurrency.limit:
            count += 1
            took, away = answer(now, len(flying))
            heapq.heappush(flying, (now + took, count, concurrency.window, took, away))
        now, _, window, took, away = heapq.heappop(flying)
        concurrency.note_end(window, congested=away, latency_s=None if away else took)
        limits.append((now, concurrency.limit))
    return limits


def mean(limits: list[tuple[float, int]], start: float, end: float) -> float:
    found = [limit for when, limit in limits if start <= when < end]
    return sum(found) / len(found)


def capacity(places: Callable[[float], int]) -> Answer:
    """Turns away at once what finds no place; the others take a second."""
    return lambda now, flying: (0.05, True) if flying >= places(now) else (1.0, False)


def test_it_settles_near_what_the_endpoint_takes_and_recovers() -> None:
    limits = drive(Concurrency(64), capacity(lambda now: 12 if now < 200 else 64), 600)
    assert 8 <= mean(limits, 50, 200) <= 18
    assert mean(limits, 500, 600) > 60


def test_it_never_stops() -> None:
    concurrency = Concurrency(8)
    for _ in range(100):
        concurrency.note_end(concurrency.window, congested=True)
    assert concurrency.limit == 1
    for _ in range(100):
        concurrency.note_end(concurrency.window, congested=False)
    assert concurrency.limit == 8


@pytest.mark.parametrize("cap", [1, 4, 64, 256])
def test_weather_costs_nothing(cap: int) -> None:
    rng = Random(1)
    limits = drive(
        Concurrency(cap), lambda now, flying: (1.0, rng.random() < 0.05), max(100.0, 4000 / cap)
    )
    assert mean(limits, 10, 4000) > 0.75 * cap


def test_answers_that_take_ever_longer_lower_it() -> None:
    # A server with one worker: each request in flight makes all others slower.
    limits = drive(Concurrency(64), lambda now, flying: (1.0 if now < 50 else 6.0, False), 900)
    assert mean(limits, 0, 50) == 64
    assert min(limit for when, limit in limits if when >= 50) == 48
    assert mean(limits, 800, 900) == 64, "a slower model is the new normal"


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


@given(st.lists(st.floats(1, 3000), min_size=1, max_size=60))
def test_tokens_keep_to_their_flow(amounts: list[float]) -> None:
    times = sent(RateLimiter(6000, 0.0), amounts)
    before_last = sum(amounts[:-1])
    assert times[-1] >= (before_last - 100) / 100 - 1e-6


def test_guesses_become_counts() -> None:
    caps = Caps(None, 60_000, 0.0)
    assert caps.take(0.0) == 4000
    assert caps.wait(0.0) > 0
    caps.correct(4000, 500, 0.0)
    caps.correct(4000, None, 0.0)
    assert caps.guess() == 500
    assert caps.wait(0.0) == pytest.approx(0.5, rel=0.01)
    free = Caps(None, None, 0.0)
    assert all(free.take(0.0) and not free.wait(0.0) for _ in range(10_000))
