"""The base of API providers: checks before sending, calls of samples, and the run."""

from __future__ import annotations

import logging
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from time import time
from typing import Any, TypeVar

from pydantic import SecretStr

from omibench.errors import ImageCountError, ModelError
from omibench.models.http.bounds import MOST_REPLY
from omibench.models.http.pictures import PictureCache
from omibench.models.http.remedies import PAGE, explain_failures
from omibench.models.http.replies import parse_json, same_family, unreadable
from omibench.models.http.sdk_client import C, sdk_client
from omibench.models.http.secrets import read_key
from omibench.models.http.wire import RequestBody
from omibench.models.provider import NO_BUDGET, BaseProvider, Budget
from omibench.models.traffic.agenda import PendingCall
from omibench.models.traffic.dispatch import Send, Sent
from omibench.models.traffic.failure import mark_unsent
from omibench.models.traffic.outage import get_outage
from omibench.models.traffic.progress import Progress
from omibench.models.traffic.retry import failure_of_connection, failure_of_status
from omibench.models.traffic.runner import JobRun
from omibench.params.models.base import ApiModel
from omibench.schemas.request import Request, Response

_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.{0,4000}?-->\s*)?<(?:!doctype\s+html|html)\b", re.I | re.S
)
MOST_SAMPLES = 8
"""Maximum samples per request: supported by every endpoint with `n`."""
_LOG = logging.getLogger("omibench")
A = TypeVar("A", bound=ApiModel)


class ServedProvider(BaseProvider[A]):
    """A model behind an API. `progress` counts the progress of the latest `answer`."""

    def __init__(self, name: str, model: A) -> None:
        super().__init__(name, model)
        self.pictures = PictureCache()
        self.progress = Progress()
        self._others: set[str] = set()
        self.stored_answers = 0

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """See `Provider.answer`. The sending thread queries the budget, one call at a time.

        Raises ModelError, MissingInputError or ImageCountError before anything is sent if the key
        is missing or the model does not support a request; ModelError later if the endpoint rejects
        every request (a wrong key, an empty account, an unknown model).
        """
        self.check(requests)
        key = read_key(self.model.key_env)
        run = JobRun(
            self.jobs(requests), lambda: self.connect_explained(key), self.model.limits, budget,
            self.stored_answers,
            get_outage((self.model.provider, self.model.base_url, self.model.id)),
        )  # fmt: skip
        self.progress = run.progress
        yield from run.answers()

    def check(self, requests: Sequence[Request]) -> None:
        """Check that the model supports the requests. Raises as `answer`; nothing is sent."""
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
        """Return the calls: samples of one conversation share one if the model supports `n`."""
        if not self.model.can.samples:
            return [PendingCall((request,)) for request in requests]
        together: dict[object, list[Request]] = {}
        for request in requests:
            alike = (request.conversation, request.decoding, request.options)
            together.setdefault(alike, []).append(request)
        return [
            PendingCall(tuple(samples[i : i + MOST_SAMPLES]))
            for samples in together.values()
            for i in range(0, len(samples), MOST_SAMPLES)
        ]

    def connect_explained(self, key: SecretStr) -> AbstractAsyncContextManager[Send]:
        """Connect as `connect` does; failures include model, address, key variable and a remedy."""
        return explain_failures(self.connect(key), self.name, self.model)

    @abstractmethod
    def connect(self, key: SecretStr) -> AbstractAsyncContextManager[Send]:
        """Open a connection to the endpoint inside the loop."""

    def summarize_call(self, responses: list[Response]) -> Sent:
        """Summarize a call, and warn if another model answered it."""
        for name in {response.served_model for response in responses} - {None}:
            if name and name not in self._others and not same_family(self.model.id, name):
                self._others.add(name)
                _LOG.warning(
                    "model %r: requested %r, but the endpoint reports %r; its responses are kept "
                    "and marked with that name",
                    self.name,
                    self.model.id,
                    name,
                )
        costs = [response.cost_usd for response in responses]
        counts = [(r.usage.input_tokens, r.usage.output_tokens) for r in responses]
        tokens = [a + b for a, b in counts if a is not None and b is not None]
        return Sent(
            responses,
            sum(cost for cost in costs if cost is not None) if None not in costs else None,
            sum(tokens) if tokens else None,
        )


def transport(base_url: str | None, timeout_s: float) -> dict[str, Any]:
    """Return the options of the HTTP client: enough connections for the run, all kept alive.

    Certificates are loaded once for all clients with these options; without TLS none are, since no
    request leaves its origin (`hooks.Hooks`).
    """
    import httpx2

    plain = (base_url or "").startswith("http://")
    return {
        "limits": httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        "timeout": httpx2.Timeout(timeout_s, connect=min(10.0, timeout_s)),
        "verify": False if plain else httpx2.create_ssl_context(),
    }


def client_maker(
    kind: type[C],
    http: type[Any],
    model: ApiModel,
    key: SecretStr,
    limit: int | None = None,
) -> Callable[[], C]:
    """Return a maker of SDK clients that neither retry nor wait: this package does both.

    The clients share one `transport`; `http` is the SDK's HTTP client class. They talk to one
    origin, and their replies are limited to `limit` bytes (default 128 MiB).
    """
    options = transport(model.base_url, model.limits.timeout_s)

    def make() -> C:
        return sdk_client(
            kind,
            http,
            key=key.get_secret_value(),
            base_url=model.base_url,
            options=options,
            limit=limit or MOST_REPLY,
        )

    return make


async def post(
    sdk: Any, client: Any, path: str, body: RequestBody, options: dict[str, Any]
) -> object:
    """POST a body through an SDK's client and return the JSON of the reply. Raises Failure.

    The SDKs parse replies leniently (a page of HTML becomes a str, a truncated body a partial
    object), so the raw reply is parsed here.
    """
    import httpx2

    options = {"headers": body.headers, **options}
    try:
        reply = await client.post(path, cast_to=httpx2.Response, content=body, options=options)
    except sdk.APIStatusError as error:
        answer = error.response
        raise failure_of_status(answer.status_code, answer.headers, answer.text, time()) from None
    except sdk.APIConnectionError as error:
        failure = failure_of_connection(error)
        raise replace(failure, maybe_paid=failure.maybe_paid and body.left) from None
    except BaseException as error:
        if not body.left:
            mark_unsent(error)
        raise
    try:
        return parse_json(reply.content)
    except ValueError:
        if is_page(reply.content):
            # From a login page or a portal: the request reached no model.
            page = unreadable(f"{PAGE} ({len(reply.content)} bytes)")
            raise replace(page, maybe_paid=False) from None
        raise unreadable(f"is truncated or not JSON ({len(reply.content)} bytes)") from None


def is_page(content: bytes) -> bool:
    """Return whether a reply is a page of HTML, as sent by portals and proxies."""
    return _PAGE.match(content) is not None
