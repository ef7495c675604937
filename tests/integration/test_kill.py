"""A run killed at random moments: nothing bought is lost, only what was in flight is bought again.

Every sample has a seed, so the server gives it the same answer whenever it is asked, and the
tables of a killed and of an undisturbed run can be compared cell by cell.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.integration.killed_runs import IN_FLIGHT, SAMPLES, Kept, Runs, paid

from model_server.handle import ServerHandle, wait_until


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"latency_s": 0.2, "latency_sigma": 0.5, "letters": True, "answer_chars": 2000}


def kill_at_random(
    server: ServerHandle, runs: Runs, moment: Callable[[], float], kills: int
) -> Counter[str]:
    """Kill so many runs while they send; how often each problem was in flight at a kill.

    A moment counts from the first request of a run. After each kill, all that was kept before is
    still there, and what was paid and not kept is no more than may be in flight at once.
    """
    kept: Kept = {}
    in_flight: Counter[str] = Counter()
    for _ in range(kills):
        sent = server.stats(contents=False)["requests"]
        process = runs.start()
        wait_until(lambda: server.stats(contents=False)["requests"] > sent, 60)  # noqa: B023
        time.sleep(moment())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "the run was over before its kill"
        before, kept = kept, runs.kept()
        assert before.items() <= kept.items(), "a kept answer was lost or changed"
        owed = paid(server)
        owed.subtract(Counter(problem for problem, _ in kept.values()))
        lost = owed - in_flight
        assert owed == in_flight + lost, "an answer was kept that was never paid"
        assert lost.total() <= IN_FLIGHT
        in_flight += lost
    return in_flight


def killed_and_undisturbed(
    server: ServerHandle, runs: Runs, moment: Callable[[], float], kills: int
) -> None:
    in_flight = kill_at_random(server, runs, moment, kills)
    assert 0 < in_flight.total() <= kills * IN_FLIGHT
    kept = runs.kept()
    assert 0 < len(kept) < runs.size
    rows = runs.finish()
    assert kept.items() <= runs.kept().items()
    assert len(runs.kept()) == runs.size
    stats = server.stats(contents=False)
    assert stats["distinct"] == runs.size
    assert stats["peak_concurrent"] <= IN_FLIGHT
    every = Counter({f"{n:03}": SAMPLES for n in range(runs.size // SAMPLES)})
    assert paid(server) == every + in_flight, "something else was bought twice"
    server.reset()
    undisturbed = runs.finish("undisturbed")
    assert server.stats(contents=False)["paid"] == runs.size
    assert rows.height == runs.size
    assert set(rows["outcome"]) == {"answered"}
    assert rows.group_by("id").agg(pl.col("text").n_unique())["text"].max() == SAMPLES
    assert rows.equals(undisturbed)


@pytest.mark.slow
def test_killed_once(server: ServerHandle, tmp_path: Path) -> None:
    killed_and_undisturbed(server, Runs(server, tmp_path, 25), lambda: 0.4, 1)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("problems", "kills"), [(60, 5), (250, 20)])
def test_killed_at_many_random_moments(
    server: ServerHandle, tmp_path: Path, problems: int, kills: int
) -> None:
    """Of four samples of each problem; 250 problems are 1,000 requests."""
    runs, rng = Runs(server, tmp_path, problems), random.Random(20261121)
    killed_and_undisturbed(server, runs, lambda: rng.uniform(0.0, 0.8), kills)
    scores = runs.score()
    assert scores.equals(runs.score("undisturbed"))
    assert scores.height == 2 * runs.size
    assert 0 < scores.filter(pl.col("verdict") == 1.0).height < scores.height
