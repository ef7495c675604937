"""Why an attempt at a request gave no answer, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from omibench.text.masking import mask_line

MOST_WORDS = 600
_UNSENT = "the request was not sent whole"


def mark_unsent(error: BaseException) -> None:
    """Note on an exception that the request it ended had not left this machine whole."""
    error.add_note(_UNSENT)


def was_unsent(error: BaseException) -> bool:
    """Whether an exception, or what it was raised from, bears that note: nobody can be paid."""
    current: BaseException | None = error
    while current is not None:
        if _UNSENT in getattr(current, "__notes__", ()):
            return True
        current = current.__cause__
    return False


@dataclass(eq=False)
class Failure(Exception):
    """One attempt failed. `message` becomes one line for people, secrets masked."""

    message: str
    status: int | None = None
    transient: bool = False
    """Whether another attempt may go better."""
    maybe_paid: bool = True
    """Whether the provider may have billed an answer that never arrived."""
    congestion: bool = False
    """Whether the endpoint says that it has too much to do."""
    offline: bool = False
    """Whether nobody answers at the address, or only a gateway before it."""
    fatal: bool = False
    """Whether every other request would meet the same: a wrong key, an empty account."""
    refused: str | None = None
    """The provider's code when it refuses the content itself."""
    content: str | None = None
    """What it has against this request's content alone: too long, a picture that it cannot read."""
    cost_usd: float | None = None
    """What the attempt cost, where the provider counted; else see `maybe_paid`."""
    retry_after_s: float | None = None
    """Seconds that the endpoint asks to wait; None where it does not say."""

    def __post_init__(self) -> None:
        self.message = mask_line(self.message, MOST_WORDS)

    @property
    def concerns_endpoint(self) -> bool:
        """Whether it says something of the endpoint as a whole: it is away, or takes no more."""
        return self.offline or (self.congestion and self.status is not None)

    def __str__(self) -> str:
        return self.message
