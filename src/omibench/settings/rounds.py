"""Rounds: all samples of all questions take the steps of their setting together.

A round sends the next step of all tasks at once, so that a provider sees many requests, and each
caption or transcript that several samples share is requested once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from omibench.schemas.request import Request, Response, Tags
from omibench.settings.steps import Task, next_step

Asking = Callable[[str, Sequence[Request]], Sequence[tuple[str, Response]]]
"""(model, requests) -> the key and the response of each."""


class Exchange(NamedTuple):
    """One request of a task and its response."""

    model: str
    request: Request
    key: str
    response: Response


TaskHistory = list[tuple[Exchange, ...]]
"""The requests and responses of a task, step by step."""


class AnsweredTask(NamedTuple):
    """A finished task: all its requests, step by step. The last answers the question.

    A task whose last step is not the respondent's ended early, because a required request failed.
    """

    task: Task
    steps: TaskHistory

    @property
    def last(self) -> Exchange:
        """The last request: the respondent's, or the first one without an answer."""
        step = self.steps[-1]
        return next((a for a in step if a.response.outcome != "answered"), step[-1])


def run_tasks(
    tasks: Sequence[Task], model: str, setting: str, study: str, ask: Asking
) -> list[AnsweredTask]:
    """Run every task to its end, in the order of `tasks`.

    A task ends if its captioner, reader or earlier turn has no answer. Raises what `ask` raises.
    """
    histories: list[TaskHistory] = [[] for _ in tasks]
    going = list(range(len(tasks)))
    while going:
        requests = [
            (n, helper or model, request)
            for n in going
            for helper, request in requests_next(tasks[n], histories[n], setting, study)
        ]
        exchanges: dict[int, Exchange] = {}
        for recipient in dict.fromkeys(recipient for _, recipient, _ in requests):
            places = [i for i, (_, to, _) in enumerate(requests) if to == recipient]
            batch = [requests[i][2] for i in places]
            for i, request, (key, response) in zip(
                places, batch, ask(recipient, batch), strict=True
            ):
                exchanges[i] = Exchange(recipient, request, key, response)
        going = []
        for n, places_of_step in groupby(range(len(requests)), key=lambda i: requests[i][0]):
            step = tuple(exchanges[i] for i in places_of_step)
            histories[n].append(step)
            if all(exchange.response.outcome == "answered" for exchange in step):
                going.append(n)
    return [
        AnsweredTask(task, steps) for task, steps in zip(tasks, histories, strict=True) if steps
    ]


def requests_next(
    task: Task, history: TaskHistory, setting: str, study: str
) -> Iterator[tuple[str | None, Request]]:
    """Return the requests of a task's next step, each with its helper, if any."""
    step = None if history else task.first
    if step is None:
        step = next_step(task, [[a.response for a in earlier] for earlier in history])
    for ask in step:
        # A helper's answer is the same under every setting, so its tags contain no setting.
        named = setting if ask.role == "respondent" else ""
        yield (
            ask.model,
            Request(
                conversation=ask.conversation,
                decoding=ask.decoding,
                index=0 if ask.shared else task.sample,
                tags=Tags(role=ask.role, problem=task.question.id, study=study, setting=named),
            ),
        )
