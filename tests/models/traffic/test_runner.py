"""The loop in its thread: answers as they come, and a quick and tidy end."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import pytest
from tests.models.traffic.simulated import Books, request

from model_server.handle import wait_until
from omibench.models.api.failures import PendingCall
from omibench.models.api.scheduler import Answer, Send, Sent, run_calls
from omibench.models.provider import NO_BUDGET, Budget
from omibench.params.models.base import Limits
from omibench.schemas.request import Request, Response


class Line:
    """A connection that answers after so many seconds; it knows whether it was closed."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.closed = False
        self.sent = 0
        self.threads: set[str] = set()

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Send]:
        async def send(requests: Sequence[Request]) -> Sent:
            self.sent += 1
            self.threads.add(threading.current_thread().name)
            slow = int(requests[0].tags.problem) >= 5
            await asyncio.sleep(self.seconds if slow else 0)
            return Sent([Response(text="ok")], 0.1, 10)

        try:
            yield send
        finally:
            self.closed = True


def start(line: Line, count: int, budget: Budget = NO_BUDGET) -> Iterator[Answer]:
    calls = [PendingCall((request(i),)) for i in range(count)]
    return run_calls(calls, line.connect, Limits(concurrency=4), budget)


def test_answers_come_as_they_finish() -> None:
    line = Line(0.01)
    got = [asked.tags.problem for asked, _ in start(line, 50)]
    assert sorted(got, key=int) == [str(i) for i in range(50)]
    assert line.closed
    assert threading.current_thread().name not in line.threads
    assert list(start(Line(), 0)) == []


def test_a_consumer_that_writes_slowly_holds_no_more_than_the_limit() -> None:
    line = Line()
    answers = start(line, 30)
    next(answers)
    time.sleep(0.2)
    assert line.sent <= 4
    assert len(list(answers)) == 29


def test_closing_cancels_what_is_in_flight() -> None:
    line, books = Line(3600), Books()
    answers = start(line, 20, books)
    for _ in range(5):
        next(answers)
    wait_until(lambda: line.sent == 8)
    answers.close()  # type: ignore[attr-defined]
    assert line.closed, "what takes an hour was waited for"
    assert not books.open
    assert books.ends == {"paid": 5, "unknown": 3}, "the fifth still holds its place"


def test_ctrl_c_keeps_what_has_come_in() -> None:
    line, books, got = Line(3600), Books(), list[Answer]()
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    reader = threading.get_ident()

    def strike() -> None:
        wait_until(lambda: line.sent == 9)  # five are answered and four in flight
        signal.pthread_kill(reader, signal.SIGINT)

    thread = threading.Thread(target=strike)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            got.extend(start(line, 20, books))
    finally:
        thread.join()
        signal.signal(signal.SIGINT, handler)
    assert len(got) == 5
    assert books.ends == {"paid": 5, "unknown": 4}
    assert line.closed


def test_an_error_of_the_connection_is_raised() -> None:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Send]:
        raise RuntimeError("no such library")
        yield  # pragma: no cover

    with pytest.raises(RuntimeError, match="no such library"):
        list(run_calls([PendingCall((request(0),))], connect, Limits(), NO_BUDGET))
