"""The progress of the run that `omibench run` has started: a line per stage, drawn again in place.

A terminal is redrawn; without one, a line is written for each stage with news, without any
cursor control. Snakemake's own output is in a file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from omibench.errors import OmibenchError, OutputError, reason_of
from omibench.models.api.stop import stop_requested
from omibench.models.cost import usd_text
from omibench.params.runtime import locate_log
from omibench.params.study import Study
from omibench.study.plan.text import duration
from omibench.study.status.reader import Looker
from omibench.study.status.rows import StageStatus, StudyStatus
from omibench.study.status.runs import read_runs
from omibench.study.status.text import describe_ending
from omibench.text.terminal import printable, raw_stream, say, say_lines

EVERY_S = 1.0
"""Seconds between two updates of a terminal."""
PIPE_EVERY_S = (10.0, 60.0)
"""Seconds between two updates without a terminal, at first and later."""
COST = 20
"""An update is followed by a pause of so many times its own duration, if that is longer."""
LINES = 60
"""Lines of Snakemake's output that are printed if it ends before its first job."""
LEFT = "left: "
_BARS = (6, 30)
"""The least and the greatest width of a bar."""


class Progress:
    """Shows the run of one Snakemake until it ends, then what it made and what failed.

    Args:
        study: The study.
        looker: Reads its status.
    """

    def __init__(self, study: Study, looker: Looker) -> None:
        self._study, self._looker = study, looker
        self._log = locate_log(study.study.results)
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn = 0
        self._before: dict[str, str] = {}
        self._began = False

    def open_log(self) -> BinaryIO:
        """Open the file for the output of Snakemake, empty. Raises OutputError."""
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            return self._log.open("wb")
        except OSError as error:
            raise OutputError(f"{self._log}: cannot be written: {reason_of(error)}") from None

    def follow(self, child: subprocess.Popen[bytes]) -> int:
        """Show the progress until the process ends; return its exit code.

        What cannot be shown never ends a run.
        """
        pause, most = (EVERY_S, EVERY_S) if self._live else PIPE_EVERY_S
        while True:
            with suppress(subprocess.TimeoutExpired):
                code = child.wait(timeout=pause)
                break
            begun = time.monotonic()
            with suppress(Exception):
                self._update(child.pid)
            pause = max(min(1.2 * pause, most), COST * (time.monotonic() - begun))
        self._end(child.pid, code)
        return code

    def _update(self, pid: int) -> None:
        if stop_requested() is not None:
            self._drawn = 0  # what was printed since stays
            return
        if not self._began:  # it has not noted its jobs yet
            runs = read_runs(Path(self._study.study.results))
            self._began = any(run.owner[1] == pid and run.live for run in runs)
        if self._began:
            self._show(self._looker.look())

    def _show(self, status: StudyStatus) -> None:
        if self._live:
            self._draw(status)
            return
        for stage in status.stages:
            line = describe_stage(stage, status)
            news = line.partition(LEFT)[0]
            if stage.done + stage.failed + stage.running and news != self._before.get(stage.stage):
                self._before[stage.stage] = news
                say(line, err=True)

    def _draw(self, status: StudyStatus) -> None:
        width, rows = shutil.get_terminal_size()
        lines = [describe_stage(stage, status, width - 1) for stage in status.stages]
        lines = [printable(line)[: width - 1] for line in lines][: rows - 1]
        stream = raw_stream(sys.stderr)
        erased = f"\x1b[{self._drawn}F\x1b[J" if self._drawn else ""
        stream.write(erased + "\n".join(lines) + "\n")
        stream.flush()
        self._drawn = len(lines)

    def _end(self, pid: int, code: int) -> None:
        notes = [run for run in read_runs(Path(self._study.study.results)) if run.owner[1] == pid]
        if notes:
            with suppress(Exception):
                if stop_requested() is None:
                    self._show(self._looker.look())
            with suppress(OmibenchError, OSError):
                say_lines(describe_ending(self._study, notes[-1].path, self._looker), err=True)
        elif code:
            with suppress(OSError):
                text = self._log.read_text("utf-8", "replace")
                say_lines("\n".join(text.splitlines()[-LINES:]), err=True)


def describe_stage(stage: StageStatus, status: StudyStatus, width: int | None = None) -> str:
    """Return a line about a stage: jobs, requests, dollars, time left, failures.

    Args:
        stage: The stage.
        status: The status of the study.
        width: Width of the line, which has a bar if there is room; without it, there is none.
    """
    done = stage.done + stage.incomplete
    parts = [f"{done:,}/{stage.jobs:,}{' jobs' if width is None else ''}"]
    if stage.stage == "infer" and status.requests:
        parts.append(f"{status.answered:,}/{status.requests:,} requests")
    if stage.stage == "infer" and status.money.usd:
        parts.append(usd_text(status.money.usd))
    if stage.failed:
        parts.append(f"{stage.failed:,} failed")
    if stage.incomplete:
        parts.append(f"{stage.incomplete:,} incomplete")
    if status.left and (seconds := status.left.stages.get(stage.stage)):
        parts.append(f"{LEFT}{duration(seconds / 3600)}")
    elif stage.running:
        parts.append("running")
    text = "  ".join(parts)
    if width is None:
        return f"{stage.stage}: {text}"
    bar = min(_BARS[1], width - 14 - len(text))
    if bar < _BARS[0]:
        return f"{stage.stage:<10} {text}"
    filled = "#" * (bar * done // stage.jobs)
    return f"{stage.stage:<10} [{filled:.<{bar}}] {text}"
