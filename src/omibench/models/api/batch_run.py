"""Chunks: lines collected on disk for one batch, within the limits of the provider."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    BatchStatus,
    FoundBatch,
    InputShape,
    surely_not_made,
)
from omibench.models.api.failures import Failure, wait_s
from omibench.models.api.http import MOST_REPLY
from omibench.models.api.replies import Json, parse_json
from omibench.models.api.scheduler import Progress
from omibench.models.api.stop import check_stop, pause
from omibench.models.api.submissions import (
    BatchLine,
    ReservationDraft,
    Submission,
    SubmissionFolder,
    custom_id,
)
from omibench.models.provider import Budget, Reservation
from omibench.params.models.base import Limits
from omibench.schemas.request import Request, Response
from omibench.text.masking import mask

Answer = tuple[Request, Response]


class Chunk:
    """The lines of a future batch. The file has no name, so a crash leaves nothing behind."""

    def __init__(self, folder: Path, shape: InputShape, most_lines: int) -> None:
        self.lines: list[BatchLine] = []
        self.jobs: list[Sequence[Request]] = []
        self._shape = shape
        self._most_lines = min(most_lines, shape.most_lines)
        self._hash = hashlib.sha256()
        self._file: BinaryIO = TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `close`)
        self.size = 0
        self._write(shape.head)

    def close(self) -> None:
        """Close the file, which deletes the lines."""
        self._file.close()

    def fits(self, line: bytes) -> bool:
        """Return whether another line fits. The first always does, since it cannot be divided."""
        added_bytes = len(line) + len(self._shape.between) + len(self._shape.tail)
        full = (
            len(self.lines) >= self._most_lines or self.size + added_bytes > self._shape.most_bytes
        )
        return not (self.lines and full)

    def add(self, line: BatchLine, text: bytes, requests: Sequence[Request]) -> None:
        """Append a line."""
        self._write((self._shape.between if self.lines else b"") + text)
        self.lines.append(line)
        self.jobs.append(requests)

    def seal(self) -> None:
        """End the last line."""
        self._write(self._shape.tail)

    def rewind(self) -> BinaryIO:
        """Return the input from its start: `size` bytes."""
        self._file.seek(0)
        return self._file

    def submission(self, file: str | None) -> Submission:
        """Return the submission to save before the provider is asked to create the batch."""
        return Submission(
            fingerprint=self._hash.hexdigest(),
            asked_at=time(),
            lines=tuple(self.lines),
            file=file,
        )

    def fail_all(self, reason: str, *, passing: bool) -> list[Answer]:
        """Return its requests as `provider_error`, so that a later run sends them again."""
        response = Response(text="", outcome="provider_error", error=mask(reason), passing=passing)
        return [(request, response) for job in self.jobs for request in job]

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)


def settle(budget: Budget, line: BatchLine, cost_usd: float | None) -> None:
    """Settle the reservation of a line. With None it may have been billed.

    A ledger refuses a reservation that was already settled: by another process, or by one that was
    killed before it could note so.
    """
    with suppress(ValueError):
        budget.settle(Reservation(*line.ticket), cost_usd)


def give_back(budget: Budget, reservations: Iterable[Reservation]) -> None:
    """Give back the reservations: none was billed. Those already settled are skipped."""
    for reservation in reservations:
        with suppress(ValueError):
            budget.release(reservation)


# One run through a batch API: submit within the budget, wait, collect, settle.
#
# Each batch is saved before it is sent; none is sent twice. Several processes can collect one
# batch; each returns its own draws.

log = logging.getLogger("omibench")
Ended = tuple[Submission, BatchStatus | Failure]
"""A submission with its outcome, or the reason that the outcome is unknown."""
Drawn = tuple[str, Response]
"""A draw with its response."""
GroupJobs = Callable[[list[Request]], list[Sequence[Request]]]
"""Groups requests into lines."""
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


class BatchRun:
    """Run the requests of one `answer` call of a provider.

    Args:
        api: The batch API.
        folder: The submissions of the model.
        budget: Reserves each line, and settles it with its result.
        draw: Names a request by its content.
        cost: Cost in US dollars of the samples of one line.
        limits: Attempts and waits.
        poll: Seconds between polls.
        stored_answers: Number of other requests that were answered before.
    """

    def __init__(  # noqa: PLR0913, PLR0917 (what a run needs, each of another kind)
        self,
        api: BatchApi,
        folder: SubmissionFolder,
        budget: Budget,
        draw: Callable[[Request], str],
        cost: Callable[[list[Response]], float | None],
        limits: Limits,
        poll: PollInterval,
        stored_answers: int = 0,
    ) -> None:
        self.api, self.folder, self.budget = api, folder, budget
        self._draw, self._cost, self._limits, self._poll = draw, cost, limits, poll
        self._most_lines = api.shape.most_lines
        """Lines of a chunk; fewer than the provider's limit after it rejected one as too large."""
        self._works = stored_answers > 0
        self._crowded = 0
        self._left: dict[str, list[Request]] = {}
        self.progress = Progress()

    def answers(self, requests: Sequence[Request], jobs: GroupJobs) -> Iterator[Answer]:
        """See `Provider.answer`; `jobs` groups requests into lines."""
        self.progress.total = len(requests)
        for request in requests:
            self._left.setdefault(self._draw(request), []).append(request)
        while self._left:
            answers, out = self._submit(jobs)
            for request, response in answers:
                yield from self._give(self._draw(request), response)
            for submission, status in self._await_ends(out):
                yield from self._take(submission, status)

    def _submit(self, jobs: GroupJobs) -> tuple[list[Answer], list[Submission]]:
        """Submit the requests of no batch yet: the failed ones, and the submissions to await."""
        with self.folder.lock():
            self.folder.sweep()
            self._recover_drafts()
            answers: list[Answer] = []
            out: set[str] = set()
            for submission in self._list_submissions():
                if submission.batch is None and not submission.maybe:
                    try:
                        if self._locate_batch(submission) is None:
                            self._forget(submission)
                            continue
                    except Failure as failure:
                        answers += self._fail_requests(
                            submission, f"{MAYBE_MADE}: {failure.message}"
                        )
                out |= submission.draws
            fresh = [requests[0] for draw, requests in self._left.items() if draw not in out]
            answers += self._submit_jobs(jobs(fresh))
            waiting = [s for s in self._list_submissions() if s.batch is not None or s.maybe]
        return answers, waiting

    def _list_submissions(self) -> list[Submission]:
        """Return the submissions with at least one of the requests."""
        return [s for s in self.folder.submissions() if not s.draws.isdisjoint(self._left)]

    def _submit_jobs(self, jobs: Iterable[Sequence[Request]]) -> list[Answer]:
        """Submit the requests within the budget; returns the responses of the others.

        Raises ModelError if the endpoint would reject everything.
        """
        jobs, unsent = list(jobs), list[Answer]()
        draft, token, chunk = self.folder.draft(), token_hex(4), self._start_chunk()
        try:
            for place, requests in enumerate(jobs):
                check_stop()
                reservation = self.budget.reserve(requests)
                if reservation is None:
                    stop = Response(text="", outcome="budget_stop")
                    unsent += [(r, stop) for job in jobs[place:] for r in job]
                    break
                draft.note(reservation)
                draws = tuple(map(self._draw, requests))
                line = BatchLine(
                    id=custom_id(draws[0], token), draws=draws, ticket=tuple(reservation)
                )
                text = self.api.line(line.id, requests)
                if not chunk.fits(text):
                    unsent += self._send(chunk, draft)
                    chunk.close()
                    chunk = self._start_chunk()
                chunk.add(line, text, requests)
            if chunk.lines:
                unsent += self._send(chunk, draft)
        finally:
            chunk.close()
            give_back(self.budget, draft.unused.values())
            draft.remove()
        return unsent

    def _start_chunk(self) -> Chunk:
        return Chunk(self.folder.path, self.api.shape, self._most_lines)

    def _send(self, chunk: Chunk, draft: ReservationDraft) -> list[Answer]:
        chunk.seal()
        noted: Submission | None = None
        file: str | None = None
        attempt = 0
        while True:
            try:
                file = file or self.api.upload(chunk.rewind(), chunk.size)
                if noted is None:
                    noted = self.folder.save(chunk.submission(file))
                    draft.drop_submitted(noted)
                batch = self.api.create(chunk.rewind(), chunk.size, noted)
            except Failure as failure:
                attempt += 1
                if noted is not None and not surely_not_made(failure):
                    try:
                        if self._locate_batch(noted) is not None:
                            return []
                    except Failure as unknown:
                        return chunk.fail_all(f"{MAYBE_MADE}: {unknown.message}", passing=True)
                if self._is_hopeless(failure, attempt):
                    if noted is not None:
                        self._forget(noted)
                    if failure.fatal:
                        raise ModelError(_describe_rejection(failure)) from None
                    reason = f"the batch was rejected: {failure.message}"
                    return chunk.fail_all(reason, passing=failure.transient)
                pause(wait_s(failure, attempt - 1, SystemRandom().random()))
            else:
                self.folder.save(noted.model_copy(update={"batch": batch}))
                log.info(SUBMITTED, batch, len(chunk.lines))
                return []

    def _locate_batch(self, submission: Submission) -> Submission | None:
        """Determine whether a submission with a lost reply was created; None if not.

        Raises Failure if the provider cannot be reached.
        """
        candidates = self._find_batch(submission)
        sure = next((batch.id for batch in candidates if batch.sure), None)
        if sure is not None:
            log.info("batch %s already exists; it is collected, not sent again", sure)
            return self.folder.save(submission.model_copy(update={"batch": sure}))
        if candidates:
            maybe = tuple(batch.id for batch in candidates)
            return self.folder.save(submission.model_copy(update={"maybe": maybe}))
        return None

    def _is_hopeless(self, failure: Failure, attempt: int) -> bool:
        long = (failure.retry_after_s or 0.0) > self._limits.retry_after_s
        return not failure.transient or long or attempt >= self._limits.attempts

    def _find_batch(self, submission: Submission) -> list[FoundBatch]:
        """Search for a batch, several times, since the list can lag behind."""
        claimed = {s.batch for s in self.folder.submissions() if s.batch is not None}
        failure: Failure | None = None
        for wait in self._poll.look_again_s:
            pause(wait)
            try:
                candidates = self.api.find(submission, claimed)
            except Failure as error:
                failure = error
                if not error.transient:
                    break
                continue
            failure = None
            if candidates:
                return candidates
        if failure is not None:
            raise failure
        return []

    def _forget(self, submission: Submission) -> None:
        """Give back a submission that was never created, or of which no line was run."""
        give_back(self.budget, [Reservation(*line.ticket) for line in submission.lines])
        self.folder.drop(submission)

    def _recover_drafts(self) -> None:
        """Give back the reservations of killed processes that belong to no submission."""
        for draft in self.folder.drafts():
            used = {line.ticket[0] for s in self.folder.submissions() for line in s.lines}
            give_back(
                self.budget,
                [reservation for reservation in draft.read() if reservation.id not in used],
            )
            draft.remove()

    def _await_ends(self, out: list[Submission]) -> Iterator[Ended]:
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
                self.progress.in_flight = sum(len(s.lines) for s in out)
                pause(wait)
                wait = min(wait * self._poll.growth, self._poll.most_s)

    def _look(self, submission: Submission) -> Ended | None:
        """Poll a batch; None while it runs. Of several candidates, the one that matches."""
        if submission.batch is not None:
            status = self.api.status(submission.batch)
            return (submission, status) if status.ended else None
        for batch in submission.maybe:
            status = self._poll_candidate(batch)
            if not status.ended:
                return None
            if self._is_same_batch(submission, status):
                confirmed = submission.model_copy(update={"batch": batch, "maybe": ()})
                return self.folder.save(confirmed), status
        log.info("a batch with a lost reply was not created; its requests are sent again")
        failure = Failure("the batch was not created", transient=True, maybe_paid=False)
        return submission, BatchStatus("", ended=True, turned_down=failure)

    def _poll_candidate(self, batch: str) -> BatchStatus:
        try:
            return self.api.status(batch)
        except Failure as failure:
            if failure.status == 404:
                return BatchStatus(batch, ended=True)
            raise

    def _take(self, submission: Submission, status: BatchStatus | Failure) -> Iterator[Answer]:
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
                for draw, response in self._collect(submission, status):
                    yield from self._give(draw, response)
            except Failure as failure:
                cause = failure
            else:
                self._crowded = 0
                log.info("batch %s was collected", submission.batch)
                return
        for request, response in self._fail_requests(
            submission, f"batch {submission.batch}: {cause}"
        ):
            yield from self._give(self._draw(request), response)

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

    def _give(self, draw: str, response: Response) -> Iterator[Answer]:
        for request in self._left.pop(draw, []):
            self.progress.finished += 1
            self.progress.failed += response.outcome in ("provider_error", "budget_stop")
            self.progress.cost_usd += response.cost_usd or 0.0
            yield request, response

    def _fail_requests(self, submission: Submission, reason: str) -> list[Answer]:
        response = _make_failed_response(Failure(reason))
        return [
            (request, response) for draw in submission.draws for request in self._left.get(draw, [])
        ]

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
        """Yield every draw of a finished batch once, with its response.

        When all were taken, the submission is marked as collected. Draws without an answer are left
        out, so a later run requests them again. Raises Failure if the results cannot be downloaded
        now.
        """
        pending = {line.id: line for line in submission.lines}
        answered: list[BatchLine] = []
        doubtful: list[tuple[BatchLine, Failure]] = []
        lost = _LOST
        with TemporaryFile(dir=self.folder.path) as file:
            try:
                self._download(status, file)
            except Failure as failure:
                if failure.status not in _GONE_STATUSES:
                    raise
                lost = Failure(f"the provider no longer has the results: {failure.message}")
            for row in _rows(file):
                if row is None:  # the owner is unknown, and it may have been billed
                    lost = replace(lost, maybe_paid=True)
                elif line := pending.pop(str(row.get("custom_id")), None):
                    result = self.api.read(row, len(line.draws))
                    if isinstance(result, Failure) and result.content and not self._works:
                        doubtful.append((line, result))
                        continue
                    self._works |= not isinstance(result, Failure)
                    drawn = self._settle_line(submission, line, result)
                    yield from drawn
                    answered += _keep_answered(line, drawn)
        for line, turned_down in doubtful:
            drawn = self._settle_line(submission, line, turned_down)
            yield from drawn
            answered += _keep_answered(line, drawn)
        for line in pending.values():
            yield from self._settle_line(submission, line, lost)
        if answered:
            update = {"lines": tuple(answered), "collected": True}
            self.folder.save(submission.model_copy(update=update))
        else:
            self.folder.drop(submission)

    def _is_same_batch(self, submission: Submission, status: BatchStatus) -> bool:
        """Return whether a finished batch is this submission: its results have the ids of the
        lines.

        Raises Failure if the results cannot be downloaded.
        """
        names = {line.id for line in submission.lines}
        with TemporaryFile(dir=self.folder.path) as file:
            self._download(status, file)
            return any(row is not None and row.get("custom_id") in names for row in _rows(file))

    def _settle_line(
        self, submission: Submission, line: BatchLine, result: list[Response] | Failure
    ) -> list[Drawn]:
        """Settle the reservation of a line and return its draws with their responses."""
        if isinstance(result, Failure):
            responses: list[Response] = []
            if not submission.collected and result.maybe_paid:
                settle(self.budget, line, None)
            elif not submission.collected:
                give_back(self.budget, [Reservation(*line.ticket)])
        else:
            responses, result = result, _FEWER
            if not submission.collected:
                settle(self.budget, line, self._cost(responses))
        without = _make_failed_response(result, works=self._works)
        missing = len(line.draws) - len(responses)
        return list(zip(line.draws, [*responses, *[without] * missing], strict=True))

    def _download(self, status: BatchStatus, to: BinaryIO) -> None:
        for attempt in range(self._limits.attempts):
            to.seek(0)
            to.truncate()
            try:
                for source in status.sources:
                    self.api.download(source, to)
            except Failure as failure:
                if not failure.transient or attempt + 1 == self._limits.attempts:
                    raise
                pause(wait_s(failure, attempt, SystemRandom().random()))
            else:
                return


def _make_failed_response(failure: Failure, *, works: bool = False) -> Response:
    """Return the response to a request without an answer: `refused` or an error.

    A failure that concerns only the content counts as a refusal if the endpoint answers others
    (`works`).
    """
    if failure.refused is not None:
        return Response(text="", outcome="refused", finish_reason=failure.refused)
    error = mask(failure.message)
    if failure.content is not None and works:
        return Response(text="", outcome="refused", finish_reason=failure.content, error=error)
    return Response(text="", outcome="provider_error", error=error, passing=failure.transient)


def _keep_answered(line: BatchLine, drawn: list[Drawn]) -> list[BatchLine]:
    """Return the line with the draws that have an answer, if there are any."""
    draws = tuple(draw for draw, response in drawn if response.outcome != "provider_error")
    return [line.model_copy(update={"draws": draws})] if draws else []


def _rows(file: BinaryIO) -> Iterator[Json | None]:
    """Yield the results in a file; None for one that cannot be read."""
    file.seek(0)
    while text := file.readline(MOST_REPLY):
        if not text.strip():
            continue
        try:
            row = parse_json(text)
        except ValueError:
            row = None
        yield row if isinstance(row, dict) else None


def _describe_rejection(failure: Failure) -> str:
    """Explain an endpoint that rejects every call."""
    return f"the endpoint rejects every call to its batch API: {mask(failure.message)}"
