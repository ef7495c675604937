"""Collect the results of a finished batch: settle the reservations and return the responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import SystemRandom
from tempfile import TemporaryFile
from typing import BinaryIO

from omibench.models.batch.api import BatchApi, BatchStatus
from omibench.models.batch.chunk import give_back, settle
from omibench.models.batch.submission import BatchLine, Submission
from omibench.models.batch.submission_folder import SubmissionFolder
from omibench.models.http.bounds import MOST_REPLY
from omibench.models.http.replies import Json, parse_json
from omibench.models.provider import Budget, Reservation
from omibench.models.traffic.failure import Failure
from omibench.models.traffic.retry import wait_s
from omibench.models.traffic.stop import pause
from omibench.params.models.base import Limits
from omibench.schemas.request import Response
from omibench.text.masking import mask

Drawn = tuple[str, Response]
"""A draw with its response."""
Cost = Callable[[list[Response]], float | None]
"""Cost in US dollars of the samples of one line."""
_LOST = Failure("the batch ended without a result for this request", maybe_paid=False)
_FEWER = Failure("the reply contains fewer samples than requested")
_GONE_STATUSES = (404, 410)


class Collector:
    """Reads results. Several processes can collect one batch; each returns its own draws."""

    def __init__(  # noqa: PLR0913, PLR0917 (what a run needs, each of another kind)
        self,
        api: BatchApi,
        folder: SubmissionFolder,
        budget: Budget,
        limits: Limits,
        cost: Cost,
        stored_answers: int = 0,
    ) -> None:
        self.api, self.folder, self.budget = api, folder, budget
        self._works = stored_answers > 0
        self._limits, self._cost = limits, cost

    def collect(self, submission: Submission, status: BatchStatus) -> Iterator[Drawn]:
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
                    result = self.api.read(row, len(line.draws)).result
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

    def is_same_batch(self, submission: Submission, status: BatchStatus) -> bool:
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
        without = make_failed_response(result, works=self._works)
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


def make_failed_response(failure: Failure, *, works: bool = False) -> Response:
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
    """Return the line with the draws that have an answer; None if there are none."""
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
