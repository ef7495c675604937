"""What a study consists of, as the last run of its graph noted in its results folder."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from omibench.schemas.problem import FrozenModel


class StudyRecord(BaseModel):
    """The current cells of a study; files of other cells are left over from earlier parameters."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    cells: dict[str, list[tuple[str, str]]]
    """Stage with a file per cell -> model and setting of each of its cells."""
    aggregates: dict[str, str]
    """Setting that chooses one of several samples -> how: `first`, `majority`, ..."""
    labels: dict[str, str]
    """Model or setting with a cell -> its display name, if it has one."""
    main_rules: str | None
    """The scorer of the headline."""


# `journal.json` of reevaluate: state of each model found by a watch.

State = Literal["begun", "done", "waiting", "pending", "cancelled"]


class Sighting(FrozenModel):
    """A model found by a watch: `pending` until you approve it, `waiting` for a budget, `begun`,
    `done` and on the board, or `cancelled`.

    A model stopped by a budget is on the board and waiting.
    """

    model: str
    id: str
    watch: str
    state: State
    when: str
    """Time of the last change of state, in UTC."""
    why: str | None = None
    cap_usd: float | None = None
    """Spending limit of the study when this model was stopped; raise it to continue."""
    approved: bool = False
    """Whether its evaluation was approved."""
    run: str | None = None
    """Id of the flow run that evaluates it."""


class Journal(BaseModel):
    """`journal.json` of reevaluate: state of each model found by a watch."""

    model_config = ConfigDict(extra="forbid")

    models: list[Sighting] = []
    retired: dict[str, str] = {}
    """Models of the study that their endpoint has stopped listing, with the time, in UTC."""
    posted: dict[str, str] = {}
    """The last failure that was posted, by event, until a run succeeds."""
    costs_month: str = ""
    """The month in which the costs of the one before were last posted."""
    drift_month: str = ""
    """The month of the last drift check."""


# Machine-readable leaderboard: `board.json` of a published folder.


class LeaderboardRow(BaseModel):
    """Accuracy of a model under a setting, by one scorer, on one subject or `total`.

    Shares are in [0, 1]; `low` and `high` bound the interval of the report. `rank` and its range
    by the paired tests are only in totals of the report's main scorer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    label: str
    group: str
    setting: str
    rules: str
    subject: str
    n: int
    estimate: float
    low: float
    high: float
    simulated: bool
    """Whether the responses or their judge are simulated."""
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None


class Leaderboard(BaseModel):
    """All rows of a study's leaderboard."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["omibench-board"] = "omibench-board"
    version: Literal[1] = 1
    """Incremented when a column is renamed or changes meaning."""
    dataset: str
    partial: str = ""
    """For a partial run, the number of evaluated problems and of all problems."""
    rows: list[LeaderboardRow]
