"""Why a decision is not taken: somebody else was first, or it is not this person's turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from omibench.errors import OmibenchError
from omibench.review.state import TaskState


@dataclass(frozen=True)
class Conflict:
    """What stands in the way of a decision.

    Attributes:
        reason: The content of the task has changed, another person decided in between, or another
            person holds the task.
        by: That other person.
        state: Where the task stands now.
        base: The id of the newest event, which a decision has to follow.
    """

    reason: Literal["changed", "decided", "claimed"]
    by: str | None
    state: TaskState
    base: str | None


class DecisionConflictError(OmibenchError):
    """A decision that would overwrite what another person did without having seen it."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(f"{conflict.state.task.id}: the task has {conflict.reason} in between")
        self.conflict = conflict


class NoRightError(OmibenchError):
    """The task is not for this person, or does not wait for them."""
