"""Signals that Snakemake gets, passed on to the commands of the jobs that it runs here.

Snakemake waits for the jobs that run, after SIGTERM as after Ctrl-C, and tells them nothing: only a
terminal and a cluster signal all processes of a job by themselves.
"""

from __future__ import annotations

import contextlib
import os
import signal
from functools import partial
from types import FrameType
from typing import Any

FORWARDED_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def forward_signals() -> None:
    """From now on, tell the jobs of this process to stop before it does what it does by itself."""
    for number in FORWARDED_SIGNALS:
        before = signal.getsignal(number)
        if callable(before):
            signal.signal(number, partial(_stop, before))


def _stop(before: Any, number: int, frame: FrameType | None) -> None:
    stop_jobs()
    before(number, frame)


def stop_jobs() -> None:
    """Send SIGTERM to each `omibench` that this process has started, through shells or not.

    One that a terminal has interrupted already takes no notice of it.
    """
    import psutil  # Snakemake brings it

    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error, OSError):
            if _is_command(process.cmdline()):
                os.kill(process.pid, signal.SIGTERM)


def _is_command(words: list[str]) -> bool:
    """Whether this is the program `omibench`, and no worker that one of its commands started."""
    return any(os.path.basename(word) == "omibench" for word in words[:4])  # noqa: PTH119
