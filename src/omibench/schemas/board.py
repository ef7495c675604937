"""A leaderboard for programs: `board.json` of a published folder."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class BoardRow(BaseModel):
    """Accuracy of a model under a setting, by one rule book, on one subject or `total`.

    Shares are in [0, 1]; `low` and `high` bound the interval of the report. `rank` and its range,
    which the paired tests leave open, stand in totals by the report's main rule book alone.
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
    """Rises where a column is renamed or means something else."""
    dataset: str
    partial: str = ""
    """Of a partial run, how many problems of how many were asked."""
    rows: list[BoardRow]
