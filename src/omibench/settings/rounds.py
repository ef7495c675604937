"""Rounds: all samples of all questions take the steps of their setting together.

A round sends the next step of all threads at once, so that a provider sees many requests, and each
caption or transcript that several samples share is requested once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from omibench.schemas.request import Request, Response, Tags
from omibench.settings.steps import Ask, Step, Task, next_step

Asking = Callable[[str, Sequence[Request]], Sequence[tuple[str, Response]]]
"""(model, requests) -> the key and the response of each."""


class Thread(NamedTuple):
    """One sample of one question; `first` is its first step if that is already known."""

    task: Task
    sample: int
    first: Step | None = None


class Exchange(NamedTuple):
    """One request of a thread and its response."""

    model: str
    request: Request
    key: str
    response: Response


ThreadHistory = list[tuple[Exchange, ...]]
"""The requests and responses of a thread, step by step."""


class Answered(NamedTuple):
    """A finished thread: all its requests, step by step. The last answers the question.

    A thread whose last step is not the respondent's ended early, because a required request failed.
    """

    thread: Thread
    steps: ThreadHistory

    @property
    def last(self) -> Exchange:
        """The last request: the respondent's, or the first one without an answer."""
        step = self.steps[-1]
        return next((a for a in step if a.response.outcome != "answered"), step[-1])


def run_threads(
    threads: Sequence[Thread], model: str, setting: str, study: str, ask: Asking
) -> list[Answered]:
    """Run every thread to its end, in the order of `threads`.

    A thread ends if its captioner, reader or earlier turn has no answer. Raises what `ask` raises.
    """
    histories: list[ThreadHistory] = [[] for _ in threads]
    going = list(range(len(threads)))
    while going:
        requests = [
            (n, r) for n in going for r in requests_next(threads[n], histories[n], setting, study)
        ]
        if not requests:
            break
        answers = _round([(helper or model, request) for _, (helper, request) in requests], ask)
        pairs = zip((n for n, _ in requests), answers, strict=True)
        for n, step in groupby(pairs, key=lambda pair: pair[0]):
            histories[n].append(tuple(answer for _, answer in step))
        going = [n for n, _ in groupby(n for n, _ in requests) if _can_continue(histories[n])]
    return [
        Answered(thread, steps) for thread, steps in zip(threads, histories, strict=True) if steps
    ]


def requests_next(
    thread: Thread, history: ThreadHistory, setting: str, study: str
) -> Iterator[tuple[str | None, Request]]:
    """Return the requests of a thread's next step, each with its helper, if any."""
    step = None if history else thread.first
    if step is None:
        step = next_step(thread.task, [[a.response for a in earlier] for earlier in history])
    for ask in step:
        yield ask.model, _request(ask, thread, setting, study)


def _request(ask: Ask, thread: Thread, setting: str, study: str) -> Request:
    # A helper's answer is the same under every setting, so its tags contain no setting.
    named = setting if ask.role == "respondent" else ""
    return Request(
        conversation=ask.conversation,
        decoding=ask.decoding,
        index=0 if ask.shared else thread.sample,
        tags=Tags(role=ask.role, problem=thread.task.question.id, study=study, setting=named),
    )


def _round(pairs: Sequence[tuple[str, Request]], ask: Asking) -> list[Exchange]:
    exchanges: dict[int, Exchange] = {}
    for model in dict.fromkeys(model for model, _ in pairs):
        places = [n for n, (recipient, _) in enumerate(pairs) if recipient == model]
        requests = [pairs[n][1] for n in places]
        for n, request, (key, response) in zip(places, requests, ask(model, requests), strict=True):
            exchanges[n] = Exchange(model, request, key, response)
    return [exchanges[n] for n in range(len(pairs))]


def _can_continue(history: ThreadHistory) -> bool:
    return all(exchange.response.outcome == "answered" for exchange in history[-1])
