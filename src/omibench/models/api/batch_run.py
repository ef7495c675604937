"""One run through a batch API: submit within the budget, wait, collect, settle.

Each batch is saved before it is sent; none is sent twice. Several processes can collect one batch;
each returns its own draws.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import SystemRandom
from secrets import token_hex
from tempfile import TemporaryFile
from time import time
from typing import BinaryIO, NamedTuple

from omibench.errors import ModelError
from omibench.models.api.batch_api import (
    BatchApi,
    BatchLine,
    BatchStatus,
    InputShape,
    ReservationDraft,
    Submission,
    SubmissionFolder,
    name_draw,
)
from omibench.models.api.failures import Failure, PendingCall, wait_s
from omibench.models.api.http import MOST_REPLY
from omibench.models.api.replies import Json, parse_json
from omibench.models.api.scheduler import Answer
from omibench.models.api.stop import check_stop, pause
from omibench.models.provider import Budget, Reservation
from omibench.schemas.request import Request, Response
from omibench.text.masking import mask

log = logging.getLogger("omibench")
Drawn = tuple[str, Response]
"""A draw with its response."""
Result = list[Response] | Failure
"""The samples of a line, or the reason that there are none."""
MAYBE_MADE = "it is not known yet whether the batch was created; the next run checks again and \
sends nothing twice"
SUBMITTED = "batch %s was submitted with %d requests; you can stop this command at any time; the \
next run collects it"
_LOST = Failure("the batch ended without a result for this request", maybe_paid=False)
_FEWER = Failure("the reply contains fewer samples than requested")
_GONE_STATUSES = (404, 410)


class PollInterval(NamedTuple):
    """Seconds between polls, growing by `growth`, and before each search for a lost batch."""

    first_s: float = 10.0
    growth: float = 1.5
    most_s: float = 300.0
    look_again_s: tuple[float, ...] = (0.0, 3.0, 10.0, 30.0)


class Chunk:
    """The lines of a future batch. The file has no name, so a crash leaves nothing behind."""

    def __init__(self, folder: Path, shape: InputShape, most_lines: int) -> None:
        self.lines: list[BatchLine] = []
        self._shape = shape
        self._most_lines = min(most_lines, shape.most_lines)
        self.hash = hashlib.sha256()
        self._file: BinaryIO = TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `close`)
        self.size = 0
        self.write(shape.head)

    def close(self) -> None:
        """Close the file, which deletes the lines."""
        self._file.close()

    def fits(self, line: bytes) -> bool:
        """Return whether another line fits. The first always does, since it cannot be divided."""
        size = self.size + len(line) + len(self._shape.between) + len(self._shape.tail)
        full = len(self.lines) >= self._most_lines or size > self._shape.most_bytes
        return not (self.lines and full)

    def add(self, line: BatchLine, text: bytes) -> None:
        """Append a line."""
        self.write((self._shape.between if self.lines else b"") + text)
        self.lines.append(line)

    def rewind(self) -> BinaryIO:
        """Return the input from its start: `size` bytes."""
        self._file.seek(0)
        return self._file

    def write(self, data: bytes) -> None:
        """Append bytes of the input."""
        self._file.write(data)
        self.hash.update(data)
        self.size += len(data)


class BatchRun:
    """Run the requests of one `answer` call of a provider.

    Args:
        api: The batch API; its provider has the limits, and turns requests into lines.
        folder: The submissions of the model.
        budget: Reserves each line, and settles it with its result.
    """

    def __init__(self, api: BatchApi, folder: SubmissionFolder, budget: Budget) -> None:
        self.api, self.folder, self.budget = api, folder, budget
        self._limits, self._poll = api.provider.limits, api.provider.poll_interval
        self._identity = api.provider.identity
        self._most_lines = api.shape.most_lines
        """Lines of a chunk; fewer than the provider's limit after it rejected one as too large."""
        self._works = api.provider.stored_answers > 0
        self._crowded = 0
        self._left: dict[str, list[Request]] = {}

    def answers(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """See `Provider.answer`."""
        for request in requests:
            self._left.setdefault(self._name_draw(request), []).append(request)
        while self._left:
            for draw, response in self._run():
                for request in self._left.pop(draw, []):
                    yield request, response

    def _name_draw(self, request: Request) -> str:
        return name_draw(self._identity, request)

    def _run(self) -> Iterator[Drawn]:
        drawn, waiting = self._submit()
        yield from drawn
        for submission, status in self._await_ends(waiting):
            yield from self._take(submission, status)

    def _submit(self) -> tuple[list[Drawn], list[Submission]]:
        """Submit the requests of no batch yet: the failed ones, and the submissions to await."""
        with self.folder.lock():
            self.folder.sweep()
            self._recover_drafts()
            failed: list[Drawn] = []
            out: set[str] = set()
            for submission in self._list_submissions():
                if submission.batch is None and not submission.maybe:
                    try:
                        if not self._locate_batch(submission):
                            self._forget(submission)
                            continue
                    except Failure as failure:
                        reason = Failure(f"{MAYBE_MADE}: {failure.message}")
                        failed += _fail_lines(submission.lines, reason)
                out |= submission.draws
            fresh = [requests[0] for draw, requests in self._left.items() if draw not in out]
            failed += self._submit_jobs(self.api.provider.jobs(fresh))
            waiting = [s for s in self._list_submissions() if s.batch is not None or s.maybe]
        return failed, waiting

    def _list_submissions(self) -> list[Submission]:
        """Return the submissions with at least one of the requests."""
        return [s for s in self.folder.submissions() if not s.draws.isdisjoint(self._left)]

    def _submit_jobs(self, jobs: Sequence[PendingCall]) -> list[Drawn]:
        """Submit the requests within the budget; returns the responses of the others.

        Raises ModelError if the endpoint would reject everything.
        """
        unsent: list[Drawn] = []
        draft, token, chunk = self.folder.draft(), token_hex(4), self._start_chunk()
        try:
            for place, requests in enumerate(job.requests for job in jobs):
                check_stop()
                reservation = self.budget.reserve(requests)
                if reservation is None:
                    stop = Response(text="", outcome="budget_stop")
                    unsent += [
                        (self._name_draw(r), stop) for job in jobs[place:] for r in job.requests
                    ]
                    break
                draft.note(reservation)
                draws = tuple(map(self._name_draw, requests))
                line = BatchLine(id=f"{draws[0]}-{token}", draws=draws, ticket=tuple(reservation))
                text = self.api.line(line.id, requests)
                if not chunk.fits(text):
                    unsent += self._send(chunk, draft)
                    chunk.close()
                    chunk = self._start_chunk()
                chunk.add(line, text)
            if chunk.lines:
                unsent += self._send(chunk, draft)
        finally:
            chunk.close()
            self._give_back(draft.unused.values())
            draft.remove()
        return unsent

    def _start_chunk(self) -> Chunk:
        return Chunk(self.folder.path, self.api.shape, self._most_lines)

    def _send(self, chunk: Chunk, draft: ReservationDraft) -> list[Drawn]:
        chunk.write(self.api.shape.tail)
        noted: Submission | None = None
        file: str | None = None
        attempt = 0
        while True:
            try:
                file = file or self.api.upload(chunk.rewind(), chunk.size)
                if noted is None:
                    noted = self.folder.save(
                        Submission(
                            fingerprint=chunk.hash.hexdigest(),
                            asked_at=time(),
                            lines=tuple(chunk.lines),
                            file=file,
                        )
                    )
                    draft.drop_submitted(noted)
                batch = self.api.create(chunk.rewind(), chunk.size, noted)
            except Failure as failure:
                attempt += 1
                if noted is not None and not _was_surely_not_made(failure):
                    try:
                        if self._locate_batch(noted):
                            return []
                    except Failure as unknown:
                        reason = f"{MAYBE_MADE}: {unknown.message}"
                        return _fail_lines(chunk.lines, Failure(reason, transient=True))
                long = (failure.retry_after_s or 0.0) > self._limits.retry_after_s
                if not failure.transient or long or attempt >= self._limits.attempts:
                    if noted is not None:
                        self._forget(noted)
                    if failure.fatal:
                        raise ModelError(_describe_rejection(failure)) from None
                    reason = f"the batch was rejected: {failure.message}"
                    return _fail_lines(chunk.lines, Failure(reason, transient=failure.transient))
                pause(wait_s(failure, attempt - 1, SystemRandom().random()))
            else:
                self.folder.save(noted.model_copy(update={"batch": batch}))
                log.info(SUBMITTED, batch, len(chunk.lines))
                return []

    def _locate_batch(self, submission: Submission) -> bool:
        """Determine whether a submission with a lost reply was created, and note its batch.

        It is searched several times, since the provider's list can lag behind. Raises Failure if
        the provider cannot be reached.
        """
        claimed = {s.batch for s in self.folder.submissions() if s.batch is not None}
        failure: Failure | None = None
        for wait in self._poll.look_again_s:
            pause(wait)
            try:
                candidates, is_sure = self.api.find(submission, claimed)
            except Failure as error:
                failure = error
                if not error.transient:
                    break
                continue
            failure = None
            if is_sure:
                log.info("batch %s already exists; it is collected, not sent again", candidates[0])
            if candidates:
                update = {"batch": candidates[0]} if is_sure else {"maybe": tuple(candidates)}
                self.folder.save(submission.model_copy(update=update))
                return True
        if failure is not None:
            raise failure
        return False

    def _give_back(self, reservations: Iterable[Reservation]) -> None:
        """Give back the reservations: none was billed. Those already settled are skipped.

        A ledger refuses a reservation that was settled: by another process, or by one that was
        killed before it could note so.
        """
        for reservation in reservations:
            with suppress(ValueError):
                self.budget.release(reservation)

    def _forget(self, submission: Submission) -> None:
        """Give back a submission that was never created, or of which no line was run."""
        self._give_back(line.reservation for line in submission.lines)
        self.folder.drop(submission)

    def _recover_drafts(self) -> None:
        """Give back the reservations of killed processes that belong to no submission."""
        for draft in self.folder.drafts():
            used = {line.ticket[0] for s in self.folder.submissions() for line in s.lines}
            self._give_back(r for r in draft.read() if r.id not in used)
            draft.remove()

    def _await_ends(
        self, out: list[Submission]
    ) -> Iterator[tuple[Submission, BatchStatus | Failure]]:
        """Yield each submission when it has ended, or when its outcome cannot be determined."""
        failed: dict[str, int] = {}
        wait = self._poll.first_s
        while out:
            for submission in list(out):
                try:
                    ended = self._look(submission)
                except Failure as failure:
                    failed[submission.name] = failed.get(submission.name, 0) + 1
                    if failure.transient and failed[submission.name] < self._limits.attempts:
                        continue
                    if failure.fatal or failure.status in (401, 403, 404):
                        raise ModelError(self._explain_unknown(submission, failure)) from None
                    out.remove(submission)
                    yield submission, failure
                    continue
                failed.pop(submission.name, None)
                if ended is not None:
                    out.remove(submission)
                    wait = self._poll.first_s
                    yield ended
            if out:
                pause(wait)
                wait = min(wait * self._poll.growth, self._poll.most_s)

    def _look(self, submission: Submission) -> tuple[Submission, BatchStatus] | None:
        """Poll a batch; None while it runs. Of several candidates, the one that matches."""
        if submission.batch is not None:
            status = self.api.status(submission.batch)
            return (submission, status) if status.ended else None
        names = {line.id for line in submission.lines}
        for batch in submission.maybe:
            try:
                status = self.api.status(batch)
            except Failure as error:
                if error.status != 404:
                    raise
                status = BatchStatus(batch, ended=True)
            if not status.ended:
                return None
            if any(row is not None and row.get("custom_id") in names for row in self._rows(status)):
                confirmed = submission.model_copy(update={"batch": batch, "maybe": ()})
                return self.folder.save(confirmed), status
        log.info("a batch with a lost reply was not created; its requests are sent again")
        failure = Failure("the batch was not created", transient=True, maybe_paid=False)
        return submission, BatchStatus("", ended=True, turned_down=failure)

    def _take(self, submission: Submission, status: BatchStatus | Failure) -> Iterator[Drawn]:
        if isinstance(status, Failure):
            cause: Failure = status
        elif status.turned_down is not None:
            cause = status.turned_down
            with self.folder.lock():
                self._forget(submission)
            if self._prepare_retry(submission, cause):
                return
        else:
            try:
                yield from self._collect(submission, status)
            except Failure as failure:
                cause = failure
            else:
                self._crowded = 0
                log.info("batch %s was collected", submission.batch)
                return
        yield from _fail_lines(submission.lines, Failure(f"batch {submission.batch}: {cause}"))

    def _prepare_retry(self, submission: Submission, failure: Failure) -> bool:
        """Return whether to submit a rejected batch again, in halves and after a pause.

        Providers limit the tokens in all batches together, and report it only by rejecting one.
        """
        self._crowded += failure.congestion
        if not failure.transient or self._crowded >= self._limits.attempts:
            return False
        if failure.congestion:
            self._most_lines = max(1, len(submission.lines) // 2)
            wait = self._poll.first_s * self._poll.growth**self._crowded
            pause(min(wait, self._poll.most_s))
        return True

    def _explain_unknown(self, submission: Submission, failure: Failure) -> str:
        if failure.status == 404:
            return (
                f"batch {submission.batch} does not exist at the endpoint "
                f"({mask(failure.message)}); if it was submitted with another key or base_url, "
                "set that again; if it is gone, delete "
                f"{self.folder.path / submission.name}.json, and its requests are sent and billed "
                "again"
            )
        return _describe_rejection(failure)

    def _collect(self, submission: Submission, status: BatchStatus) -> Iterator[Drawn]:
        """Yield every draw of a finished batch once, with its response, and settle its line.

        When all were taken, the submission is marked as collected. Draws without an answer are left
        out, so a later run requests them again. Raises Failure if the results cannot be downloaded
        now.
        """
        answered: list[BatchLine] = []
        for line, result in self._read_results(submission, status):
            cause = result if isinstance(result, Failure) else _FEWER
            responses = [] if isinstance(result, Failure) else result
            if not submission.collected and not responses and not cause.maybe_paid:
                self._give_back([line.reservation])
            elif not submission.collected:
                with suppress(ValueError):  # see `_give_back`
                    sent = self.api.provider.summarize_call(responses)
                    self.budget.settle(line.reservation, sent.cost_usd if responses else None)
            without = cause.to_response(works=self._works)
            missing = [without] * (len(line.draws) - len(responses))
            drawn = list(zip(line.draws, [*responses, *missing], strict=True))
            yield from drawn
            draws = tuple(draw for draw, response in drawn if response.outcome != "provider_error")
            if draws:
                answered.append(line.model_copy(update={"draws": draws}))
        if answered:
            update = {"lines": tuple(answered), "collected": True}
            self.folder.save(submission.model_copy(update=update))
        else:
            self.folder.drop(submission)

    def _read_results(
        self, submission: Submission, status: BatchStatus
    ) -> Iterator[tuple[BatchLine, Result]]:
        """Yield each line with its result; rejections of content last, when it is known whether
        the endpoint answers other requests."""
        pending = {line.id: line for line in submission.lines}
        doubtful: list[tuple[BatchLine, Result]] = []
        lost = _LOST
        try:
            for row in self._rows(status):
                if row is None:  # the owner is unknown, and it may have been billed
                    lost = replace(lost, maybe_paid=True)
                elif line := pending.pop(str(row.get("custom_id")), None):
                    try:
                        result: Result = self.api.read_line(row, len(line.draws))
                    except Failure as error:
                        result = error
                    if isinstance(result, Failure) and result.content and not self._works:
                        doubtful.append((line, result))
                        continue
                    self._works |= not isinstance(result, Failure)
                    yield line, result
        except Failure as failure:
            if failure.status not in _GONE_STATUSES:
                raise
            lost = Failure(f"the provider no longer has the results: {failure.message}")
        yield from doubtful
        for line in pending.values():
            yield line, lost

    def _rows(self, status: BatchStatus) -> Iterator[Json | None]:
        """Download the results and yield them; None for one that cannot be read."""
        with TemporaryFile(dir=self.folder.path) as file:
            for attempt in range(self._limits.attempts):
                file.seek(0)
                file.truncate()
                try:
                    for source in status.sources:
                        self.api.download(source, file)
                    break
                except Failure as failure:
                    if not failure.transient or attempt + 1 == self._limits.attempts:
                        raise
                    pause(wait_s(failure, attempt, SystemRandom().random()))
            file.seek(0)
            yield from read_rows(file)


def read_rows(file: BinaryIO) -> Iterator[Json | None]:
    """Yield the results in a file; None for one that cannot be read."""
    while text := file.readline(MOST_REPLY):
        if text.strip():
            try:
                row = parse_json(text)
            except ValueError:
                row = None
            yield row if isinstance(row, dict) else None


def _fail_lines(lines: Iterable[BatchLine], failure: Failure) -> list[Drawn]:
    """Return the draws as `provider_error`, so that a later run sends them again."""
    response = failure.to_response(works=False)
    return [(draw, response) for line in lines for draw in line.draws]


def _was_surely_not_made(failure: Failure) -> bool:
    """Return whether a failed `create` certainly made no batch: rejected, or never received."""
    if failure.status is None:
        return not failure.maybe_paid
    return 400 <= failure.status < 500 and failure.status not in (408, 409)


def _describe_rejection(failure: Failure) -> str:
    """Explain an endpoint that rejects every call."""
    return f"the endpoint rejects every call to its batch API: {mask(failure.message)}"
