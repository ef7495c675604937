"""The batch APIs of the providers: what they share, and what each dialect must say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple
from urllib.parse import quote

from omibench.models.api.bodies import assemble_body
from omibench.models.api.failures import Failure
from omibench.models.api.http import CALL_S, MOST_RESULTS, TRANSFER_S, call_with_timeout
from omibench.models.api.keys import with_own_secrets
from omibench.models.api.replies import Json, as_objects, as_text, parse_reply, unreadable
from omibench.models.api.submissions import Submission
from omibench.schemas.request import Request, Response

if TYPE_CHECKING:
    import httpx2

    from omibench.models.api.provider import ApiProvider

POLL_TIMEOUT_S = 60.0
_PIECE = 1 << 16
_PAGE = 100


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
    """The progress of a batch."""

    id: str
    ended: bool
    sources: tuple[str, ...] = ()
    """Location of the results, as `BatchApi.download` takes it."""
    turned_down: Failure | None = None
    """Why none of its lines was run."""


class BatchApi(ABC):
    """The batch API of one provider over an open connection. Every call can raise Failure.

    Failures include model, address, key variable and a remedy.

    Args:
        provider: The model's provider, which builds bodies and reads replies.
        sdk: Its SDK.
        client: A client of the SDK.
        downloads: Another one, for results.
    """

    shape: InputShape
    """The input format and its limits."""
    path: ClassVar[str]
    """The path of the list of batches."""
    after: ClassVar[str]
    """Parameter of the next page of the list: all after a batch."""
    clocks_differ_s: ClassVar[float]
    """Seconds by which the clocks of provider and machine can differ."""

    def __init__(self, provider: ApiProvider[Any], sdk: Any, client: Any, downloads: Any) -> None:
        self.provider, self.sdk = provider, sdk
        self.client, self.downloads = client, downloads
        self._model = with_own_secrets(provider.model)

    @abstractmethod
    def wrap_body(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """Build the line with the custom id `name` from the body of a request."""

    @abstractmethod
    def upload(self, lines: BinaryIO, size: int) -> str | None:
        """Upload the input. Returns its id, or None if the input is sent with `create`."""

    @abstractmethod
    def create(self, lines: BinaryIO, size: int, submission: Submission) -> str:
        """Create the batch, which is the billed step. Returns its id."""

    @abstractmethod
    def created_at(self, row: Json) -> float | None:
        """Return the Unix time of a listed batch, or None."""

    @abstractmethod
    def match(self, row: Json, submission: Submission) -> bool | None:
        """Return whether a listed batch is this submission: True, maybe (None), or False."""

    @abstractmethod
    def read_status(self, batch: str, reply: Json) -> BatchStatus:
        """Read the progress of a batch."""

    @abstractmethod
    def open_results(self, source: str) -> Any:
        """Open the stream of results at a source."""

    @abstractmethod
    def read_line(self, row: Json, samples: int) -> list[Response]:
        """Read one result of a line that requested `samples`."""

    def line(self, name: str, requests: Sequence[Request]) -> bytes:
        """Build the line with the custom id `name` that requests samples of one conversation."""
        return assemble_body(
            lambda show: self.wrap_body(
                name, self.provider.build_body(self._model, requests, show)
            ),
            requests[0],
            self.provider.pictures,
        ).read()

    def find(self, submission: Submission, claimed: set[str]) -> list[FoundBatch]:
        """List the provider's batches that can be this submission, without the `claimed` ones."""
        candidates: list[FoundBatch] = []
        after: dict[str, str] = {}
        while True:
            page = self.get(self.path, {"limit": str(_PAGE), **after})
            for row in (rows := as_objects(page.get("data"))):
                is_it = self.match(row, submission)
                if is_it:
                    return [FoundBatch(read_id(row), sure=True)]
                if is_it is None and read_id(row) not in claimed:
                    candidates.append(FoundBatch(read_id(row), sure=False))
            oldest = self.created_at(rows[-1]) if rows else None
            if not page.get("has_more") or oldest is None:
                return candidates
            if oldest < submission.asked_at - self.clocks_differ_s:
                return candidates
            after = {self.after: read_id(rows[-1])}

    def status(self, batch: str) -> BatchStatus:
        """Return the progress of a batch."""
        return self.read_status(batch, self.get(f"{self.path}/{quote(batch, safe='')}", {}))

    def download(self, source: str, to: BinaryIO) -> None:
        """Append the results to a file, one JSON object per line, and end it with a line feed.

        If the endpoint stores its files on another host, they are downloaded from there over TLS,
        without key or body.
        """
        import httpx2

        from omibench.models.api.hooks import CrossOriginRedirect, Hooks

        with self.provider.failures(self.sdk):
            try:
                _write_reply(lambda: self.open_results(source), to)
            except CrossOriginRedirect as sent_on:
                url = sent_on.url
                if httpx2.URL(url).scheme != "https":
                    raise Failure(
                        "its files are at an address without TLS and are not downloaded"
                    ) from None
                hooks = Hooks(MOST_RESULTS).of_client()
                with httpx2.Client(timeout=POLL_TIMEOUT_S, event_hooks=hooks) as client:
                    _write_reply(lambda: _open_stream(client, url), to)
        to.write(b"\n")

    def get(self, path: str, params: dict[str, str]) -> Json:
        """Return the JSON object at a path."""
        import httpx2

        timeout = min(POLL_TIMEOUT_S, self._model.limits.timeout_s)
        options = {"params": params, "timeout": timeout, **self.provider.options}
        return self.fetch(lambda: self.client.get(path, cast_to=httpx2.Response, options=options))

    def fetch(self, call: Callable[[], Any], *, uploads: bool = False) -> Json:
        """Return the JSON object that a raw-response call of the client returns.

        Raises Failure also after the time limit of a call, which is longer for one that `uploads` a
        file. An upload that timed out is not retried: the first call may still be reading the file.
        """
        most_s = TRANSFER_S if uploads else CALL_S
        with self.provider.failures(self.sdk):
            value = parse_reply(call_with_timeout(most_s, call, may_retry=not uploads).content)
            if not isinstance(value, dict):
                raise unreadable(f"is a JSON {type(value).__name__} instead of an object")
        return value


def read_id(record: Json) -> str:
    """Return the id of a created or listed object. Raises Failure if it has none."""
    if not as_text(record.get("id")):
        raise unreadable("has no id")
    return as_text(record["id"])


def _write_reply(call: Callable[[], Any], to: BinaryIO) -> None:
    opened = call()
    reply = call_with_timeout(CALL_S, opened.__enter__)
    try:
        for piece in reply.iter_bytes(_PIECE):
            to.write(piece)
    finally:
        opened.__exit__(None, None, None)


@contextmanager
def _open_stream(client: httpx2.Client, url: str) -> Iterator[httpx2.Response]:
    with client.stream("GET", url) as reply:
        if not reply.is_success:
            raise Failure(
                f"its files cannot be downloaded: HTTP {reply.status_code}", transient=True
            )
        yield reply
