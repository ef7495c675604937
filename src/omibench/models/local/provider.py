"""The base of providers that run a model in this process: one loaded engine, calls that fit."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Any, Generic, TypeVar

from omibench.models.local.checkpoint import LOADED, describe_load
from omibench.models.local.prompts import RejectedPromptError, SampleRun, cut_chunks
from omibench.models.provider import (
    NO_BUDGET,
    NO_FOLDERS,
    BaseProvider,
    Budget,
    Folders,
    Reservation,
    make_scored_response,
    refuse_options,
)
from omibench.params.models.providers import LocalModel
from omibench.schemas.request import Request, Response

L = TypeVar("L", bound=LocalModel)
E = TypeVar("E")
Answers = Iterable[tuple[SampleRun, Sequence[Response]]]
Scored = tuple[Request, dict[str, float]]
"""A request, and the log-probabilities (nats) of its options as the next token."""
AT_A_TIME = 256
"""Maximum requests that score options in one call to an engine."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of torch means that a batch exceeds the GPU's or machine's memory."""
    return type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error)


class LocalProvider(BaseProvider[L], Generic[L, E]):
    """A model run in this process. The engine is loaded on the first request.

    Subclasses load it (`load`), cut requests into calls (`cut_calls`) and make one (`respond`).
    """

    def __init__(self, name: str, model: L, folders: Folders = NO_FOLDERS) -> None:
        super().__init__(name, model, folders)
        self.batch_size: float = getattr(model, "batch_size", inf)
        """Rows per call; halved permanently if a call does not fit into memory."""

    @abstractmethod
    def load(self) -> E:
        """Load the engine. Raises ModelError if a package is missing or the load fails."""

    @abstractmethod
    def cut_calls(self, requests: Sequence[Request]) -> Iterable[list[SampleRun]]:
        """Cut requests that do not score options into the runs of each call."""

    @abstractmethod
    def respond(self, engine: E, runs: list[SampleRun]) -> list[list[Response]]:
        """Answer each run in one call.

        Raises RejectedPromptError if the engine rejects a prompt, RuntimeError if the call does not
        fit into memory.
        """

    def score_options(self, requests: Sequence[Request]) -> Iterable[Scored]:
        """Return the log-probability of each request's options as the next token, in any order.

        They are in nats, normalised over the whole vocabulary, before any temperature. Each option
        must be one token. Raises ModelError if the model cannot score options.
        """
        refuse_options(requests, self.name, "use a model that generates text")
        return ()

    def has_room(self, engine: E) -> bool:
        """Return whether the loaded engine suffices for the requests."""
        return True

    def open_engine(self) -> E:
        """Return the engine, loaded on demand.

        Models that differ only in options of calls (`thinking`) share it.
        """
        key = (self.model.provider, describe_load(self.model))
        with LOADED.lock:
            engine: E | None = LOADED.get(key)
            if engine is None or not self.has_room(engine):
                engine = LOADED.replace(key, self.load)
            return engine

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield each request with its response, call by call; options are scored first.

        A prompt that the engine rejects, or that does not fit into memory alone, is a
        `provider_error`. Raises ModelError if the model cannot be loaded or crashes.
        """
        scoring = [SampleRun((request,)) for request in requests if request.options]
        chunks = cut_chunks(scoring, AT_A_TIME, lambda run: 1)
        yield from _answer_calls(chunks, budget, self._score)
        generating = [request for request in requests if not request.options]
        yield from _answer_calls(self.cut_calls(generating), budget, self._ask)

    def shrink(self, engine: Any, rows: int) -> None:
        """Halve the batch size after a call of `rows` that did not fit into memory."""
        self.batch_size = max(1, rows // 2)
        if engine.device != "cpu":
            engine.torch.cuda.empty_cache()

    def _score(self, runs: list[SampleRun]) -> Answers:
        scored = {id(run.requests[0]): run for run in runs}
        for request, logprobs in self.score_options([run.requests[0] for run in runs]):
            yield scored[id(request)], [make_scored_response(logprobs)]

    def _ask(self, runs: list[SampleRun]) -> Answers:
        with LOADED.lock:
            return self._ask_or_split(self.open_engine(), runs)

    def _ask_or_split(
        self, engine: E, runs: list[SampleRun]
    ) -> list[tuple[SampleRun, list[Response]]]:
        """Answer runs in one call; in halves if it is too large or one of its prompts rejected."""
        rows = sum(run.draws for run in runs)
        if rows <= self.batch_size:
            start = time.monotonic()
            try:
                responses = self.respond(engine, runs)
            except RejectedPromptError as error:
                if len(runs) == 1:
                    return _fail(runs, str(error))
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                if rows == 1:
                    return _fail(runs, f"out of memory on {getattr(engine, 'device', 'the GPU')}")
                self.shrink(engine, rows)
            else:
                latency_s = round(time.monotonic() - start, 3)
                timed = [[_add_latency(r, latency_s) for r in of_run] for of_run in responses]
                return list(zip(runs, timed, strict=True))
        if len(runs) > 1:
            parts = [runs[: len(runs) // 2], runs[len(runs) // 2 :]]
            return [pair for part in parts for pair in self._ask_or_split(engine, part)]
        halves = [self._ask_or_split(engine, [half]) for half in runs[0].halves()]
        return [(runs[0], [r for half in halves for _, answers in half for r in answers])]


def _fail(runs: Iterable[SampleRun], reason: str) -> list[tuple[SampleRun, list[Response]]]:
    failed = Response(text="", outcome="provider_error", error=reason)
    return [(run, [failed] * len(run.requests)) for run in runs]


def _add_latency(response: Response, latency_s: float) -> Response:
    """Add the time of a call to a response for which the engine ran."""
    if response.usage.input_tokens is None:
        return response
    return response.model_copy(update={"latency_s": latency_s})


def _answer_calls(
    chunks: Iterable[list[SampleRun]], budget: Budget, ask: Callable[[list[SampleRun]], Answers]
) -> Iterator[tuple[Request, Response]]:
    """Answer runs call by call; from the end of the budget on, they are `budget_stop`.

    `ask` answers the runs of one call, in any order, one response per request. Engines do not
    report the cost of scoring options, so the worst case of each stays spent.
    """
    stopped = False
    for chunk in chunks:
        reservations: dict[int, Reservation] = {}
        for run in chunk:
            reservation = None if stopped else budget.reserve(run.requests)
            if stopped := reservation is None:
                break
            reservations[id(run)] = reservation
        admitted = chunk[: len(reservations)]
        try:
            for run, responses in ask(admitted) if admitted else ():
                cost = None if run.requests[0].options else sum(r.cost_usd or 0 for r in responses)
                budget.settle(reservations.pop(id(run)), cost)
                yield from zip(run.requests, responses, strict=True)
        finally:
            for reservation in reservations.values():
                budget.release(reservation)
        for run in chunk[len(admitted) :]:
            for request in run.requests:
                yield request, Response(text="", outcome="budget_stop")
