"""An event loop whose clock jumps, a scripted endpoint and a budget that keeps its books."""

from __future__ import annotations

import asyncio
import selectors
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from tests.asks import ask

from omibench.models.api.failures import Failure, Outage, PendingCall
from omibench.models.api.scheduler import Dispatch, Sent
from omibench.models.provider import NO_BUDGET, Budget, Reservation
from omibench.params.models.base import Limits
from omibench.schemas.request import Request, Response

T = TypeVar("T")


class _Jump(selectors.DefaultSelector):
    """Does not wait: the clock goes forward instead."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise AssertionError("everything waits for ever")
        self.now += max(0.0, timeout)
        return super().select(0)


def simulate(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end in simulated time, from second 0 on."""
    selector = _Jump()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(main)


def request(i: int, index: int = 0) -> Request:
    return ask(f"Question {i}", index=index, problem=str(i))


class Books:
    """A budget that remembers what became of each reservation."""

    def __init__(self, dollars: float = float("inf"), worst: float = 1.0) -> None:
        self.left, self.worst = dollars, worst
        self.open: set[int] = set()
        self.ends: Counter[str] = Counter()
        self._count = 0

    def reserve(self, requests: Sequence[Request]) -> Reservation | None:
        if self.left < self.worst - 1e-9:
            return None
        self.left -= self.worst
        self._count += 1
        self.open.add(self._count)
        return Reservation(self._count, self.worst)

    def settle(
        self, ticket: Reservation, cost_usd: float | None, reason: str | None = None
    ) -> None:
        self.open.remove(ticket.id)
        self.ends["unknown" if cost_usd is None else "paid"] += 1
        self.left += 0.0 if cost_usd is None else self.worst - cost_usd

    def release(self, ticket: Reservation) -> None:
        self.open.remove(ticket.id)
        self.ends["given back"] += 1
        self.left += self.worst


Step = Failure | str | float
"""What an attempt meets: a failure, an answer's text, or seconds until the next step."""


class Endpoint:
    """Meets each request with its script, step by step, then with "ok"; notes when."""

    def __init__(self, script: Callable[[int, int], Sequence[Step]] | None = None) -> None:
        self.script = script or (lambda problem, attempt: ["ok"])
        self.seen: list[tuple[float, int]] = []
        self.running = self.peak = 0
        self._attempts: Counter[int] = Counter()

    async def send(self, requests: Sequence[Request]) -> Sent:
        problem = int(requests[0].tags.problem)
        attempt = self._attempts[problem]
        self._attempts[problem] += 1
        self.seen.append((asyncio.get_running_loop().time(), problem))
        self.running += 1
        self.peak = max(self.peak, self.running)
        try:
            for step in self.script(problem, attempt):
                if isinstance(step, Failure):
                    raise step
                if isinstance(step, str):
                    answers = [Response(text=step, cost_usd=0.25) for _ in requests]
                    return Sent(answers, 0.25, 100)
                await asyncio.sleep(step)
        finally:
            self.running -= 1
        raise AssertionError("the script has no end")


class Outcome:
    """A finished run."""

    def __init__(self) -> None:
        self.got: dict[str, Response] = {}
        self.order: list[str] = []
        self.seconds = 0.0

    @property
    def outcomes(self) -> Counter[str]:
        return Counter(response.outcome for response in self.got.values())


async def serve(
    endpoint: Endpoint,
    jobs: int | Sequence[PendingCall],
    outcome: Outcome,
    budget: Budget = NO_BUDGET,
    known: int = 0,
    outage: Outage | None = None,
    **limits: Any,
) -> None:
    """Send all jobs in the loop's time, each answer written at once; `known` came before them."""
    calls = [PendingCall((request(i),)) for i in range(jobs)] if isinstance(jobs, int) else jobs
    loop, begun = asyncio.get_running_loop(), len(outcome.order)

    def deliver(asked: Request, response: Response) -> None:
        name = f"{asked.tags.problem}/{asked.index}"
        assert name not in outcome.order[begun:] or outage, "delivered twice"
        outcome.got[name] = response
        outcome.order.append(name)
        loop.call_soon(dispatch.note_written)

    dispatch = Dispatch(calls, Limits(**limits), budget, deliver, loop.time, known, outage)
    await dispatch.run(endpoint.send)
    outcome.seconds = loop.time()


def run(
    endpoint: Endpoint, jobs: int | Sequence[PendingCall], budget: Budget = NO_BUDGET, **more: Any
) -> Outcome:
    """Send all jobs in simulated time."""
    outcome = Outcome()
    simulate(serve(endpoint, jobs, outcome, budget, **more))
    return outcome


def busy(retry_after_s: float | None = None) -> Failure:
    return Failure(
        "HTTP 429", 429, transient=True, maybe_paid=False, congestion=True,
        retry_after_s=retry_after_s,
    )  # fmt: skip
