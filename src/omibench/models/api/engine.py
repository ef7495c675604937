"""The base of every provider whose requests the engine sends: limits, retries, budget, outages."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager

from omibench.errors import ImageCountError, ModelError
from omibench.models.api.bodies import PictureCache
from omibench.models.api.outage import PendingCall, get_outage
from omibench.models.api.replies import same_family
from omibench.models.api.scheduler import Send, Sent, run_calls
from omibench.models.provider import NO_BUDGET, NO_FOLDERS, B, BaseProvider, Budget, Folders
from omibench.params.models.base import Limits, ServedModel
from omibench.schemas.request import Request, Response

_LOG = logging.getLogger("omibench")


class EngineProvider(BaseProvider[B]):
    """A provider whose requests the engine sends: a subclass says what one attempt is.

    Args:
        name: The model's name in the study.
        model: Its block.
        folders: See `BaseProvider`.
    """

    def __init__(self, name: str, model: B, folders: Folders = NO_FOLDERS) -> None:
        super().__init__(name, model, folders)
        self.pictures = PictureCache()
        self._others: set[str] = set()
        self.stored_answers = 0

    @abstractmethod
    def connect(self) -> AbstractAsyncContextManager[Send]:
        """Open what sends one attempt, inside the event loop of a run, and close it at its end."""

    @property
    def limits(self) -> Limits:
        """The limits of a run: those of the block."""
        return self.model.limits if isinstance(self.model, ServedModel) else Limits()

    @property
    def endpoint(self) -> Hashable:
        """What is available or not as a whole: models with an equal value share an outage."""
        model = self.model
        return model.provider, getattr(model, "base_url", None), getattr(model, "id", self.name)

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`; by default, options are not refused."""

    def check(self, requests: Sequence[Request]) -> None:
        """Check that the model supports the requests. Raises as `answer`; nothing is sent."""
        self.check_options(requests)
        if not isinstance(self.model, ServedModel):
            return
        can = self.model.can
        for request in requests:
            images = len(request.conversation.images)
            if can.images is not None and images > can.images:
                raise ImageCountError(
                    f"problem {request.tags.problem!r}: the conversation has {images} images, but "
                    f"model {self.name!r} accepts {can.images} (`can.images`); images are never "
                    "dropped"
                )
            if request.decoding.top_p is not None and not can.temperature:
                raise ModelError(
                    f"setting {request.tags.setting!r}: top_p is set, but model {self.name!r} "
                    "does not accept it (`can.temperature: false`); remove `decoding.top_p`"
                )
        self.pictures.check(requests, can.image_mb)

    def jobs(self, requests: Sequence[Request]) -> list[PendingCall]:
        """Return the calls: one per request."""
        return [PendingCall((request,)) for request in requests]

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """See `Provider.answer`. The sending thread queries the budget, one call at a time.

        Raises ModelError, MissingInputError or ImageCountError before anything is sent if the
        model does not support a request; ModelError later if the endpoint rejects every request
        (a wrong key, an empty account, an unknown model).
        """
        self.check(requests)
        yield from run_calls(
            self.jobs(requests), self.connect, self.limits, budget, self.stored_answers,
            get_outage(self.endpoint),
        )  # fmt: skip

    def summarize_call(self, responses: list[Response]) -> Sent:
        """Summarize a call, and warn if another model answered it."""
        requested = getattr(self.model, "id", self.name)
        for name in {response.served_model for response in responses} - {None}:
            if name and name not in self._others and not same_family(requested, name):
                self._others.add(name)
                _LOG.warning(
                    "model %r: requested %r, but the endpoint reports %r; its responses are kept "
                    "and marked with that name", self.name, requested, name,
                )  # fmt: skip
        costs = [response.cost_usd for response in responses]
        counts = [(r.usage.input_tokens, r.usage.output_tokens) for r in responses]
        tokens = [a + b for a, b in counts if a is not None and b is not None]
        return Sent(
            responses,
            sum(cost for cost in costs if cost is not None) if None not in costs else None,
            sum(tokens) if tokens else None,
        )
