"""The common interface to the batch APIs of all providers."""

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
    """How lines are joined into one input, and the size limits of the provider."""

    head: bytes
    between: bytes
    tail: bytes
    most_lines: int
    most_bytes: int


class FoundBatch(NamedTuple):
    """A batch of the provider: the submission itself if `sure`, else a candidate."""

    id: str
    sure: bool


class BatchStatus(NamedTuple):
    """The progress of a batch: `finished` counts lines with any outcome."""

    id: str
    ended: bool
    finished: int = 0
    sources: tuple[str, ...] = ()
    """Location of the results, as `BatchApi.download` takes it."""
    turned_down: Failure | None = None
    """Why none of its lines was run."""


class LineResult(NamedTuple):
    """The outcome of one line: its samples, or the reason that there are none."""

    id: str
    result: list[Response] | Failure


class BatchApi(Protocol):
    """The batch API of one provider over an open connection. Every call can raise Failure."""

    @property
    def shape(self) -> InputShape:
        """The input format and its limits."""

    def line(self, name: str, requests: Sequence[Request]) -> bytes:
        """Build the line with the custom id `name` that requests samples of one conversation."""

    def upload(self, lines: BinaryIO, size: int) -> str | None:
        """Upload the input. Returns its id, or None if the input is sent with `create`."""

    def create(self, lines: BinaryIO, size: int, submission: Submission) -> str:
        """Create the batch, which is the billed step. Returns its id."""

    def find(self, submission: Submission, claimed: set[str]) -> list[FoundBatch]:
        """List the provider's batches that can be this submission, without the `claimed` ones."""

    def status(self, batch: str) -> BatchStatus:
        """Return the progress of a batch."""

    def download(self, source: str, to: BinaryIO) -> None:
        """Append the results to a file, one JSON object per line."""

    def read(self, row: Json, samples: int) -> LineResult:
        """Read one result of a line that requested `samples`. Never raises Failure."""


def fetch(sdk: Any, call: Callable[[], Any], *, uploads: bool = False) -> Json:
    """Return the JSON object that a raw-response call of an SDK client returns.

    Raises Failure, also after the time limit of a call, which is longer for one that `uploads` a
    file. An upload that timed out is not retried: the first call may still be reading the file.
    """
    with failures(sdk):
        reply = call_with_timeout(TRANSFER_S if uploads else CALL_S, call, may_retry=not uploads)
    try:
        value = parse_json(reply.content)
    except ValueError:
        raise unreadable(f"is truncated or not JSON ({len(reply.content)} bytes)") from None
    if not isinstance(value, dict):
        raise unreadable(f"is a JSON {type(value).__name__} instead of an object")
    return value


def read_id(record: Json) -> str:
    """Return the id of a created or listed object. Raises Failure if it has none."""
    if not as_text(record.get("id")):
        raise unreadable("has no id")
    return as_text(record["id"])


def stream(sdk: Any, call: Callable[[], Any], to: BinaryIO) -> None:
    """Append the output of a streaming call to a file and end it with a line feed.

    If the endpoint stores its files on another host, they are downloaded from there without the
    key. Raises Failure.
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
    """Append the content at an address from a reply; only over TLS, without key or body."""
    import httpx2

    from omibench.models.http.hooks import Hooks

    if httpx2.URL(url).scheme != "https":
        raise Failure("its files are at an address without TLS and are not downloaded")
    with httpx2.Client(
        timeout=POLL_TIMEOUT_S, event_hooks=Hooks(MOST_RESULTS).of_client()
    ) as client:
        _write_reply(lambda: _open_stream(client, url), to)


@contextmanager
def _open_stream(client: httpx2.Client, url: str) -> Iterator[httpx2.Response]:
    with client.stream("GET", url) as reply:
        if not reply.is_success:
            raise Failure(
                f"its files cannot be downloaded: HTTP {reply.status_code}", transient=True
            )
        yield reply


@contextmanager
def failures(sdk: Any) -> Iterator[None]:
    """Convert an exception of an SDK to a Failure."""
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
    """Return whether a failed `create` certainly made no batch: rejected, or never received."""
    if failure.status is None:
        return not failure.maybe_paid
    return 400 <= failure.status < 500 and failure.status not in (408, 409)
