"""The common base of providers that use a batch API."""

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
    """A model behind an API, queried through batches.

    Its identity is that of the same model without batches, so the two share responses. `state` is
    the folder of submissions; without it the model can be described but not queried.
    """

    state: Path | None = None
    pace = PollInterval()

    def check_options(self, requests: Sequence[Request]) -> None:
        """See `ChecksOptions.check_options`."""
        refuse_options(requests, self.name, "query it directly, with `batch: false`")

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """See `Provider.answer`. Returns when every batch has ended, which can take a day.

        If the process is killed, the next one with the same requests (or some of them) collects the
        running batches and submits only the rest.
        """
        self.check(requests)
        self.check_options(requests)
        key = read_key(self.model.key_env)
        if self.state is None:
            raise ModelError(f"model {self.name!r}: batches need a folder for their submissions")
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
        """Open a connection to the batch API."""


@contextmanager
def batch_clients(
    kind: type[Any], http: type[Any], model: ApiModel, key: SecretStr
) -> Iterator[tuple[Any, Any]]:
    """Return two clients of an SDK: one for requests, one for results, which are larger.

    Args:
        kind: The client class of the SDK.
        http: The HTTP client class of the SDK.
        model: The block with the address of the API.
        key: The API key.
    """
    make = client_maker(kind, http, model, key)
    make_large = client_maker(kind, http, model, key, MOST_RESULTS)
    with make() as client, make_large() as downloads:
        yield client, downloads
