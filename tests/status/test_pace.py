"""Time left, from what the run's own jobs took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omibench.study.status.rows import CellStatus, time_left
from omibench.study.status.runs import Run, RunJob, State

NOW = 1000.0


def run(*jobs: RunJob) -> Run:
    return Run(Path("r"), began=0.0, last_event=NOW, jobs={job.output: job for job in jobs})


def job(
    name: str, state: State = "waiting", began: float = 0, ended: float | None = None
) -> RunJob:
    stage, _, cell = name.partition(" ")
    model, _, setting = cell.partition("/")
    return RunJob(stage, name, model or None, setting or None, None, state, began or None, ended)


def cell(model: str, setting: str, to_buy: int) -> CellStatus:
    return CellStatus(
        model=model, setting=setting, infer="waiting", score="waiting", requests=100,
        answered=100 - to_buy,
    )  # fmt: skip


def left(now: Run, cells: list[CellStatus], bought: dict[str, int], *before: Run) -> Any:
    return time_left([*before, now], now, cells, bought, NOW)


def test_a_cell_takes_its_requests_at_the_models_rate() -> None:
    now = run(job("infer m/a", "done", 100, 200), job("infer m/b"))
    assert left(now, [cell("m", "b", 40)], {"m": 50}).seconds == pytest.approx(40 * 100 / 50)


def test_a_half_done_cell_takes_what_it_lacks() -> None:
    now = run(job("infer m/a", "running", 900))
    found = left(now, [cell("m", "a", 25)], {"m": 50})
    assert found.seconds == pytest.approx(25 * 100 / 50)
    assert found.measured == 0


def test_other_jobs_take_the_mean_of_their_stage_and_run_side_by_side() -> None:
    now = run(
        job("score m/a", "done", 100, 110), job("score m/b", "done", 100, 130),
        job("score m/c"), job("score n/c"),
        job("score m/d", "running", 995), job("score m/e", "running", 995),
    )  # fmt: skip
    assert left(now, [], {}).seconds == pytest.approx((20 + 20 + 15 + 15) / 2)


def test_a_stage_that_no_run_has_timed_is_named() -> None:
    now = run(job("score m/a", "done", 100, 110), job("score m/b"), job("analyze"))
    found = left(now, [], {})
    assert found.seconds == pytest.approx(10)
    assert found.unmeasured == ["analyze"]
    before = run(job("analyze", "done", 10, 17))
    assert left(now, [], {}, before).seconds == pytest.approx(17)


def test_nothing_is_guessed_before_anything_was_timed() -> None:
    found = left(run(job("infer m/a", "running", 990), job("score m/a")), [], {})
    assert found.seconds is None
    assert found.unmeasured == ["infer", "score"]
