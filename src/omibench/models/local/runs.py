"""Requests for local engines: samples of one conversation together, each with its seed.

A sample's seed is derived from the content of its request and its index, so a sample does not
depend on the other requests, and k=8 continues the samples of k=4.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

from omibench.models.options import OptionScores, make_scored_response
from omibench.models.provider import Budget, Reservation
from omibench.schemas.request import Conversation, Decoding, Request, Response, TextPart

Weighed = TypeVar("Weighed")


class SampleRun(NamedTuple):
    """Samples of one conversation under one decoding, with consecutive indices."""

    requests: tuple[Request, ...]

    @property
    def conversation(self) -> Conversation:
        """The conversation of the run."""
        return self.requests[0].conversation

    @property
    def decoding(self) -> Decoding:
        """The decoding of the run."""
        return self.requests[0].decoding

    @property
    def draws(self) -> int:
        """Number of samples to draw: one if decoding is greedy, since all would be equal."""
        return 1 if self.decoding.temperature == 0 else len(self.requests)

    def halves(self) -> tuple[SampleRun, SampleRun]:
        """Cut the run in two; it must contain several requests."""
        middle = len(self.requests) // 2
        return SampleRun(self.requests[:middle]), SampleRun(self.requests[middle:])


def group_runs(requests: Iterable[Request], limit: int | None = None) -> list[SampleRun]:
    """Group requests into runs of at most `limit` draws, in the order of their first requests."""
    groups: dict[tuple[object, ...], list[Request]] = {}
    for request in requests:
        decoding = request.decoding
        key = (request.conversation, decoding.temperature, decoding.top_p, decoding.max_tokens)
        groups.setdefault(key, []).append(request)
    return [run for group in groups.values() for run in _cut(group, limit)]


def _cut(group: list[Request], limit: int | None) -> Iterator[SampleRun]:
    if group[0].decoding.temperature == 0:
        yield SampleRun(tuple(group))
        return
    group = sorted(group, key=lambda request: request.index)
    start = 0
    for end, (previous, following) in enumerate(pairwise(group), start=1):
        if following.index != previous.index + 1 or end - start == limit:
            yield SampleRun(tuple(group[start:end]))
            start = end
    yield SampleRun(tuple(group[start:]))


def derive_seed(run: SampleRun, model_seed: int) -> int:
    """Return the seed of a run's first sample, below 2^49; the next take the next integers.

    The length limit does not count: a sample under a larger limit begins with the same text.
    """
    messages = [
        [
            m.role,
            [[p.text] if isinstance(p, TextPart) else [p.content_key, "image"] for p in m.parts],
        ]
        for m in run.conversation.messages
    ]
    text = json.dumps([model_seed, run.decoding.temperature, run.decoding.top_p, messages])
    digest = hashlib.blake2b(text.encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") + run.requests[0].index


def cut_chunks(
    runs: Iterable[Weighed], limit: float, weight: Callable[[Weighed], float]
) -> Iterator[list[Weighed]]:
    """Cut runs into chunks with a total weight of at most `limit`, but at least one run each."""
    chunk: list[Weighed] = []
    total = 0.0
    for run in runs:
        size = weight(run)
        if chunk and total + size > limit:
            yield chunk
            chunk, total = [], 0.0
        chunk.append(run)
        total += size
    if chunk:
        yield chunk


Answers = Iterable[tuple[SampleRun, Sequence[Response]]]
AT_A_TIME = 256
"""Maximum requests that score options in one call to an engine."""


def answer_options(
    requests: Sequence[Request],
    budget: Budget,
    score: Callable[[Sequence[Request], Sequence[Sequence[str]]], Iterable[OptionScores]],
) -> Iterator[tuple[Request, Response]]:
    """Score the requests' options; requests beyond the budget are `budget_stop`.

    Engines do not report the cost of scoring, so the worst case of each stays spent.
    """
    for start in range(0, len(requests), AT_A_TIME):
        part = requests[start : start + AT_A_TIME]
        reservations = {
            id(r): reservation for r in part if (reservation := budget.reserve([r])) is not None
        }
        admitted = [r for r in part if id(r) in reservations]
        try:
            for scores in score(admitted, [r.options for r in admitted]) if admitted else ():
                budget.settle(reservations.pop(id(scores.request)), None)
                yield scores.request, make_scored_response(scores.logprobs)
        finally:
            for reservation in reservations.values():
                budget.release(reservation)
        sent = {id(r) for r in admitted}
        for request in part:
            if id(request) not in sent:
                yield request, Response(text="", outcome="budget_stop")


def answer_runs(
    chunks: Iterable[list[SampleRun]], budget: Budget, ask: Callable[[list[SampleRun]], Answers]
) -> Iterator[tuple[Request, Response]]:
    """Answer runs chunk by chunk; from the end of the budget on, they are `budget_stop`.

    `ask` answers the runs of one chunk, in any order, one response per request.
    """
    stopped = False
    for chunk in chunks:
        reservations: dict[int, Reservation] = {}
        admitted: list[SampleRun] = []
        for run in chunk:
            reservation = None if stopped else budget.reserve(run.requests)
            if reservation is None:
                stopped = True
                break
            reservations[id(run)] = reservation
            admitted.append(run)
        try:
            for run, responses in ask(admitted) if admitted else ():
                budget.settle(reservations.pop(id(run)), sum(r.cost_usd or 0.0 for r in responses))
                yield from zip(run.requests, responses, strict=True)
        finally:
            for reservation in reservations.values():
                budget.release(reservation)
        for run in chunk[len(admitted) :]:
            for request in run.requests:
                yield request, Response(text="", outcome="budget_stop")
