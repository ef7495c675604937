"""The models of the filter: opened, asked, and the result of a judgement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from omibench.answers.judges.panel import Judge
from omibench.models.client.ask import Asker, open_asker, refuse_unanswered
from omibench.schemas.curation import FilterJudgement
from omibench.schemas.problem import Problem, ProblemWarning
from omibench.schemas.request import NOT_BOUGHT, Request, Response

if TYPE_CHECKING:
    from omibench.params.study import Study


# The models of the filter, and the result of their judgement of a problem.


class CheckedProblem(NamedTuple):
    """One problem after a judgement: rejected if there is `evidence`, else `problem`."""

    problem: Problem
    judgements: Sequence[FilterJudgement]
    evidence: str | None = None


def simulated_note(judgements: Sequence[FilterJudgement]) -> str:
    """Return a note on simulated judges; empty without any."""
    names = dict.fromkeys(row.model for row in judgements if row.simulated)
    return f"; SIMULATED ({', '.join(names)})" if names else ""


def mark_simulated(problem: Problem, judgements: Sequence[FilterJudgement]) -> Problem:
    """Return the problem with a warning if any of its judges was simulated."""
    names = list(dict.fromkeys(row.model for row in judgements if row.simulated))
    if not names:
        return problem
    return problem.warn(ProblemWarning(judgements[0].judgement, simulated_by=tuple(names)))


# Models of the filter, used through the study's store within its budget.
#
# A judgement without a reply would be wrong, so missing replies stop the stage with one line.
# Completed replies are in the store, so that the next run requests only the rest.

Replies = list[tuple[str, Response]]
"""The key and the response of each request."""


class Models:
    """The models of a study, each opened on first use."""

    def __init__(self, study: Study, stack: ExitStack) -> None:
        self.study = study
        self._stack = stack
        self._askers: dict[str, Asker] = {}

    def ask(self, model: str, requests: Sequence[Request]) -> Replies:
        """Return the key and the response of each request, in order.

        Raises:
            ModelError: A request has no answer. PassingError if a retry may succeed.
        """
        replies = self._open(model).ask_with_keys(requests) if requests else []
        pairs = zip(requests, replies, strict=True)
        gaps = [(request, reply) for request, (_, reply) in pairs if reply.outcome in NOT_BOUGHT]
        refuse_unanswered("filter", model, len(requests), gaps)
        return replies

    def judge(self, model: str) -> Judge:
        """Return the model as a panel member."""

        def ask(requests: Sequence[Request]) -> list[Response]:
            return [response for _, response in self.ask(model, requests)]

        return Judge(model, ask, dict(self._open(model).provider.identity))

    def _open(self, model: str) -> Asker:
        if model not in self._askers:
            self._askers[model] = self._stack.enter_context(open_asker(self.study, model))
        return self._askers[model]


@contextmanager
def open_models(study: Study) -> Iterator[Models]:
    """Open the study's models; close them and the store afterwards."""
    with ExitStack() as stack:
        yield Models(study, stack)
