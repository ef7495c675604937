"""Limits on the size and time of a reply, since a server can send endlessly or very slowly.

Sizes are counted after decompression.
"""

from __future__ import annotations

import urllib.error
import urllib.request
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from http.client import HTTPException
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urljoin, urlsplit

from omibench.errors import reason_of
from omibench.models.api.failures import Failure

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


def call_with_timeout(seconds: float, call: Callable[[], T], *, may_retry: bool = True) -> T:
    """Run a blocking call, or raise Failure after the time limit; its thread is then abandoned.

    Time limits of HTTP libraries apply to each read, so a slow server passes all of them.
    `may_retry` states whether the call can be retried while that thread may still be running.
    """
    outcomes: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((call(), None))
        except BaseException as error:
            outcomes.put((None, error))

    Thread(target=run, name="omibench call", daemon=True).start()
    try:
        value, error = outcomes.get(timeout=seconds)
    except Empty:
        raise _late(seconds, may_retry=may_retry) from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value]


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


def send(request: urllib.request.Request, *, timeout_s: float, most_s: float = CALL_S) -> int:
    """Send a request as `exchange` does, and return only its status."""
    return exchange(request, timeout_s=timeout_s, most_bytes=0, most_s=most_s).status


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
