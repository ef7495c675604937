"""Submissions: what is noted of a batch before it is sent, and until its answers are collected."""

from __future__ import annotations

from typing import Literal

from omibench.schemas.problem import Noun


class BatchLine(Noun):
    """One request of a batch: samples of one conversation."""

    id: str
    """Its custom id."""
    draws: tuple[str, ...]
    """The samples that it asks for, in the order of the reply."""
    ticket: tuple[int, float] = (0, 0.0)
    """Number and US dollars of its reservation; 0 where nothing is reserved."""


class Submission(Noun):
    """One batch. Noted before the provider is asked to make it, so none is ever forgotten.

    Without `batch` it is unknown whether the batch was made: the process died, or the reply was
    lost. `maybe` are then the provider's batches that can be it and must end before one can tell.
    """

    version: Literal[1] = 1
    fingerprint: str
    """SHA-256 (hex) of the exact lines. Their ids hold a token, so no two submissions share it."""
    asked_at: float
    """Unix time at which the provider was first asked to make it."""
    lines: tuple[BatchLine, ...]
    file: str | None = None
    """The provider's id of the uploaded input, where its API has one."""
    batch: str | None = None
    """The provider's id of the batch."""
    maybe: tuple[str, ...] = ()
    collected: bool = False
    """Its answers were handed out and settled; lines without an answer are gone from `lines`."""

    @property
    def draws(self) -> set[str]:
        """Every sample that it asks for."""
        return {draw for line in self.lines for draw in line.draws}

    @property
    def name(self) -> str:
        """What it is called on disk."""
        return self.fingerprint[:24]


def custom_id(draw: str, token: str) -> str:
    """The id of the line whose first sample is `draw`; `token` is eight hex digits, drawn again."""
    return f"{draw}-{token}"
