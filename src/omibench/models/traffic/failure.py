"""The reason that an attempt at a request failed, and its consequences."""

from __future__ import annotations

from dataclasses import dataclass

from omibench.text.masking import mask_line

MOST_WORDS = 600
_UNSENT = "the request was not sent completely"


def mark_unsent(error: BaseException) -> None:
    """Mark an exception: its request had not completely left this machine."""
    error.add_note(_UNSENT)


def was_unsent(error: BaseException) -> bool:
    """Return whether an exception or its cause has that mark, so that nothing was billed."""
    current: BaseException | None = error
    while current is not None:
        if _UNSENT in getattr(current, "__notes__", ()):
            return True
        current = current.__cause__
    return False


@dataclass(eq=False)
class Failure(Exception):
    """One attempt failed. `message` becomes one line for users, with secrets masked."""

    message: str
    status: int | None = None
    transient: bool = False
    """Whether a retry can succeed."""
    maybe_paid: bool = True
    """Whether the provider may have billed an answer that never arrived."""
    congestion: bool = False
    """Whether the endpoint reports overload."""
    offline: bool = False
    """Whether the address does not answer, or only a gateway in front of it does."""
    fatal: bool = False
    """Whether every other request would fail too: a wrong key, an empty account."""
    refused: str | None = None
    """The provider's code for refused content."""
    content: str | None = None
    """Why only this request's content is rejected: too long, an unreadable picture."""
    cost_usd: float | None = None
    """Cost of the attempt if the provider counted it; else see `maybe_paid`."""
    retry_after_s: float | None = None
    """Seconds that the endpoint asks to wait; None if it does not specify any."""

    def __post_init__(self) -> None:
        self.message = mask_line(self.message, MOST_WORDS)

    @property
    def concerns_endpoint(self) -> bool:
        """Whether it concerns the endpoint as a whole: unavailable or overloaded."""
        return self.offline or (self.congestion and self.status is not None)

    @property
    def is_server_error(self) -> bool:
        """Whether the server broke: because of this request, or because it answers none."""
        return self.status is not None and self.status >= 500 and not self.concerns_endpoint

    def __str__(self) -> str:
        return self.message
