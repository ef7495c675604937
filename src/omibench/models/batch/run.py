"""One run through a batch API: waits for the running batches and submits the remaining requests."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from omibench.errors import ModelError
from omibench.models.batch.api import BatchApi, BatchStatus
from omibench.models.batch.chunk import Answer
from omibench.models.batch.collect import Collector, Cost, make_failed_response
from omibench.models.batch.submission import Submission
from omibench.models.batch.submission_folder import SubmissionFolder
from omibench.models.batch.submit import MAYBE_MADE, PollInterval, Submitter, describe_rejection
from omibench.models.provider import Budget
from omibench.models.traffic.failure import Failure
from omibench.models.traffic.progress import Progress
from omibench.models.traffic.stop import pause
from omibench.params.models.base import Limits
from omibench.schemas.request import Request, Response
from omibench.text.masking import mask

log = logging.getLogger("omibench")
Ended = tuple[Submission, BatchStatus | Failure]
"""A submission with its outcome, or the reason that the outcome is unknown."""


class BatchRun:
    """Run the requests of one `answer` call of a provider."""

    def __init__(  # noqa: PLR0913, PLR0917 (what a run needs, each of another kind)
        self,
        api: BatchApi,
        folder: SubmissionFolder,
        budget: Budget,
        draw: Callable[[Request], str],
        cost: Cost,
        limits: Limits,
        pace: PollInterval,
        stored_answers: int = 0,
    ) -> None:
        self.api, self.folder = api, folder
        self._draw, self._limits, self._pace = draw, limits, pace
        self._submitter = Submitter(api, folder, budget, draw, limits, pace)
        self._collector = Collector(api, folder, budget, limits, cost, stored_answers)
        self._crowded = 0
        self._left: dict[str, list[Request]] = {}
        self.progress = Progress()

    def answers(
        self, requests: Sequence[Request], jobs: Callable[[list[Request]], list[Sequence[Request]]]
    ) -> Iterator[Answer]:
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

    def _submit(
        self, jobs: Callable[[list[Request]], list[Sequence[Request]]]
    ) -> tuple[list[Answer], list[Submission]]:
        """Submit the requests of no batch yet: the failed ones, and the submissions to await."""
        with self.folder.lock():
            self.folder.sweep()
            self._submitter.recover()
            answers: list[Answer] = []
            out: set[str] = set()
            for submission in self._list_submissions():
                if submission.batch is None and not submission.maybe:
                    try:
                        if self._submitter.resolve(submission) is None:
                            continue
                    except Failure as failure:
                        answers += self._fail_requests(
                            submission, f"{MAYBE_MADE}: {failure.message}"
                        )
                out |= submission.draws
            fresh = [requests[0] for draw, requests in self._left.items() if draw not in out]
            answers += self._submitter.submit(jobs(fresh))
            waiting = [s for s in self._list_submissions() if s.batch is not None or s.maybe]
        return answers, waiting

    def _list_submissions(self) -> list[Submission]:
        """Return the submissions with at least one of the requests."""
        return [s for s in self.folder.submissions() if not s.draws.isdisjoint(self._left)]

    def _await_ends(self, out: list[Submission]) -> Iterator[Ended]:
        """Yield each submission when it has ended, or when its outcome cannot be determined."""
        failed: dict[str, int] = {}
        wait = self._pace.first_s
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
                    wait = self._pace.first_s
                    yield ended
            if out:
                self.progress.in_flight = sum(len(s.lines) for s in out)
                pause(wait)
                wait = min(wait * self._pace.growth, self._pace.most_s)

    def _look(self, submission: Submission) -> Ended | None:
        """Poll a batch; None while it runs. Of several candidates, the one that matches."""
        if submission.batch is not None:
            status = self.api.status(submission.batch)
            return (submission, status) if status.ended else None
        for batch in submission.maybe:
            status = self._poll_candidate(batch)
            if not status.ended:
                return None
            if self._collector.is_same_batch(submission, status):
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
                self._submitter.forget(submission)
            if self._prepare_retry(submission, cause):
                return
        else:
            try:
                for draw, response in self._collector.collect(submission, status):
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
            self._submitter.most_lines = max(1, len(submission.lines) // 2)
            wait = self._pace.first_s * self._pace.growth**self._crowded
            pause(min(wait, self._pace.most_s))
        return True

    def _give(self, draw: str, response: Response) -> Iterator[Answer]:
        for request in self._left.pop(draw, []):
            self.progress.finished += 1
            self.progress.failed += response.outcome in ("provider_error", "budget_stop")
            self.progress.cost_usd += response.cost_usd or 0.0
            yield request, response

    def _fail_requests(self, submission: Submission, reason: str) -> list[Answer]:
        response = make_failed_response(Failure(reason))
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
        return describe_rejection(failure)
