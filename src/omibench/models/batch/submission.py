"""Submissions: the state of a batch from before it is sent until its answers are collected."""

from __future__ import annotations

from typing import Literal

from omibench.schemas.problem import Noun


class BatchLine(Noun):
    """One request of a batch: samples of one conversation."""

    id: str
    """Its custom id."""
    draws: tuple[str, ...]
    """The requested samples, in the order of the reply."""
    ticket: tuple[int, float] = (0, 0.0)
    """Id and amount in US dollars of its reservation; 0 if nothing is reserved."""


class Submission(Noun):
    """One batch. Saved before the provider is asked to create it, so none is ever lost.

    Without `batch` it is unknown whether the batch was created: the process was killed, or the
    reply was lost. `maybe` then lists the provider's batches that can be it; they must end before
    their results decide.
    """

    version: Literal[1] = 1
    fingerprint: str
    """SHA-256 (hex) of the exact lines, unique per submission by the token in their ids."""
    asked_at: float
    """Unix time of the first attempt to create it."""
    lines: tuple[BatchLine, ...]
    file: str | None = None
    """The provider's id of the uploaded input, if the API has one."""
    batch: str | None = None
    """The provider's id of the batch."""
    maybe: tuple[str, ...] = ()
    collected: bool = False
    """Its answers were returned and settled; `lines` no longer contains lines without an answer."""

    @property
    def draws(self) -> set[str]:
        """Every requested sample."""
        return {draw for line in self.lines for draw in line.draws}

    @property
    def name(self) -> str:
        """Its file name."""
        return self.fingerprint[:24]


def custom_id(draw: str, token: str) -> str:
    """Return the id of the line that starts with `draw`; `token` is eight random hex digits."""
    return f"{draw}-{token}"
