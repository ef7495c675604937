"""What providers behind an API share: checks before, calls of samples, and the run itself."""

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
"""Samples in one request at most: what all endpoints with `n` take."""
_LOG = logging.getLogger("omibench")
A = TypeVar("A", bound=ApiModel)


class ServedProvider(BaseProvider[A]):
    """A model behind an API. `progress` counts what the latest `answer` did so far."""

    def __init__(self, name: str, model: A) -> None:
        super().__init__(name, model)
        self.pictures = PictureCache()
        self.progress = Progress()
        self._others: set[str] = set()
        self.stored_answers = 0

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """As `Provider.answer`. The budget is asked in the thread that sends, one call at a time.

        Raises ModelError, MissingInputError or ImageCountError before anything is sent when the
        key is missing or a request asks for what the model cannot do; ModelError later, when the
        endpoint turns every request down (a wrong key, an empty account, an unknown model).
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
        """Check that the model can do what is asked. Raises as `answer`; nothing is sent."""
        can = self.model.can
        for request in requests:
            images = len(request.conversation.images)
            if can.images is not None and images > can.images:
                raise ImageCountError(
                    f"problem {request.tags.problem!r}: the conversation has {images} images and "
                    f"model {self.name!r} takes {can.images} (`can.images`); none is left out"
                )
            if request.decoding.top_p is not None and not can.temperature:
                raise ModelError(
                    f"setting {request.tags.setting!r}: asks for top_p, which model {self.name!r} "
                    "does not take (`can.temperature: false`): leave `decoding.top_p` out"
                )
        self.pictures.check(requests, can.image_mb)

    def jobs(self, requests: Sequence[Request]) -> list[PendingCall]:
        """The calls to make: samples of one conversation together where the model takes `n`."""
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
        """As `connect`; failures name the model, its address, its key's variable and a remedy."""
        return explain_failures(self.connect(key), self.name, self.model)

    @abstractmethod
    def connect(self, key: SecretStr) -> AbstractAsyncContextManager[Send]:
        """A connection to the endpoint, opened inside the loop."""

    def summarize_call(self, responses: list[Response]) -> Sent:
        """What a call brought, and a word to the user when another model answered it."""
        for name in {response.served_model for response in responses} - {None}:
            if name and name not in self._others and not same_family(self.model.id, name):
                self._others.add(name)
                _LOG.warning(
                    "model %r: asked for %r, the endpoint says it is %r; its answers are kept and "
                    "marked with that name",
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
    """Options of the HTTP client: as many connections as the run wants, each kept for the next.

    Certificates are loaded once for all clients that share the options; without TLS none are: no
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
    """Makes clients of an SDK that neither retry nor wait: both are done here, for all providers.

    All of them share one `transport`; `http` is the SDK's own class of HTTP clients. They talk to
    one origin alone, and their replies have `limit` bytes at most (128 MiB when left out).
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

    The SDKs parse replies leniently (a page of HTML becomes a str, a cut body an odd object), so
    the reply is read here.
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
            # A login page or a portal's: no model has seen the request.
            page = unreadable(f"{PAGE} ({len(reply.content)} bytes)")
            raise replace(page, maybe_paid=False) from None
        raise unreadable(f"is cut off or no JSON ({len(reply.content)} bytes)") from None


def is_page(content: bytes) -> bool:
    """Whether a reply is a page of HTML, as portals and proxies send it in place of an answer."""
    return _PAGE.match(content) is not None
