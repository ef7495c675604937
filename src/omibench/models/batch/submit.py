"""Submit chunk by chunk within the budget. Each is saved before it is sent; none is sent twice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from random import SystemRandom
from secrets import token_hex
from typing import NamedTuple

from omibench.errors import ModelError
from omibench.models.batch.api import BatchApi, FoundBatch, surely_not_made
from omibench.models.batch.chunk import Answer, Chunk, give_back
from omibench.models.batch.submission import BatchLine, Submission, custom_id
from omibench.models.batch.submission_folder import ReservationDraft, SubmissionFolder
from omibench.models.provider import Budget, Reservation
from omibench.models.traffic.failure import Failure
from omibench.models.traffic.retry import wait_s
from omibench.models.traffic.stop import check_stop, pause
from omibench.params.models.base import Limits
from omibench.schemas.request import Request, Response
from omibench.text.masking import mask

log = logging.getLogger("omibench")
MAYBE_MADE = "it is not known yet whether the batch was created; the next run checks again and \
sends nothing twice"
SUBMITTED = "batch %s was submitted with %d requests; you can stop this command at any time; the \
next run collects it"


class PollInterval(NamedTuple):
    """Seconds between polls, growing by `growth`, and before each search for a lost batch."""

    first_s: float = 10.0
    growth: float = 1.5
    most_s: float = 300.0
    look_again_s: tuple[float, ...] = (0.0, 3.0, 10.0, 30.0)


class Submitter:
    """Sends jobs as batches of one model. One process uses it at a time: see `Desk.lock`."""

    def __init__(  # noqa: PLR0913, PLR0917 (what it needs, each of another kind)
        self,
        api: BatchApi,
        folder: SubmissionFolder,
        budget: Budget,
        draw: Callable[[Request], str],
        limits: Limits,
        pace: PollInterval,
    ) -> None:
        self.api, self.folder, self.budget = api, folder, budget
        self._draw, self._limits, self._pace = draw, limits, pace
        self.most_lines = api.shape.most_lines
        """Lines of a chunk; fewer than the provider's limit after it rejected one as too large."""

    def submit(self, jobs: Iterable[Sequence[Request]]) -> list[Answer]:
        """Submit the requests within the budget; returns the responses of the others.

        Raises ModelError if the endpoint would reject everything.
        """
        jobs, unsent = list(jobs), list[Answer]()
        draft, token, chunk = self.folder.draft(), token_hex(4), self._chunk()
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
                    chunk = self._chunk()
                chunk.add(line, text, requests)
            if chunk.lines:
                unsent += self._send(chunk, draft)
        finally:
            chunk.close()
            give_back(self.budget, draft.unused.values())
            draft.remove()
        return unsent

    def recover(self) -> None:
        """Give back the reservations of killed processes that belong to no submission."""
        for draft in self.folder.drafts():
            used = {line.ticket[0] for s in self.folder.submissions() for line in s.lines}
            give_back(
                self.budget,
                [reservation for reservation in draft.read() if reservation.id not in used],
            )
            draft.remove()

    def resolve(self, submission: Submission) -> Submission | None:
        """Determine whether a submission with a lost reply was created; if not, delete it (None).

        Raises Failure if the provider cannot be reached.
        """
        located = self._locate_batch(submission)
        if located is None:
            self.forget(submission)
        return located

    def forget(self, submission: Submission) -> None:
        """Give back a submission that was never created, or of which no line was run."""
        give_back(self.budget, [Reservation(*line.ticket) for line in submission.lines])
        self.folder.drop(submission)

    def _chunk(self) -> Chunk:
        return Chunk(self.folder.path, self.api.shape, self.most_lines)

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
                        self.forget(noted)
                    if failure.fatal:
                        raise ModelError(describe_rejection(failure)) from None
                    reason = f"the batch was rejected: {failure.message}"
                    return chunk.fail_all(reason, passing=failure.transient)
                pause(wait_s(failure, attempt - 1, SystemRandom().random()))
            else:
                self.folder.save(noted.model_copy(update={"batch": batch}))
                log.info(SUBMITTED, batch, len(chunk.lines))
                return []

    def _locate_batch(self, submission: Submission) -> Submission | None:
        candidates = self._look(submission)
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

    def _look(self, submission: Submission) -> list[FoundBatch]:
        """Search for a batch, several times, since the list can lag behind."""
        claimed = {s.batch for s in self.folder.submissions() if s.batch is not None}
        failure: Failure | None = None
        for wait in self._pace.look_again_s:
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


def describe_rejection(failure: Failure) -> str:
    """Explain an endpoint that rejects every call."""
    return f"the endpoint rejects every call to its batch API: {mask(failure.message)}"
