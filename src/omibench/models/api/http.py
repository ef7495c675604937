"""Exchanges with an endpoint: bounded replies, connections, and the key of a request.

A server can send endlessly or very slowly. Sizes are counted after decompression."""

from __future__ import annotations

import os
import re
import urllib.error
import urllib.request
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import copy_context
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urljoin, urlsplit

from pydantic import SecretStr

from omibench.errors import ModelError, reason_of
from omibench.models.api.failures import Failure
from omibench.models.api.replies import PAGE
from omibench.params.models.base import ApiModel, ServedModel
from omibench.text.masking import remember, with_secrets

T = TypeVar("T")
MOST_REPLY = 128 * 2**20
"""Maximum bytes of one reply: an answer, a page of a list, a line of batch results."""
MOST_ERROR = 2**20
"""Maximum bytes of an error body."""
MOST_RESULTS = 16 * 2**30
"""Maximum bytes of a file of batch results, which is streamed to disk."""
CALL_S = 180.0
"""Maximum seconds of a short call (a poll, a list, a webhook message)."""
TRANSFER_S = 7200.0
"""Maximum seconds of the upload or download of a batch."""
_PIECE = 1 << 18
_FORMS = {"gzip", "x-gzip", "deflate"}
_GZIP_OR_ZLIB = 47
"""zlib's wbits per encoding, by its first bytes."""
ENCODINGS = "gzip, deflate"
"""Encodings that clients request: these can be decompressed piece by piece."""


class Gauge:
    """Decompresses a reply piece by piece within the limits of size and time.

    Raises Failure for an encoding that was not requested.
    """

    def __init__(self, encoding: str, most_bytes: int, most_s: float) -> None:
        words = [word.strip().lower() for word in encoding.split(",")]
        forms = [word for word in words if word not in ("", "identity")]
        if len(forms) > 1 or any(form not in _FORMS for form in forms):
            raise Failure(f"the reply has a compression that was not requested ({forms[0]!r})")
        self._unzip = zlib.decompressobj(_GZIP_OR_ZLIB) if forms else None
        self._left, self._most = most_bytes, most_bytes
        self._until, self._most_s = monotonic() + most_s, most_s

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """Decompress raw bytes. Raises Failure if a reply is too long, too late or broken."""
        if monotonic() > self._until:
            raise _late(self._most_s)
        if self._unzip is None:
            yield self._count(raw)
            return
        try:
            while raw:
                yield self._count(self._unzip.decompress(raw, _PIECE))
                raw = self._unzip.unconsumed_tail
        except zlib.error:
            raise Failure("the reply cannot be decompressed", 200, transient=True) from None

    def _count(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise Failure(f"the reply is larger than {size_text(self._most)} and was cut off", 200)
        return piece


def _late(seconds: float, *, may_retry: bool = True) -> Failure:
    return Failure(
        f"no complete reply within {seconds:g} s", transient=may_retry, congestion=may_retry
    )


def size_text(size: int) -> str:
    """Format bytes in the largest binary unit that fits: `128 MiB`."""
    units = ((30, "GiB"), (20, "MiB"), (10, "KiB"))
    return next((f"{size >> s} {name}" for s, name in units if size >= 1 << s), f"{size} bytes")


def start_in_thread(call: Callable[[], T], name: str) -> Future[T]:
    """Start a blocking call in a thread of its own, which the end of the process does not wait for.

    A pool would: its threads that a library never gives back would also fill it.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # a caller that gives up does not cancel it

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=copy_context().run, args=(run,), name=name, daemon=True).start()
    return future


def call_with_timeout(seconds: float, call: Callable[[], T], *, may_retry: bool = True) -> T:
    """Run a blocking call, or raise Failure after the time limit; its thread is then abandoned.

    Time limits of HTTP libraries apply to each read, so a slow server passes all of them.
    `may_retry` states whether the call can be retried while that thread may still be running.
    """
    future = start_in_thread(call, "omibench call")
    if not wait([future], seconds).done:
        raise _late(seconds, may_retry=may_retry)
    return future.result()


# One HTTP exchange with the standard library: limited in size and time, without redirects.

_CHUNK_BYTES = 1 << 16


class Reply(NamedTuple):
    """The reply. For an error status, `body` is cut at 1 MiB."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Refuses every redirect."""


def exchange(
    request: urllib.request.Request,
    *,
    timeout_s: float,
    most_bytes: int = MOST_REPLY,
    most_s: float = CALL_S,
) -> Reply:
    """Send a request and read the whole reply, whatever its status; with `most_bytes` 0, no body.

    Redirects are not followed, so that keys and bodies reach only the given address. Raises Failure
    if the connection fails, the reply is larger than `most_bytes` bytes, takes longer than `most_s`
    seconds, or is a redirect.
    """
    gauge = Gauge("", most_bytes, most_s)

    def call() -> Reply:
        try:
            try:
                answer: Any = urllib.request.build_opener(_Stay).open(request, timeout=timeout_s)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                if answer.status >= 300:
                    body = answer.read(MOST_ERROR)
                else:
                    raw = iter(lambda: answer.read1(_CHUNK_BYTES) if most_bytes else b"", b"")
                    body = b"".join(piece for chunk in raw for piece in gauge.pieces(chunk))
                headers = {name.lower(): value for name, value in (answer.headers or {}).items()}
                return Reply(answer.status, headers, body)
        except (OSError, HTTPException) as error:
            cause = getattr(error, "reason", error)
            reason = reason_of(cause) if isinstance(cause, OSError) else str(cause)
            raise Failure(
                f"the connection failed: {type(cause).__name__}: {reason}", transient=True
            ) from None

    reply = call_with_timeout(most_s, call)
    if 300 <= reply.status < 400:
        to = urlsplit(urljoin(request.full_url, reply.headers.get("location", "")))
        raise Failure(
            f"it redirects to {to.scheme}://{to.netloc.rpartition('@')[2]}; nothing was sent "
            "there. If you trust that address, set it instead",
            reply.status,
            maybe_paid=False,
        )
    return reply


# Several clients per endpoint, since a client searches all its connections on each request.

CLIENT_LOAD = 16
"""Requests in flight per client; with 256 on one, the search took 1 to 2 ms per request."""


@asynccontextmanager
async def open_pools(
    make: Callable[[], T], concurrency: int
) -> AsyncIterator[Callable[[], AbstractContextManager[T]]]:
    """Yield a function that lends the least busy client; all are closed at the end.

    A further client is created when each of the others has `CLIENT_LOAD` requests in flight, up to
    the number that `concurrency` needs.
    """
    clients: list[Any] = []
    busy: list[int] = []
    async with AsyncExitStack() as stack:

        @contextmanager
        def lend() -> Iterator[T]:
            at = min(range(len(busy)), key=busy.__getitem__, default=0)
            if not clients or (
                busy[at] >= CLIENT_LOAD and len(clients) * CLIENT_LOAD < concurrency
            ):
                at = len(clients)
                clients.append(make())
                busy.append(0)
                stack.push_async_callback(clients[at].close)
            busy[at] += 1
            try:
                yield clients[at]
            finally:
                busy[at] -= 1

        yield lend


# Clients of the providers' SDKs: no retries, one origin, replies of bounded size and time.


def sdk_client(  # noqa: PLR0913 (what a client needs, each of another kind)
    kind: Callable[..., T],
    http: type[Any],
    *,
    key: str,
    base_url: str | None,
    options: dict[str, Any],
    limit: int | None = None,
    most_s: float = TRANSFER_S,
) -> T:
    """Create a client that neither retries nor waits, and talks to one origin.

    `http` is the SDK's HTTP client class and `options` are its options, including `timeout`. A
    reply is limited to `limit` bytes (default 128 MiB) and `most_s` seconds.
    """
    import httpx2

    from omibench.models.api.hooks import Hooks

    hooks = Hooks(limit or MOST_REPLY, most_s)
    blocks = issubclass(http, httpx2.Client)
    event_hooks = hooks.of_client() if blocks else hooks.of_async_client()
    client = kind(
        api_key=key,
        base_url=base_url,
        max_retries=0,
        timeout=options["timeout"],
        http_client=http(**options, event_hooks=event_hooks),
    )
    hooks.base_url = httpx2.URL(str(client.base_url))  # type: ignore[attr-defined]
    return client


# API keys: read when they are needed and never shown.
#
# A key is an environment variable, or a line `NAME=value` in the file at OMIBENCH_KEYS, readable
# only by its owner. Error messages of providers pass through `masking.mask`.

KEYS_FILE = "OMIBENCH_KEYS"
A = TypeVar("A", bound=ApiModel)
S = TypeVar("S", bound=ServedModel)


def read_key(name: str) -> SecretStr:
    """Return the key called `name`. From now on `masking.mask` hides it.

    Raises ModelError with the name if the key is missing, or if others can read the key file.
    """
    value = os.environ.get(name, "").strip() or _from_file(name)
    if not value:
        file = os.environ.get(KEYS_FILE)
        raise ModelError(
            f"the key {name} is missing: set the environment variable {name}"
            + (f" or add the line {name}=... to {file}" if file else f" (or {KEYS_FILE}, a file)")
            + "; if the server needs no key, any value works"
        )
    remember(value)
    return SecretStr(value)


def with_own_secrets(model: S) -> S:
    """Return the block as it is sent, with secrets in place of their names. Never stored.

    Args:
        model: A block with mappings (`blocks.Extra`) that can refer to secrets as `${NAME}`.

    Raises:
        ModelError: See `read_key`.
    """
    named = {name: value for name, value in model if isinstance(value, dict)}
    filled = {
        name: with_secrets(value, lambda key: read_key(key).get_secret_value())
        for name, value in named.items()
    }
    return model if filled == named else model.model_copy(update=filled)


def _from_file(name: str) -> str:
    file = os.environ.get(KEYS_FILE)
    if not file:
        return ""
    path = Path(file).expanduser()
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise ModelError(
                f"{path}: other users can read this key file; make it private: chmod 600 {path}"
            )
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise ModelError(
            f"{path}: the key file ({KEYS_FILE}) cannot be read: {reason_of(error)}"
        ) from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: the key file ({KEYS_FILE}) is not text") from None
    pairs = (line.removeprefix("export ").partition("=") for line in map(str.strip, lines))
    keys = {key.strip(): value.strip().strip("'\"") for key, _, value in pairs if key[:1] != "#"}
    return keys.get(name, "")


# Remedies for an endpoint that cannot be reached, with model, address and key variable.

_BY_WORDS = (
    (
        re.compile(r"getaddrinfo|name or service not known|name resolution|nodename|\bDNS\b", re.I),
        (
            "host not found; check the spelling of `base_url` and the network connection of "
            "this machine"
        ),
    ),
    (
        re.compile(r"certificate|\bssl\b|\btls\b|wrong_version|record layer", re.I),
        "no trusted TLS connection; check that the address supports https with a valid "
        "certificate (set SSL_CERT_FILE for custom certificates)",
    ),
    (
        re.compile(r"refused|all connection attempts failed|unreachable|no route", re.I),
        "nothing listens there; check that the server is running and the port in `base_url`",
    ),
)

_BY_STATUS = {
    401: "{key} is not accepted; check that it belongs to this endpoint, is complete and still "
    "valid",
    402: "the account of {key} has no credit left",
    403: "{key} has no access to this model, or not from here; check the account's permissions",
    404: "unknown model or path; check that `id` matches the provider's list and that `base_url` "
    "has the right ending (often /v1)",
}
_OF_PAGES = (
    "a login page, a portal or a proxy answered instead of the API; check that `base_url` is the "
    "address of the API (often ending in /v1) and that this machine can reach it"
)


def resolve_address(model: ApiModel) -> str:
    """Return the address of a model; Failure masks possible secrets in it."""
    return model.base_url or os.environ.get(model.url_env) or model.default_url


def explain_failure(failure: Failure, name: str, model: ApiModel) -> Failure:
    """Add model, address and, if known, a remedy to a failure."""
    remedy = _remedy(failure, model)
    if remedy is None:
        return failure
    endpoint = f"model {name!r}, id {model.id!r}, at {resolve_address(model)}"
    return replace(failure, message=f"{failure.message} ({endpoint}): {remedy}")


def _remedy(failure: Failure, model: ApiModel) -> str | None:
    if failure.refused is not None or failure.content is not None:
        return None
    if failure.status is None:
        return next((remedy for words, remedy in _BY_WORDS if words.search(failure.message)), None)
    if failure.status == 200:
        return _OF_PAGES if PAGE in failure.message else None
    remedy = _BY_STATUS.get(failure.status)
    return remedy.format(key=f"the key from {model.key_env}") if remedy else None
