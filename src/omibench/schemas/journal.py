"""`journal.json` of reevaluate: what became of each model that a watch found."""

from __future__ import annotations

from typing import Literal

from omibench.schemas.problem import Noun

State = Literal["begun", "done", "waiting"]


class Sighting(Noun):
    """A model that a watch found: `waiting` for a budget, `begun`, or `done` and on the board.

    One that a budget cut off in the middle is on the board and waiting.
    """

    model: str
    id: str
    watch: str
    state: State
    when: str
    """When the state was reached, in UTC."""
    why: str | None = None
    cap_usd: float | None = None
    """What the study might commit when this model was cut off; it goes on when that is more."""


class Journal(Noun):
    """`journal.json` of reevaluate: what became of each model that a watch found."""

    models: list[Sighting] = []
