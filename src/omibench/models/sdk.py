"""The base of a provider over any SDK: it answers one request, and the engine does the rest."""

from __future__ import annotations

import asyncio
import inspect
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import replace
from time import time
from typing import TypeVar

from omibench.errors import OmibenchError
from omibench.models.api.failures import Failure, failure_of_exception
from omibench.models.api.http import start_in_thread
from omibench.models.api.provider import EngineProvider
from omibench.models.api.replies import compute_cost
from omibench.models.api.scheduler import Send, Sent
from omibench.models.provider import B
from omibench.params.models.base import Price, ServedModel
from omibench.params.models.registry import PROVIDERS
from omibench.schemas.request import ImagePart, Request, Response

__all__ = ["Failure", "SdkProvider"]

T = TypeVar("T")


class SdkProvider(EngineProvider[B]):
    """A provider over an SDK: subclasses implement only `respond`, which makes one attempt.

    The block's `limits` hold (concurrency, requests a minute, attempts, Retry-After, outages), and
    each attempt is reserved in the study's budget. Switch off the retries of the SDK itself.
    """

    @abstractmethod
    def respond(self, request: Request) -> Response | Awaitable[Response]:
        """Query the model once: a function, called in several threads at once, or `async`.

        Args:
            request: The request; `Request.conversation` contains its texts and pictures.

        Returns:
            The response. Without `cost_usd`, its cost is that of the tokens in `usage` at the
            block's price; without tokens, the worst case stays charged.

        Raises:
            Failure: The attempt failed. With `retry_after_s` (seconds) and no `status` it is a rate
                limit: not billed, and sent again after that time.
            ModelError: The model cannot be queried at all, so no further request is sent.
        """

    async def close(self) -> None:
        """Close the SDK's client in the event loop of a run, at its end."""

    def find_failure(self, error: Exception) -> Failure | None:
        """Return the failure behind an exception of the SDK; None ends the run with the exception.

        By default an exception with an HTTP status or of a connection is a failure.
        """
        return failure_of_exception(error, time())

    def compute_cost(self, response: Response) -> float | None:
        """Return the dollars of a response by its tokens; None without a price or tokens."""
        return compute_cost(self.price, response.usage)

    @property
    def price(self) -> Price | None:
        """The price in the block, if any."""
        return self.model.price if isinstance(self.model, ServedModel) else None

    def read_picture(self, image: ImagePart) -> tuple[str, bytes]:
        """Return media type (`image/png`) and bytes of a picture as it is shown to the model.

        Raises:
            MissingInputError: Its file is missing.
            ModelError: Its file has changed, or has a format that no API accepts.
        """
        return self.pictures.media_type(image), self.pictures.read(image)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Send]:
        """See `EngineProvider.connect`."""

        async def send(requests: Sequence[Request]) -> Sent:
            (request,) = requests
            try:
                if inspect.iscoroutinefunction(self.respond):
                    response = await self.respond(request)
                else:
                    call = start_in_thread(lambda: self.respond(request), "omibench request")
                    response = await _await_call(call)
            except Failure as error:
                raise _as_rate_limit(error) from None
            except OmibenchError:
                raise
            except Exception as error:
                failure = self.find_failure(error)
                if failure is None:
                    with PROVIDERS.calling(self.model.provider, f"model {self.name}"):
                        raise
                raise failure from error
            if response.cost_usd is None:
                response = response.model_copy(update={"cost_usd": self.compute_cost(response)})
            return self.summarize_call([response])

        try:
            yield send
        finally:
            await self.close()


def _as_rate_limit(failure: Failure) -> Failure:
    if failure.retry_after_s is None or failure.status is not None:
        return failure
    return replace(failure, status=429, transient=True, congestion=True, maybe_paid=False)


async def _await_call(call: Future[T]) -> T:
    waiting = asyncio.wrap_future(call)
    try:
        return await waiting
    except asyncio.CancelledError:
        if waiting.cancelled():
            raise
        # An SDK that cancelled a call of its own, which asyncio takes for the end of this one.
        return call.result()
