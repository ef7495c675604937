"""What providers that ask through a batch API share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from omibench.errors import ModelError
from omibench.models.batch.api import BatchApi
from omibench.models.batch.draws import name_draw
from omibench.models.batch.run import BatchRun
from omibench.models.batch.submission_folder import SubmissionFolder, locate_submissions
from omibench.models.batch.submit import PollInterval
from omibench.models.http.bounds import MOST_RESULTS
from omibench.models.http.remedies import Explaining, explain_failure
from omibench.models.http.secrets import read_key
from omibench.models.http.served import A, ServedProvider, client_maker
from omibench.models.options import refuse_options
from omibench.models.provider import NO_BUDGET, Budget
from omibench.params.models.base import ApiModel
from omibench.schemas.request import Request, Response


class BatchProvider(ServedProvider[A]):
    """A model behind an API, asked through its batches.

    Its answers are those of the same model asked directly, so its identity is the same. `state`
    is where submissions are noted; without it the model can be described and not asked.
    """

    state: Path | None = None
    pace = PollInterval()

    def check_options(self, requests: Sequence[Request]) -> None:
        """As `ChecksOptions.check_options`."""
        refuse_options(requests, self.name, "ask it directly, with `batch: false`")

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """As `Provider.answer`. Returns when every batch has ended, which may take a day.

        Whatever kills the process, the next one to ask the same requests, or some of them,
        collects the batches that are out and submits only the rest.
        """
        self.check(requests)
        self.check_options(requests)
        key = read_key(self.model.key_env)
        if self.state is None:
            raise ModelError(f"model {self.name!r}: batches need a folder to be noted in")
        folder, identity = (
            SubmissionFolder(locate_submissions(self.state, self.identity)),
            self.identity,
        )
        with self.connect_batches(key) as plain:
            api = Explaining(plain, lambda failure: explain_failure(failure, self.name, self.model))
            run = BatchRun(
                api,
                folder,
                budget,
                lambda request: name_draw(identity, request),
                lambda responses: self.summarize_call(responses).cost_usd,
                self.model.limits,
                self.pace,
                self.stored_answers,
            )
            self.progress = run.progress
            yield from run.answers(
                requests, lambda fresh: [job.requests for job in self.jobs(fresh)]
            )

    @abstractmethod
    def connect_batches(self, key: SecretStr) -> AbstractContextManager[BatchApi]:
        """A connection to the batch API."""


@contextmanager
def batch_clients(
    kind: type[Any], http: type[Any], model: ApiModel, key: SecretStr
) -> Iterator[tuple[Any, Any]]:
    """Two clients of an SDK: one for requests, one for results, which are larger than replies.

    Args:
        kind: The SDK's class of clients.
        http: The SDK's class of HTTP clients.
        model: The block that says where the API is.
        key: Its key.
    """
    make = client_maker(kind, http, model, key)
    make_large = client_maker(kind, http, model, key, MOST_RESULTS)
    with make() as client, make_large() as downloads:
        yield client, downloads
