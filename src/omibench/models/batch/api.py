"""What the batch APIs of all providers have in common, as the run of a batch needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import time
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

from omibench.models.batch.submission import Submission
from omibench.models.http.bounds import CALL_S, MOST_RESULTS, TRANSFER_S, call_with_timeout
from omibench.models.http.replies import Json, as_text, parse_json, unreadable
from omibench.models.traffic.failure import Failure
from omibench.models.traffic.retry import failure_of_connection, failure_of_status
from omibench.schemas.request import Request, Response

if TYPE_CHECKING:
    import httpx2

POLL_TIMEOUT_S = 60.0
_CHUNK = 1 << 16


class InputShape(NamedTuple):
    """How lines are put into one input, and how much of it the provider takes."""

    head: bytes
    between: bytes
    tail: bytes
    most_lines: int
    most_bytes: int


class FoundBatch(NamedTuple):
    """A batch of the provider that is, if `sure`, or may be what was submitted."""

    id: str
    sure: bool


class BatchStatus(NamedTuple):
    """How far a batch is: `finished` of its lines, whatever came of them."""

    id: str
    ended: bool
    finished: int = 0
    sources: tuple[str, ...] = ()
    """Where its results are, as `BatchApi.download` takes them."""
    turned_down: Failure | None = None
    """Why no line of it was run."""


class LineResult(NamedTuple):
    """What became of one line: its samples, or why there are none."""

    id: str
    result: list[Response] | Failure


class BatchApi(Protocol):
    """One provider's batch API over an open connection. Every call may raise Failure."""

    @property
    def shape(self) -> InputShape:
        """The form of an input and its limits."""

    def line(self, name: str, requests: Sequence[Request]) -> bytes:
        """The line with the custom id `name` that asks for samples of one conversation."""

    def upload(self, lines: BinaryIO, size: int) -> str | None:
        """Hand the input over; its id, or None where it travels with `create`."""

    def create(self, lines: BinaryIO, size: int, submission: Submission) -> str:
        """Make the batch: what costs money. Its id."""

    def find(self, submission: Submission, claimed: set[str]) -> list[FoundBatch]:
        """The provider's batches, none of the `claimed`, that may be this submission."""

    def status(self, batch: str) -> BatchStatus:
        """How far a batch is."""

    def download(self, source: str, to: BinaryIO) -> None:
        """Append the results to a file, one JSON object a line."""

    def read(self, row: Json, samples: int) -> LineResult:
        """Read one result of a line that asked for `samples`. Raises no Failure."""


def fetch(sdk: Any, call: Callable[[], Any], *, uploads: bool = False) -> Json:
    """The JSON object that a call of an SDK's client with raw replies brings.

    Raises Failure, also when it takes longer than a call may that `uploads` a file, or not. A call
    that uploads is then not made again: the first may still be reading the file.
    """
    with failures(sdk):
        reply = call_with_timeout(TRANSFER_S if uploads else CALL_S, call, may_retry=not uploads)
    try:
        value = parse_json(reply.content)
    except ValueError:
        raise unreadable(f"is cut off or no JSON ({len(reply.content)} bytes)") from None
    if not isinstance(value, dict):
        raise unreadable(f"is a JSON {type(value).__name__} in place of an object")
    return value


def read_id(record: Json) -> str:
    """The id of what was made or listed. Raises Failure when it has none."""
    if not as_text(record.get("id")):
        raise unreadable("has no id")
    return as_text(record["id"])


def stream(sdk: Any, call: Callable[[], Any], to: BinaryIO) -> None:
    """Append what a streaming call brings to a file, with a line feed at its end.

    Where the endpoint keeps its files elsewhere, they are fetched from there without the key.
    Raises Failure.
    """
    from omibench.models.http.hooks import SentOn

    with failures(sdk):
        try:
            _write_reply(call, to)
        except SentOn as sent_on:
            _fetch_elsewhere(sent_on.url, to)
    to.write(b"\n")


def _write_reply(call: Callable[[], Any], to: BinaryIO) -> None:
    opened = call()
    reply = call_with_timeout(CALL_S, opened.__enter__)
    try:
        for piece in reply.iter_bytes(_CHUNK):
            to.write(piece)
    finally:
        opened.__exit__(None, None, None)


def _fetch_elsewhere(url: str, to: BinaryIO) -> None:
    """Append what lies at an address that a reply named; only by TLS, without key or body."""
    import httpx2

    from omibench.models.http.hooks import Hooks

    if httpx2.URL(url).scheme != "https":
        raise Failure("it keeps its files at an address without TLS: they are not fetched")
    with httpx2.Client(
        timeout=POLL_TIMEOUT_S, event_hooks=Hooks(MOST_RESULTS).of_client()
    ) as client:
        _write_reply(lambda: _open_stream(client, url), to)


@contextmanager
def _open_stream(client: httpx2.Client, url: str) -> Iterator[httpx2.Response]:
    with client.stream("GET", url) as reply:
        if not reply.is_success:
            raise Failure(f"its files cannot be fetched: HTTP {reply.status_code}", transient=True)
        yield reply


@contextmanager
def failures(sdk: Any) -> Iterator[None]:
    """What an SDK raises, as Failure."""
    import httpx2

    try:
        yield
    except sdk.APIStatusError as error:
        answer = error.response
        raise failure_of_status(answer.status_code, answer.headers, answer.text, time()) from None
    except sdk.APIConnectionError as error:
        raise failure_of_connection(error) from None
    except httpx2.HTTPError as error:  # in the middle of a stream
        raise failure_of_connection(error) from None


def surely_not_made(failure: Failure) -> bool:
    """Whether a failed `create` leaves no doubt: the provider said no, or never heard of it."""
    if failure.status is None:
        return not failure.maybe_paid
    return 400 <= failure.status < 500 and failure.status not in (408, 409)
