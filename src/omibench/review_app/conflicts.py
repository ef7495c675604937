"""Reasons why a decision is rejected: another person was first, or is next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from omibench.errors import OmibenchError
from omibench.review.doubts import Doubt
from omibench.review.state import TaskState


@dataclass(frozen=True)
class Conflict:
    """The reason against a decision.

    Attributes:
        reason: The content of the task has changed, another person decided in between, or another
            person has claimed the task.
        by: That other person.
        state: The current state of the task.
        base: The id of the newest event, which a decision must follow.
    """

    reason: Literal["changed", "decided", "claimed"]
    by: str | None
    state: TaskState
    base: str | None


class DecisionConflictError(OmibenchError):
    """Raised for a decision that would overwrite another person's unseen work."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(f"{conflict.state.task.id}: the task has {conflict.reason} in between")
        self.conflict = conflict


class DoubtError(OmibenchError):
    """Raised for a decision whose author has not confirmed what is odd about it."""

    def __init__(self, doubts: Sequence[Doubt]) -> None:
        super().__init__("; ".join(doubt.message for doubt in doubts))
        self.doubts = doubts


class NoRightError(OmibenchError):
    """Raised if the task is not for this person, or does not wait for them."""
