"""The output of `omibench status` as typed rows, for the terminal, the page and --json."""

from __future__ import annotations

from typing import Literal

from omibench.plan.rows import Spent
from omibench.schemas.problem import Noun
from omibench.status.runs import State


class CellStatus(Noun):
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


class StageStatus(Noun):
    """The number of jobs of a stage by state; their sum is `jobs`."""

    stage: str
    jobs: int = 0
    done: int = 0
    running: int = 0
    failed: int = 0
    stopped: int = 0
    incomplete: int = 0
    waiting: int = 0


class FailedJob(Noun):
    """A failed job: its last output, and the cause if known."""

    job: str
    output: str
    why: str
    log: str | None
    lines: list[str]
    """The last lines of its log, without control characters."""


class RunStatus(Noun):
    """The current run, or the last one. Times in seconds since 1970, or seconds."""

    state: Literal["running", "done", "failed", "stopped"]
    began: float
    seconds: float
    planned: int
    done: int
    failed: int
    running: list[str]
    """Names of the running jobs."""


class TimeLeft(Noun):
    """Seconds until the run ends at the measured rates, and the basis of the estimate."""

    seconds: float | None
    measured: int
    """Finished jobs with a measured time."""
    unmeasured: list[str] = []
    """Remaining stages without a measured time."""


class Money(Noun):
    """US dollars: of the stored answers, of the missing ones, and of the budget.

    `usd` is the cost of the answers when they were requested; `to_come` the same price for the
    missing ones, per model. Each is None if no answer has a cost.
    """

    usd: float | None = None
    to_come: float | None = None
    budget: Spent | None = None


class StudyStatus(Noun):
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
    """The command that creates missing outputs and retries failures."""
    try_again: str | None = None
    """The command that requests the missing answers of incomplete cells."""
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
