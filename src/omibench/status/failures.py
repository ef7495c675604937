"""The cause of a failed job, from the end of its log. Log content is untrusted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from omibench.errors import OmibenchError
from omibench.files.intake import open_regular
from omibench.status.rows import FailedJob
from omibench.status.runs import RunJob
from omibench.text.masking import mask

LINES = 8
TAIL = 8192
"""Bytes read from the end of a log."""
WIDTH = 400
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    r"|[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"  # other controls, reordering
)
_MESSAGE_PREFIX = "omibench: "


def list_failures(jobs: Iterable[RunJob], logs: Path) -> list[FailedJob]:
    """List every failed job, with the end of its log.

    Notes of a run can come from others: a file outside the study's folder of `logs` is not read.
    """
    return [_failure(job, logs) for job in jobs if job.state == "failed"]


def _failure(job: RunJob, logs: Path) -> FailedJob:
    lines = read_last_lines(Path(job.log)) if job.log and _is_in_folder(Path(job.log), logs) else []
    return FailedJob(
        job=job.name, output=job.output, why=_find_reason(lines), log=job.log, lines=lines
    )


def _is_in_folder(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        return False


def read_last_lines(log: Path, count: int = LINES) -> list[str]:
    """Return the last lines of a log, without overwritten progress bars and control characters."""
    try:
        with open_regular(log) as file:
            start = file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            text = file.read().decode("utf-8", "replace")
    except (OSError, OmibenchError):
        return []
    if start:  # a truncated key would not be recognised
        text = text.partition("\n")[2]
    lines = (clean(line.rstrip().rpartition("\r")[2]) for line in text.split("\n"))
    return [line for line in lines if line.strip()][-count:]


def clean(text: str) -> str:
    """Return text without control characters, which could command a terminal, and without secrets.

    Long lines are cut after their secrets are masked.
    """
    masked = mask(_CONTROL.sub("", text).replace("\t", "    "))
    return masked if len(masked) <= WIDTH else masked[: WIDTH - 3] + "..."


def _find_reason(lines: list[str]) -> str:
    messages = [line for line in lines if line.startswith(_MESSAGE_PREFIX)]
    if messages:
        return messages[-1].removeprefix(_MESSAGE_PREFIX)
    return lines[-1].strip() if lines else "it left no message; see Snakemake's log"
