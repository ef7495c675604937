"""The progress that `omibench run` shows: a line per stage in 80 columns, redrawn in place."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from omibench.params.study import Study, parse_study
from omibench.study.status import progress
from omibench.study.status.progress import Progress, describe_stage
from omibench.study.status.rows import FailedJob, Money, StageStatus, StudyStatus, TimeLeft
from omibench.study.status.text import render

INFER = StageStatus(stage="infer", jobs=600, done=20, running=4, failed=3, waiting=573)


def status(**changed: Any) -> StudyStatus:
    values: dict[str, Any] = {
        "study": "s", "title": "", "results": "results", "now": 0.0, "simulated": False,
        "run": None, "stages": [INFER], "cells": [], "failures": [], "requests": 1_234_567,
        "answered": 123_456, "outcomes": {}, "money": Money(usd=1234.5),
        "left": TimeLeft(seconds=7000, measured=3, stages={"infer": 7000.0}),
    }  # fmt: skip
    return StudyStatus(**values | changed)


def test_a_line_has_jobs_requests_dollars_failures_and_the_time_left() -> None:
    line = describe_stage(INFER, status())
    assert line == (
        "infer: 20/600 jobs  123,456/1,234,567 requests  $1,234.50  3 failed  left: 1.9 h"
    )


@pytest.mark.parametrize("width", [79, 119])
def test_a_bar_leaves_room_for_the_numbers(width: int) -> None:
    usual = status(requests=5576, answered=1204, money=Money(usd=24.43))
    line = describe_stage(INFER, usual, width)
    assert len(line) <= width
    assert line.startswith("infer      [")
    numbers = "20/600  1,204/5,576 requests  $24.43  3 failed  left: 1.9 h"
    assert line.endswith(f".] {numbers}")
    assert describe_stage(INFER, usual, 75) == f"infer      {numbers}"
    assert len(describe_stage(INFER, status(), 79)) <= 79


class Screen(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


class Looks:
    """A reader that sees one job more each time."""

    def __init__(self) -> None:
        self.looks = 0

    def look(self) -> StudyStatus:
        self.looks += 1
        return status(stages=[StageStatus(stage="infer", jobs=9, done=self.looks, waiting=1)])


def follow(
    terminal: bool, folder: Path, monkeypatch: pytest.MonkeyPatch, *, began: bool, code: int
) -> str:
    screen = Screen(terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "EVERY_S", 0.02)
    monkeypatch.setattr(progress, "PIPE_EVERY_S", (0.02, 0.02))
    study: Study = parse_study({"study": {"results": str(folder / "results")}}, "test")
    monkeypatch.chdir(folder)
    shown = Progress(study, Looks())  # type: ignore[arg-type]
    shown._began = began
    script = f"import time; print('why it ended'); time.sleep(0.6); raise SystemExit({code})"
    with shown.open_log() as log:
        child = subprocess.Popen([sys.executable, "-c", script], stdout=log, stderr=log)
        assert shown.follow(child) == code
    return screen.getvalue()


def test_a_terminal_is_drawn_again_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = follow(True, tmp_path, monkeypatch, began=True, code=0)
    assert "\x1b[1F\x1b[J" in said
    assert "...] 1/9  " in said
    assert "...] 2/9  " in said


def test_a_pipe_gets_lines_without_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = follow(False, tmp_path, monkeypatch, began=True, code=0)
    assert "\x1b" not in said
    assert said.splitlines()[:2] == [
        "infer: 1/9 jobs  123,456/1,234,567 requests  $1,234.50  left: 1.9 h",
        "infer: 2/9 jobs  123,456/1,234,567 requests  $1,234.50  left: 1.9 h",
    ]


def test_what_ends_before_its_first_job_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = follow(True, tmp_path, monkeypatch, began=False, code=2)
    assert said == "why it ended\n"


def test_jobs_that_failed_for_one_reason_are_one_entry() -> None:
    failures = [
        FailedJob(job=f"infer gpt/{n}", output="o", why="no key", log=f"{n}.log", lines=[])
        for n in range(5)
    ]
    other = FailedJob(job="score a/b", output="o", why="no room", log=None, lines=[])
    lines = render(status(failures=[*failures, other])).splitlines()
    assert "6 jobs failed:" in lines
    assert "  infer gpt/0, infer gpt/1, infer gpt/2 and 2 more: no key" in lines
    assert "    0.log" in lines
    assert "  score a/b: no room" in lines
