"""Time left, from what the run's own jobs took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.study.status.rows import (
    WIDTH,
    CellStatus,
    clean,
    list_failures,
    read_last_lines,
    time_left,
)
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


# Why a job failed: the end of its log, without what could command a terminal.


def failed(log: Path) -> RunJob:
    return RunJob("infer", "x", "m", "cot", str(log), "failed")


@pytest.mark.parametrize(
    ("text", "why", "lines"),
    [
        (
            "omibench: first\n 10%|#\r 20%|##\r 100%|###\nomibench: the key X is missing\n\n",
            "the key X is missing",
            ["omibench: first", " 100%|###", "omibench: the key X is missing"],
        ),
        ("Traceback\nMemoryError: no more\n", "MemoryError: no more",
         ["Traceback", "MemoryError: no more"]),
        (None, "it left no message; see Snakemake's log", []),
    ],
    ids=["our own line", "the last line of another program", "no log"],
)  # fmt: skip
def test_the_reason_of_a_failure(
    tmp_path: Path, text: str | None, why: str, lines: list[str]
) -> None:
    log = tmp_path / "cot.log"
    if text:
        log.write_text(text)
    (found,) = list_failures([failed(log), RunJob("infer", "y", state="done")], tmp_path)
    assert (found.why, found.lines) == (why, lines)


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "long.log"
    log.write_text("".join(f"line {n}\n" for n in range(100_000)))
    assert read_last_lines(log, 2) == ["line 99998", "line 99999"]


def test_escape_sequences_and_bidirectional_marks_are_left_out() -> None:
    assert clean("\x1b[31mred\x1b[0m \x07\u202eevil\u2066 \x9b2J") == "red evil 2J"


@given(st.text())
def test_what_is_shown_commands_nothing(text: str) -> None:
    found = clean(text)
    assert len(found) <= WIDTH
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in found)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_log(tmp_path_factory: object, data: bytes) -> None:
    log = tmp_path_factory.mktemp("log") / "x.log"  # type: ignore[attr-defined]
    log.write_bytes(data)
    assert all("\n" not in line for line in read_last_lines(log))
