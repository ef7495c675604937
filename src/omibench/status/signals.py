"""Forwards Snakemake's signals to the commands of its local jobs.

On SIGTERM and Ctrl-C, Snakemake waits for running jobs without notifying them: only a terminal and
a cluster signal all processes of a job.
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
    """Tell the jobs of this process to stop before it handles a signal."""
    for number in FORWARDED_SIGNALS:
        before = signal.getsignal(number)
        if callable(before):
            signal.signal(number, partial(_stop, before))


def _stop(before: Any, number: int, frame: FrameType | None) -> None:
    stop_jobs()
    before(number, frame)


def stop_jobs() -> None:
    """Send SIGTERM to each `omibench` that this process has started, through shells or not.

    One that a terminal has already interrupted ignores it.
    """
    import psutil  # installed with Snakemake

    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error, OSError):
            if is_command(process.cmdline()):
                os.kill(process.pid, signal.SIGTERM)


def is_command(words: list[str]) -> bool:
    """Return whether this is the program `omibench`, not a worker of one of its commands."""
    return any(os.path.basename(word) == "omibench" for word in words[:4])  # noqa: PTH119
