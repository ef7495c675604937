"""`journal.json` of reevaluate: state of each model found by a watch."""

from __future__ import annotations

from typing import Literal

from omibench.schemas.problem import Noun

State = Literal["begun", "done", "waiting"]


class Sighting(Noun):
    """A model found by a watch: `waiting` for a budget, `begun`, or `done` and on the board.

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


class Journal(Noun):
    """`journal.json` of reevaluate: state of each model found by a watch."""

    models: list[Sighting] = []
