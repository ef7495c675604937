"""The bases of providers over the engine and of API dialects: checks, calls, connections, runs."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from importlib import import_module
from time import time
from typing import Any, ClassVar, Literal

from pydantic import SecretStr

from omibench.errors import ImageCountError, ModelError
from omibench.extras import require_extra
from omibench.models.api.batch_api import (
    BatchApi,
    SubmissionFolder,
    locate_submissions,
    warn_of_batches,
)
from omibench.models.api.batch_run import BatchRun, PollInterval
from omibench.models.api.failures import (
    Failure,
    PendingCall,
    failure_of_connection,
    failure_of_status,
    get_outage,
    mark_unsent,
)
from omibench.models.api.http import (
    MOST_RESULTS,
    A,
    explain_failure,
    open_pools,
    read_key,
    sdk_client,
    with_own_secrets,
)
from omibench.models.api.replies import (
    Json,
    PictureCache,
    Show,
    add_costs,
    as_object,
    assemble_body,
    compute_cost,
    is_broken_off,
    is_counted,
    no_answer,
    parse_reply,
    same_family,
    score_from_list,
    unreadable,
)
from omibench.models.api.scheduler import Send, Sent, run_calls
from omibench.models.provider import NO_BUDGET, NO_FOLDERS, B, BaseProvider, Budget, Folders
from omibench.params.models.base import Limits, ServedModel
from omibench.schemas.request import Request, Response, Usage

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
        """The limits of a run: those of the block, if it has any."""
        limits = getattr(self.model, "limits", None)
        return limits if isinstance(limits, Limits) else Limits()

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


MOST_SAMPLES = 8
"""Maximum samples per request: supported by every endpoint with `n`."""


class ApiProvider(EngineProvider[A]):
    """A model behind an API. A subclass is the dialect: what is sent, and what replies mean.

    A model with `batch: true` is queried through the API's batches; its identity stays the same, so
    that both share responses.

    Args:
        name: The model's name in the study.
        model: Its block.
        folders: With a folder of submissions; without it, batches can be described but not queried.

    Raises:
        ModelError: The block contradicts the API.
    """

    sdk: ClassVar[str]
    """Package of the provider's SDK."""
    client: ClassVar[str]
    """Name of its client class."""
    options: ClassVar[dict[str, Any]] = {}
    """Options of the SDK for every request."""
    batch_api: ClassVar[type[BatchApi]]
    """The batch API of a provider that has one."""
    poll_interval = PollInterval()

    def __init__(self, name: str, model: A, folders: Folders = NO_FOLDERS) -> None:
        super().__init__(name, model, folders)
        self.check_block()
        if not model.is_batch:
            warn_of_batches(name, folders.batches, self.identity)

    def check_block(self) -> None:
        """Raise ModelError if the block contradicts the API."""

    @property
    @abstractmethod
    def path(self) -> str:
        """The path of requests below the address of the API."""

    @abstractmethod
    def build_body(self, model: A, requests: Sequence[Request], show: Show) -> dict[str, Any]:
        """Build the JSON body for samples of one conversation.

        Args:
            model: The block with secrets filled in.
            requests: The samples, which differ only in their index.
            show: Inserts a picture.
        """

    @abstractmethod
    def read_usage(self, usage: Json) -> Usage:
        """Read the tokens that a reply counts."""

    @abstractmethod
    def read_samples(self, reply: Json, counted: bool) -> list[Response]:
        """Read the samples of a reply in order, without tokens and cost. Raises Failure.

        `counted` is whether it counts tokens: then also a sample without content is an answer, and
        billed; else it is left out.
        """

    def read_reply(self, reply: object, samples: int = 1, *, batch: bool = False) -> list[Response]:
        """Read the responses in the JSON of a reply: at most `samples`, at least one.

        They are priced as a `batch` or not. A sample that broke off is skipped; a reply without
        samples that counts tokens is one `empty` response per sample. Raises Failure if the body is
        not a reply, or no sample was finished.
        """
        if not isinstance(reply, dict):
            raise unreadable(f"is a JSON {type(reply).__name__} instead of an object")
        usage = self.read_usage(as_object(reply.get("usage")))
        parsed = self.read_samples(reply, is_counted(usage))[:samples]
        responses = [r for r in parsed if not is_broken_off(r)]
        if parsed and not responses:
            raise Failure(
                f"the reply ended with {parsed[0].finish_reason!r} and contains no finished answer",
                status=200,
                transient=True,
                cost_usd=compute_cost(self.model.price, usage, batch=batch),
            )
        if not responses and not is_counted(usage):
            raise no_answer()
        if not responses:
            empty = Response(text="", outcome="empty", finish_reason="no_choices")
            responses = [empty] * samples
        return add_costs(responses, usage, self.model, reply, batch)

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """See `EngineProvider.answer`.

        With batches it returns when every batch has ended, which can take a day. If the process is
        killed, the next one with the same requests (or some of them) collects the running batches
        and submits only the rest.

        It also raises ModelError before anything is sent if the key is missing.
        """
        if not self.model.is_batch:
            yield from super().answer(requests, budget)
            return
        self.check(requests)
        key = read_key(self.model.key_env)
        if self.folders.batches is None:
            raise ModelError(f"model {self.name!r}: batches need a folder for their submissions")
        folder = SubmissionFolder(locate_submissions(self.folders.batches, self.identity))
        with self.connect_batches(key) as api:
            yield from BatchRun(api, folder, budget).answers(requests)

    def jobs(self, requests: Sequence[Request]) -> list[PendingCall]:
        """Return the calls: samples of one conversation share one if the model supports `n`."""
        if not self.model.can.samples:
            return super().jobs(requests)
        together: dict[object, list[Request]] = {}
        for request in requests:
            alike = (request.conversation, request.decoding, request.options)
            together.setdefault(alike, []).append(request)
        return [
            PendingCall(tuple(samples[i : i + MOST_SAMPLES]))
            for samples in together.values()
            for i in range(0, len(samples), MOST_SAMPLES)
        ]

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Send]:
        """Open the SDK's clients inside the loop; each is lent to one call at a time."""
        import httpx2

        sdk, model = self._import_sdk(), with_own_secrets(self.model)
        key = read_key(model.key_env)
        make = self._client_maker(sdk, "Async", key)
        async with open_pools(make, self.model.limits.concurrency) as lend:

            async def send(requests: Sequence[Request]) -> Sent:
                body = assemble_body(
                    lambda show: self.build_body(model, requests, show), requests[0], self.pictures
                )
                options = {"headers": body.headers, **self.options}
                try:
                    with self.failures(sdk), lend() as client:
                        reply = await client.post(
                            self.path, cast_to=httpx2.Response, content=body, options=options
                        )
                        value = parse_reply(reply.content)
                        responses = self.read_reply(value, len(requests))
                except Failure as failure:
                    raise replace(failure, maybe_paid=failure.maybe_paid and body.left) from None
                except BaseException as error:
                    if not body.left:
                        mark_unsent(error)
                    raise
                if choices := requests[0].options:
                    responses = [score_from_list(responses[0], value, choices)]
                return self.summarize_call(responses)

            yield send

    @contextmanager
    def connect_batches(self, key: SecretStr) -> Iterator[BatchApi]:
        """Open two clients of the SDK: one for requests, one for results, which are larger."""
        sdk = self._import_sdk()
        make = self._client_maker(sdk, "", key)
        make_large = self._client_maker(sdk, "", key, MOST_RESULTS)
        with make() as client, make_large() as downloads:
            yield self.batch_api(self, sdk, client, downloads)

    @contextmanager
    def failures(self, sdk: Any) -> Iterator[None]:
        """Convert an exception of the SDK to a Failure with model, address, key and remedy."""
        import httpx2

        try:
            yield
        except sdk.APIStatusError as error:
            answer = error.response
            failure = failure_of_status(answer.status_code, answer.headers, answer.text, time())
        except (sdk.APIConnectionError, httpx2.HTTPError) as error:
            failure = failure_of_connection(error)  # HTTPError: in the middle of a stream
        except Failure as error:
            failure = error
        else:
            return
        raise explain_failure(failure, self.name, self.model) from None

    def _import_sdk(self) -> Any:
        require_extra("api", f"model {self.name!r}", self.sdk)
        return import_module(self.sdk)

    def _client_maker(
        self, sdk: Any, mode: Literal["", "Async"], key: SecretStr, limit: int | None = None
    ) -> Callable[[], Any]:
        """Return a maker of SDK clients that neither retry nor wait: this package does both.

        The clients share the options of the SDK's HTTP client class: enough connections for
        the run, all kept alive, and certificates, which are loaded once; without TLS none are,
        since no request leaves its origin (`hooks.Hooks`). Replies are limited to `limit` bytes
        (default 128 MiB).
        """
        import httpx2

        base_url, timeout_s = self.model.base_url, self.model.limits.timeout_s
        plain = (base_url or "").startswith("http://")
        options = {
            "limits": httpx2.Limits(max_connections=None, max_keepalive_connections=None),
            "timeout": httpx2.Timeout(timeout_s, connect=min(10.0, timeout_s)),
            "verify": False if plain else httpx2.create_ssl_context(),
        }
        kind, http = getattr(sdk, mode + self.client), getattr(sdk, f"Default{mode}HttpxClient")
        secret = key.get_secret_value()
        return lambda: sdk_client(
            kind, http, key=secret, base_url=base_url, options=options, limit=limit
        )
