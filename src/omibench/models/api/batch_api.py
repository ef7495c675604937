"""Batches of an API: what a dialect says of them, and the state of each until it is collected."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal, NamedTuple
from urllib.parse import quote

from pydantic import ValidationError

from omibench.errors import ModelError, reason_of
from omibench.files.locks import LockError, try_lock
from omibench.files.outputs import make_folder, open_new, write_private
from omibench.models.api.failures import Failure
from omibench.models.api.http import (
    CALL_S,
    MOST_RESULTS,
    TRANSFER_S,
    call_with_timeout,
    with_own_secrets,
)
from omibench.models.api.replies import (
    Json,
    as_objects,
    as_text,
    assemble_body,
    parse_reply,
    unreadable,
)
from omibench.models.api.stop import pause
from omibench.models.provider import Reservation
from omibench.schemas.problem import FrozenModel
from omibench.schemas.request import ImagePart, Request, Response

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

    def find(self, submission: Submission, claimed: set[str]) -> tuple[list[str], bool]:
        """List the provider's batches that can be this submission, without the `claimed` ones.

        Returns their ids, and whether the only one certainly is the submission.
        """
        candidates: list[str] = []
        after: dict[str, str] = {}
        while True:
            page = self.get(self.path, {"limit": str(_PAGE), **after})
            for row in (rows := as_objects(page.get("data"))):
                is_it = self.match(row, submission)
                if is_it:
                    return [read_id(row)], True
                if is_it is None and read_id(row) not in claimed:
                    candidates.append(read_id(row))
            oldest = self.created_at(rows[-1]) if rows else None
            if not page.get("has_more") or oldest is None:
                return candidates, False
            if oldest < submission.asked_at - self.clocks_differ_s:
                return candidates, False
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


# Submissions: the state of a batch from before it is sent until its answers are collected.


class BatchLine(FrozenModel):
    """One request of a batch: samples of one conversation."""

    id: str
    """Its custom id."""
    draws: tuple[str, ...]
    """The requested samples, in the order of the reply."""
    ticket: tuple[int, float] = (0, 0.0)
    """Id and amount in US dollars of its reservation; 0 if nothing is reserved."""

    @property
    def reservation(self) -> Reservation:
        """Its reservation."""
        return Reservation(*self.ticket)


class Submission(FrozenModel):
    """One batch. Saved before the provider is asked to create it, so none is ever lost.

    Without `batch` it is unknown whether the batch was created: the process was killed, or the
    reply was lost. `maybe` then lists the provider's batches that can be it; they must end before
    their results decide.
    """

    version: Literal[1] = 1
    fingerprint: str
    """SHA-256 (hex) of the exact lines, unique per submission by the token in their ids."""
    asked_at: float
    """Unix time of the first attempt to create it."""
    lines: tuple[BatchLine, ...]
    file: str | None = None
    """The provider's id of the uploaded input, if the API has one."""
    batch: str | None = None
    """The provider's id of the batch."""
    maybe: tuple[str, ...] = ()
    collected: bool = False
    """Its answers were returned and settled; `lines` no longer contains lines without an answer."""

    @property
    def draws(self) -> set[str]:
        """Every requested sample."""
        return {draw for line in self.lines for draw in line.draws}

    @property
    def name(self) -> str:
        """Its file name."""
        return self.fingerprint[:24]


# Content hashes of the requests in a batch line, by which a later process recognises it.

_DIGITS = 40
"""Hex digits of a draw; with a dash and the 8 of a submission they fit Anthropic's limit of 64."""


def name_draw(identity: Mapping[str, Any], request: Request) -> str:
    """Return forty hex digits that identify a draw: equal for the same sample of the same request.

    They depend on the same content as the key of the store: paths, tags and the number of samples
    do not count. The store's key itself is not used, since its format can change while a batch is
    running.
    """
    conversation, decoding = request.conversation, request.decoding
    messages = [
        [m.role, [p.content_key if isinstance(p, ImagePart) else [p.text] for p in m.parts]]
        for m in conversation.messages
    ]
    form: list[Any] = [
        dict(identity), messages, decoding.temperature, decoding.max_tokens, decoding.top_p,
        request.index,
    ]  # fmt: skip
    offered = [tool.model_dump() for tool in conversation.tools]
    turns = [
        [n, [call.model_dump() for call in m.calls], m.answers, m.carried]
        for n, m in enumerate(conversation.messages)
        if m.calls or m.answers is not None or m.carried is not None
    ]
    if offered or turns:  # omitted if empty: these names must never change
        form.append([offered, turns])
    text = json.dumps(form, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


# The folder of a model's submissions: durable writes, and one submitting process at a time.

KEPT_S = 28 * 86400.0
"""Seconds to keep a collected submission: providers keep results 29 or 30 days."""
_LOCK = ".lock"
_WAIT_S = 0.2
_SAY_AFTER_S = 10.0
log = logging.getLogger("omibench")


def locate_submissions(state: Path, identity: Mapping[str, Any]) -> Path:
    """Return the folder of one model under `state`: provider and 12 digits of its identity hash."""
    text = json.dumps(dict(identity), sort_keys=True)
    return state / f"{identity['provider']}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def warn_of_batches(name: str, state: Path | None, identity: Mapping[str, Any]) -> None:
    """Warn if a model to be queried directly has running batches, which are billed as well."""
    if state is None or not (folder := locate_submissions(state, identity)).is_dir():
        return
    out = [s for s in SubmissionFolder(folder).submissions() if not s.collected]
    if out:
        log.warning(
            "model %r is queried directly, but %d requests in %d batches are not collected yet; "
            "set `batch: true` to collect them, so that they are not billed twice",
            name,
            sum(len(s.draws) for s in out),
            len(out),
        )


class SubmissionFolder:
    """The submissions of one model. Raises ModelError if its folder cannot be used."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        try:
            make_folder(folder)
        except OSError as error:
            raise ModelError(f"{folder}: cannot be created: {reason_of(error)}") from None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the only lock among all processes while this one lives; waits for others.

        Raises ModelError if the file system does not support locks, since two processes could
        submit the same requests.
        """
        try:
            file = open_new(self.path / _LOCK, os.O_RDWR)
        except OSError as error:
            raise ModelError(f"{self.path}: cannot be locked: {reason_of(error)}") from None
        try:
            since, has_logged = time.monotonic(), False
            try:
                while not try_lock(file):
                    if not has_logged and time.monotonic() - since > _SAY_AFTER_S:
                        has_logged = True
                        log.info("%s: waiting for another process that is submitting", self.path)
                    pause(_WAIT_S)
            except LockError as error:
                raise ModelError(
                    f"{self.path}: cannot be locked ({error.strerror}), and without a lock two "
                    "processes could submit the same batch; move `study.store` to another file "
                    "system, or remove `batch`"
                ) from None
            yield
        finally:
            os.close(file)

    def submissions(self) -> list[Submission]:
        """Return every submission, oldest first; old collected ones are deleted.

        Raises ModelError if one cannot be read.
        """
        remaining: list[Submission] = []
        for path in self.path.glob("*.json"):
            submission = self._read(path)
            if submission.collected and submission.asked_at < time.time() - KEPT_S:
                self.drop(submission)
            else:
                remaining.append(submission)
        return sorted(remaining, key=lambda s: (s.asked_at, s.fingerprint))

    def save(self, submission: Submission) -> Submission:
        """Save a submission; once this returns, it survives a kill or a power cut."""
        path = self._path(submission)
        text = submission.model_dump_json(exclude_defaults=True)
        write_private(path, text.encode() + b"\n", durable=True)
        return submission

    def drop(self, submission: Submission) -> None:
        """Delete a submission."""
        self._path(submission).unlink(missing_ok=True)

    def draft(self) -> ReservationDraft:
        """Start a list of reservations for lines without a submission. Requires the lock."""
        return ReservationDraft(self.path / f"{token_hex(8)}.draft")

    def drafts(self) -> list[ReservationDraft]:
        """Return the lists that killed processes left. Requires the lock."""
        return [ReservationDraft(path) for path in self.path.glob("*.draft")]

    def sweep(self) -> None:
        """Delete the temporary files of killed processes. Requires the lock."""
        for path in self.path.glob(".*.part"):
            if time.time() - path.stat().st_mtime > 86400:
                path.unlink(missing_ok=True)

    def _path(self, submission: Submission) -> Path:
        return self.path / f"{submission.name}.json"

    def _read(self, path: Path) -> Submission:
        try:
            return Submission.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            flaw = "its content was changed" if isinstance(error, ValueError) else error
            raise ModelError(
                f"{path}: cannot be read ({flaw}); restore it from a backup: it lists requests "
                "that are already in a batch, and without it they may be billed twice"
            ) from None


class ReservationDraft:
    """Reservations, one per line, so that those left unused after a crash can be given back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unused: dict[int, Reservation] = {}
        """The reservations of this process that belong to no submission."""

    def note(self, reservation: Reservation) -> None:
        """Add a reservation."""
        if reservation.id:
            self.unused[reservation.id] = reservation
            draft = open_new(self.path, os.O_WRONLY | os.O_APPEND)
            with os.fdopen(draft, "a", encoding="ascii") as file:
                file.write(f"{reservation.id} {reservation.worst_usd!r}\n")

    def drop_submitted(self, submission: Submission) -> None:
        """Remove the reservations of a submission that was saved."""
        for line in submission.lines:
            self.unused.pop(line.ticket[0], None)

    def read(self) -> list[Reservation]:
        """Read all reservations of a killed process; a truncated last line is skipped."""
        try:
            lines = self.path.read_text("ascii").splitlines(keepends=True)
        except FileNotFoundError:
            return []
        pairs = [line.split() for line in lines if line.endswith("\n")]
        return [Reservation(int(number), float(worst)) for number, worst in pairs]

    def remove(self) -> None:
        """Delete the list: every reservation is in a submission or was given back."""
        self.path.unlink(missing_ok=True)
