"""Machine-readable leaderboard: `board.json` of a published folder."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class BoardRow(BaseModel):
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


class Board(BaseModel):
    """All rows of a study's leaderboard."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["omibench-board"] = "omibench-board"
    version: Literal[1] = 1
    """Incremented when a column is renamed or changes meaning."""
    dataset: str
    partial: str = ""
    """For a partial run, the number of evaluated problems and of all problems."""
    rows: list[BoardRow]
