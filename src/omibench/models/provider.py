"""The interface of all model providers: an identity, and answers to requests."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from omibench.errors import ModelError
from omibench.params.models.base import ModelBlock
from omibench.schemas.request import Conversation, Request, Response, TextPart

B = TypeVar("B", bound=ModelBlock)


class Reservation(NamedTuple):
    """Permission to send one attempt: `worst_usd` is reserved until it is settled or released."""

    id: int
    worst_usd: float


class Budget(Protocol):
    """Decides before each attempt whether it can be sent, and counts its cost."""

    def reserve(self, requests: Sequence[Request]) -> Reservation | None:
        """Reserve the worst case of one attempt at `requests` (samples of one conversation).

        Returns None if the budget does not cover it: nothing more can be sent.
        """

    def settle(
        self, reservation: Reservation, cost_usd: float | None, reason: str | None = None
    ) -> None:
        """Settle a finished attempt; None if it may have been billed, for the given `reason`.

        Raises ValueError if the reservation was already settled or released.
        """

    def release(self, reservation: Reservation) -> None:
        """Release an attempt that was certainly not billed. Raises ValueError as `settle` does."""


class NoBudget:
    """Allows every attempt: for a model without a price, or a study without a budget."""

    def reserve(self, requests: Sequence[Request]) -> Reservation | None:
        """Return an empty reservation."""
        return Reservation(0, 0.0)

    def settle(
        self, reservation: Reservation, cost_usd: float | None, reason: str | None = None
    ) -> None:
        """Do nothing: costs are not counted."""

    def release(self, reservation: Reservation) -> None:
        """Do nothing: nothing was reserved."""


NO_BUDGET: Budget = NoBudget()


class Provider(Protocol):
    """A model that can be queried."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Part of the key: provider, served id, revision or parameters; no URL, no path.

        `reads_tags` is true for a model that answers by problem and setting instead of by content.
        """

    @property
    def simulated(self) -> bool:
        """Whether the answers are simulated; every result based on them is marked so."""

    @property
    def max_images(self) -> int | None:
        """Maximum images in one request; None without a limit."""

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield each request with its response as it finishes, in any order, each once.

        A provider with costs reserves each attempt first; requests beyond the budget, and all later
        ones, are yielded as `budget_stop`. A failure is yielded with its outcome. Raises ModelError
        if the model cannot be queried.
        """


class Folders(NamedTuple):
    """The folders in which a provider reads and stores files."""

    data: str | None = None
    """The study's folder of benchmark files."""
    batches: Path | None = None
    """Folder for the submissions of a model that uses batches; without it the model can be
    described but not queried."""


NO_FOLDERS: Final = Folders()


class BaseProvider(ABC, Generic[B]):
    """A provider with the properties of its model's block; subclasses implement `answer`.

    Args:
        name: The model's name in the study.
        model: Its block.
        folders: The folders of the study that it may use.
    """

    def __init__(self, name: str, model: B, folders: Folders = NO_FOLDERS) -> None:
        self.name, self.model, self.folders = name, model, folders

    @property
    def identity(self) -> Mapping[str, Any]:
        """See `Provider.identity`: the identity fields of the block."""
        return self.model.store_identity

    @property
    def simulated(self) -> bool:
        """See `Provider.simulated`."""
        return self.model.is_simulated

    @property
    def max_images(self) -> int | None:
        """See `Provider.max_images`."""
        return self.model.max_images

    @abstractmethod
    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """See `Provider.answer`."""


def takes_images(provider: Provider, request: Request) -> bool:
    """Return whether a model accepts the number of images in a request."""
    limit = provider.max_images
    return limit is None or len(request.conversation.images) <= limit


@runtime_checkable
class CountsAnswers(Protocol):
    """A provider that judges failures by the number of earlier answers."""

    stored_answers: int
    """Number of the current requests that the store already answers."""


@runtime_checkable
class ChecksOptions(Protocol):
    """A provider that can check in advance, without sending, which options it cannot score."""

    def check_options(self, requests: Sequence[Request]) -> None:
        """Raise ModelError if a request scores options that the model cannot score."""


@runtime_checkable
class MakesRoom(Protocol):
    """A provider that loads a model for a number of images, and reloads it for more."""

    def expect_images(self, images: int) -> None:
        """Announce conversations with this number of images before the first load."""


# Group requests into calls to a provider.


def group_calls(provider: Provider, requests: Sequence[Request]) -> list[Sequence[Request]]:
    """Group requests into calls: samples of one conversation share one if the model supports it."""
    from omibench.models.api.provider import EngineProvider

    if isinstance(provider, EngineProvider):
        return [job.requests for job in provider.jobs(requests)]
    return [(request,) for request in requests]


# Option scores: log P of each option as the next token, instead of a text answer.


def refuse_options(requests: Iterable[Request], name: str, remedy: str) -> None:
    """Raise ModelError if a request scores options and the model does not support it."""
    for request in requests:
        if request.options:
            raise ModelError(
                f"problem {request.tags.problem!r}: model {name!r} returns no log-probabilities "
                f"of options: {remedy}"
            )


def refuse_all_but_texts(requests: Iterable[Request], name: str) -> None:
    """Raise ModelError for a request that an embedding model cannot embed: only texts."""
    for request in requests:
        if request.conversation.images or request.tags.role != "embedder":
            raise ModelError(
                f"model {name!r}: only embeds texts, but has the role {request.tags.role}; use it "
                "only as rationale.taxonomy.embedder"
            )


def is_continued(conversation: Conversation) -> bool:
    """Return whether a conversation ends inside an assistant turn that the model continues."""
    return conversation.messages[-1].role == "assistant"


def trim_end(conversation: Conversation) -> Conversation:
    """Strip the spaces at the end of a turn that the model continues.

    In most vocabularies the token of a letter includes the space before it.
    """
    *before, last = conversation.messages
    part = last.parts[-1] if is_continued(conversation) and last.parts else None
    if not isinstance(part, TextPart) or part.text == part.text.rstrip(" "):
        return conversation
    trimmed = part.model_copy(update={"text": part.text.rstrip(" ")})
    turn = last.model_copy(update={"parts": (*last.parts[:-1], trimmed)})
    return conversation.model_copy(update={"messages": (*before, turn)})


def refuse_continued(requests: Iterable[Request], name: str, remedy: str) -> None:
    """Raise ModelError if a request asks the model to continue its own turn."""
    for request in requests:
        if is_continued(request.conversation):
            raise ModelError(
                f"problem {request.tags.problem!r}: model {name!r} cannot score a letter inside a "
                f"response: {remedy}"
            )


def make_scored_response(logprobs: Mapping[str, float], *, simulated: bool = False) -> Response:
    """Build the response with the options' log-probabilities (nats); its text is the likeliest."""
    best = max(logprobs, key=lambda option: logprobs[option])
    return Response(
        text=best,
        finish_reason="scored",
        option_logprobs=dict(logprobs),
        logprob=logprobs[best],
        simulated=simulated,
        cost_usd=0.0 if simulated else None,
    )


def add_logprobs(logprobs: Collection[float]) -> float:
    """Return the logarithm of the sum of probabilities, given as logarithms (nats)."""
    top = max(logprobs)
    return top + math.log(sum(math.exp(value - top) for value in logprobs))
