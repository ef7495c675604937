"""The output of `omibench status` as typed rows, for the terminal, the page and --json."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import Literal

from omibench.errors import OmibenchError
from omibench.files.reading import open_regular
from omibench.schemas.problem import FrozenModel
from omibench.study.plan.plan import Spent
from omibench.study.status.runs import Run, RunJob, State
from omibench.text.masking import mask


class CellStatus(FrozenModel):
    """One cell: the state of its two jobs, and the number of requests with an answer.

    `requests` is None before the dataset is frozen, or if the model cannot be opened. `outcomes`
    counts the written responses; `lacking` those of them without an answer.
    """

    model: str
    setting: str
    infer: State
    score: State
    requests: int | None = None
    answered: int = 0
    outcomes: dict[str, int] = {}
    lacking: int = 0
    judge_failed: int = 0
    usd: float | None = None
    """Cost of its answers when they were requested; None if unknown."""
    simulated: bool = False

    @property
    def states(self) -> tuple[State, State]:
        """Both."""
        return self.infer, self.score

    @property
    def to_buy(self) -> int:
        """Requests without an answer so far."""
        return max(0, (self.requests or 0) - self.answered)


class StageStatus(FrozenModel):
    """The number of jobs of a stage by state; their sum is `jobs`."""

    stage: str
    jobs: int = 0
    done: int = 0
    running: int = 0
    failed: int = 0
    stopped: int = 0
    incomplete: int = 0
    waiting: int = 0


class FailedJob(FrozenModel):
    """A failed job: its last output, and the cause if known."""

    job: str
    output: str
    why: str
    log: str | None
    lines: list[str]
    """The last lines of its log, without control characters."""


class RunStatus(FrozenModel):
    """The current run, or the last one. Times in seconds since 1970, or seconds."""

    state: Literal["running", "done", "failed", "stopped"]
    began: float
    seconds: float
    planned: int
    done: int
    failed: int
    running: list[str]
    """Names of the running jobs."""


class TimeLeft(FrozenModel):
    """Seconds until the run ends at the measured rates, and the basis of the estimate."""

    seconds: float | None
    measured: int
    """Finished jobs with a measured time."""
    unmeasured: list[str] = []
    """Remaining stages without a measured time."""
    stages: dict[str, float] = {}
    """Seconds by stage, for those with a measured time."""


class Money(FrozenModel):
    """US dollars: of the stored answers, of the missing ones, and of the budget.

    `usd` is the cost of the answers when they were requested; `to_come` the same price for the
    missing ones, per model. Each is None if no answer has a cost.
    """

    usd: float | None = None
    to_come: float | None = None
    budget: Spent | None = None


class StudyStatus(FrozenModel):
    """The progress of a study at the moment `now` (seconds since 1970)."""

    study: str
    title: str
    results: str
    now: float
    simulated: bool
    run: RunStatus | None
    stages: list[StageStatus]
    cells: list[CellStatus]
    failures: list[FailedJob]
    requests: int | None
    answered: int
    outcomes: dict[str, int]
    money: Money
    left: TimeLeft | None = None
    partial: str = ""
    """The evaluated problems, if `study.limit` selects a part."""
    lacking: list[str] = []
    """Files of written cells with unanswered requests or judgements."""
    go_on: str | None = None
    """The command that creates missing outputs and retries failures, if no answer is missing."""
    try_again: str | None = None
    """The command that requests the missing answers of incomplete cells, and continues."""
    notes: list[str] = []
    """Parts that could not be read, and why."""

    @property
    def complete(self) -> bool:
        """Whether all outputs exist and are complete."""
        return all(stage.done == stage.jobs for stage in self.stages)

    @property
    def live(self) -> bool:
        """Whether a run is in progress."""
        return self.run is not None and self.run.state == "running"


# The cause of a failed job, from the end of its log. Log content is untrusted.

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
    failures = []
    for job in jobs:
        if job.state != "failed":
            continue
        lines: list[str] = []
        with suppress(OSError, RuntimeError, ValueError):
            if job.log and Path(job.log).resolve().is_relative_to(logs.resolve()):
                lines = read_last_lines(Path(job.log))
        why = lines[-1].strip() if lines else "it left no message; see Snakemake's log"
        for line in lines:
            if line.startswith(_MESSAGE_PREFIX):
                why = line.removeprefix(_MESSAGE_PREFIX)
        failures.append(
            FailedJob(job=job.name, output=job.output, why=why, log=job.log, lines=lines)
        )
    return failures


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


# Estimates the remaining time of a run from the rates of its own jobs.

ENOUGH = 20
"""Answers of a model during the run before its rate is used."""


def time_left(
    runs: Sequence[Run],
    run: Run,
    cells: Sequence[CellStatus],
    bought: Mapping[str, int],
    now: float,
) -> TimeLeft:
    """Return the remaining seconds of work divided by the concurrent jobs.

    A cell of a model with answers (`bought` requests since the run began) takes its remaining
    requests at the model's rate; any other job takes the mean of its stage: over the model's jobs
    of this run, else over all of this run, else over those of earlier runs.
    """
    means: dict[tuple[str, str | None], float] = {}
    for group in ([other for other in runs if other is not run], [run]):
        samples: dict[tuple[str, str | None], list[float]] = {}
        timed = [
            job for r in group for job in r.jobs.values()
            if job.state == "done" and job.began is not None and job.ended is not None
        ]  # fmt: skip
        for job in timed:
            for key in {(job.stage, job.model), (job.stage, None)}:
                samples.setdefault(key, []).append(job.seconds(now))
        means |= {key: fmean(seconds) for key, seconds in samples.items()}
    measured = len(timed)  # the jobs of this run
    busy: defaultdict[str, float] = defaultdict(float)
    for job in run.jobs.values():
        if job.stage == "infer":
            busy[job.model or ""] += job.seconds(now)
    to_buy = {(cell.model, cell.setting): cell.to_buy for cell in cells}
    work: defaultdict[str, float] = defaultdict(float)
    unmeasured: dict[str, None] = {}
    for job in run.jobs.values():
        if job.state not in ("waiting", "running"):
            continue
        model = job.model or ""
        requests = to_buy.get((model, job.setting or ""), 0) if job.stage == "infer" else 0
        mean = means.get((job.stage, job.model), means.get((job.stage, None)))
        if requests and busy[model] and bought.get(model, 0) >= ENOUGH:
            work[job.stage] += requests * busy[model] / bought[model]
        elif mean is not None:
            left = max(0.0, mean - job.seconds(now)) if job.state == "running" else mean
            work[job.stage] += left
        else:
            unmeasured[job.stage] = None
    at_once = max(1, sum(job.state == "running" for job in run.jobs.values()))
    return TimeLeft(
        seconds=sum(work.values()) / at_once if measured or any(work.values()) else None,
        measured=measured,
        unmeasured=list(unmeasured),
        stages={stage: seconds / at_once for stage, seconds in work.items()},
    )
