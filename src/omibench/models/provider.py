"""What every model provider offers: an identity, and answers to requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from omibench.params.models.base import ModelBlock
from omibench.schemas.request import Request, Response

B = TypeVar("B", bound=ModelBlock)


class Reservation(NamedTuple):
    """Leave to send one attempt: `worst_usd` is reserved until it is settled or given back."""

    id: int
    worst_usd: float


class Budget(Protocol):
    """Decides before each attempt whether it may be sent, and learns what it cost."""

    def reserve(self, requests: Sequence[Request]) -> Reservation | None:
        """Reserve the worst case of one attempt at `requests` (samples of one conversation).

        None when the budget does not hold it: nothing more may be sent.
        """

    def settle(
        self, reservation: Reservation, cost_usd: float | None, reason: str | None = None
    ) -> None:
        """The attempt is over. None: it may have been paid, and stays charged; `reason` says so.

        Raises ValueError when the reservation was settled or given back before.
        """

    def release(self, reservation: Reservation) -> None:
        """The attempt was certainly not paid. Raises ValueError as `settle` does."""


class NoBudget:
    """Every attempt may be sent: a model without a price, or a study without a budget."""

    def reserve(self, requests: Sequence[Request]) -> Reservation | None:
        """Always a reservation, over nothing."""
        return Reservation(0, 0.0)

    def settle(
        self, reservation: Reservation, cost_usd: float | None, reason: str | None = None
    ) -> None:
        """Nothing is counted."""

    def release(self, reservation: Reservation) -> None:
        """Nothing was reserved."""


NO_BUDGET: Budget = NoBudget()


class Provider(Protocol):
    """A model that can be asked."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What enters the key: provider, served id, revision or parameters; no URL, no path.

        `reads_tags` is true for a model that answers by problem and setting instead of by what it
        is shown.
        """

    @property
    def simulated(self) -> bool:
        """Whether the answers are made up; everything made from them says so."""

    @property
    def max_images(self) -> int | None:
        """How many images one request may carry; None when there is no limit."""

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield each request with its response as it finishes, in any order, each once.

        A paid provider reserves each attempt before it; what the budget does not hold, and all that
        follows, is yielded as `budget_stop`. What fails is yielded with its outcome. Raises
        ModelError when the model cannot be asked.
        """


class BaseProvider(ABC, Generic[B]):
    """A provider as its model's block describes it; what answers is left to the class.

    Args:
        name: The model's name in the study.
        model: Its block.
    """

    def __init__(self, name: str, model: B) -> None:
        self.name, self.model = name, model

    @property
    def identity(self) -> Mapping[str, Any]:
        """As `Provider.identity`: the identity fields of the block."""
        return self.model.store_identity

    @property
    def simulated(self) -> bool:
        """As `Provider.simulated`."""
        return self.model.is_simulated

    @property
    def max_images(self) -> int | None:
        """As `Provider.max_images`."""
        return self.model.max_images

    @abstractmethod
    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """As `Provider.answer`."""


def takes_images(provider: Provider, request: Request) -> bool:
    """Whether a model takes as many images in one request as this one shows."""
    limit = provider.max_images
    return limit is None or len(request.conversation.images) <= limit


@runtime_checkable
class CountsAnswers(Protocol):
    """A provider that weighs failures against what was answered before."""

    stored_answers: int
    """How many of the requests that are asked for together the store answers already."""


@runtime_checkable
class ChecksOptions(Protocol):
    """A provider that knows ahead, without sending anything, which options it cannot score."""

    def check_options(self, requests: Sequence[Request]) -> None:
        """Raise ModelError when one of the requests scores options that the model cannot score."""


@runtime_checkable
class MakesRoom(Protocol):
    """A provider that loads a model for a number of images, and again for more."""

    def expect_images(self, images: int) -> None:
        """Conversations of so many images will come: allow for them at the first load."""
