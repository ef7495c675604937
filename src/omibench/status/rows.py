"""What `omibench status` tells, as typed rows: the terminal, the page and --json show the same."""

from __future__ import annotations

from typing import Literal

from omibench.plan.rows import Spent
from omibench.schemas.problem import Noun
from omibench.status.runs import State


class CellStatus(Noun):
    """One cell: how its two jobs stand, and how many of its requests have an answer.

    `requests` is None before the dataset is frozen, or where the model cannot be opened.
    `outcomes` counts the responses that are written; `lacking` those of them without an answer.
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
    """What its answers cost when they were bought; None where nothing tells."""
    simulated: bool = False

    @property
    def states(self) -> tuple[State, State]:
        """Both."""
        return self.infer, self.score

    @property
    def to_buy(self) -> int:
        """Requests without an answer so far."""
        return max(0, (self.requests or 0) - self.answered)


class StageStatus(Noun):
    """How many jobs of a stage stand how; their sum is `jobs`."""

    stage: str
    jobs: int = 0
    done: int = 0
    running: int = 0
    failed: int = 0
    stopped: int = 0
    incomplete: int = 0
    waiting: int = 0


class FailedJob(Noun):
    """A job that failed: what it said last, and why as far as that tells."""

    job: str
    output: str
    why: str
    log: str | None
    lines: list[str]
    """The last lines of its log, without control characters."""


class RunStatus(Noun):
    """The run that goes on, or the last one. Times in seconds since 1970, or seconds."""

    state: Literal["running", "done", "failed", "stopped"]
    began: float
    seconds: float
    planned: int
    done: int
    failed: int
    running: list[str]
    """Names of the jobs that run."""


class TimeLeft(Noun):
    """Seconds until the run ends at the rates that were measured, and what they rest on."""

    seconds: float | None
    measured: int
    """Finished jobs that were measured."""
    unmeasured: list[str] = []
    """Stages that are still to run and that no run has timed yet."""


class Money(Noun):
    """US dollars: of the answers that are here, of those to come, and of the budget.

    `usd` is what the answers cost when they were bought; `to_come` the same price for the requests
    that have none, per model. Each is None where no answer names a cost.
    """

    usd: float | None = None
    to_come: float | None = None
    budget: Spent | None = None


class StudyStatus(Noun):
    """How far a study has come, at the moment `now` (seconds since 1970)."""

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
    """Which problems are asked, where `study.limit` takes a part of them."""
    lacking: list[str] = []
    """Files of cells that are written with requests, or judgements, that have no answer."""
    go_on: str | None = None
    """The command that makes what is not there yet and tries again what failed."""
    try_again: str | None = None
    """The command that buys what the incomplete cells lack."""
    notes: list[str] = []
    """What could not be looked at, and why."""

    @property
    def complete(self) -> bool:
        """Whether everything is made, and nothing lacks."""
        return all(stage.done == stage.jobs for stage in self.stages)

    @property
    def live(self) -> bool:
        """Whether a run goes on."""
        return self.run is not None and self.run.state == "running"
