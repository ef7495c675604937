"""Stopping on SIGINT, SIGTERM and SIGHUP while requests in flight may be billed.

A signal handler can interrupt anything, including a lock that it needs. So it only notes the signal
and wakes a thread, which stops every sender (`stoppable`). Requests of the
interrupted thread continue until their answers have arrived; then it raises.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ECHO_S = 1.0
"""A Ctrl-C this soon after the first signal is the same one, received twice."""
WIND_UP_S = 5.0
"""Seconds that the rest has to end when no request is in flight; then the process is killed."""

STOPPED = "stopped; run the same command again to continue"

Stop = Callable[[bool], object]
"""Called with False: stop sending and wait for calls in flight. With True: do not wait."""


class StopSignal(KeyboardInterrupt):
    """The signal `number` stopped the process. Not an Exception, so no handler catches it.

    `code` is the exit code of such a process, as shells count it.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.number = number

    @property
    def code(self) -> int:
        """130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP."""
        return 128 + self.number


class _State:
    """State of this process. A signal handler only reads it and sets plain fields."""

    def __init__(self) -> None:
        self.owner = 0
        """The process that watches; its forks do not."""
        self.depth = 0
        self.whole_program = False
        self.number: int | None = None
        self.at = 0.0
        self.hurried = False
        self.out: dict[object, Stop] = {}
        self.requested = threading.Event()
        self.pipe = -1


class _Now:
    """Holds the state of the outermost `signals_watched`, or a constant one."""

    state = _State()


def stop_requested() -> int | None:
    """Return the number of the signal that stops this process, or None."""
    state = _Now.state
    return state.number if state.owner == os.getpid() else None


def check_stop() -> None:
    """Raise StopSignal if the process received a stop signal."""
    if (number := stop_requested()) is not None:
        raise StopSignal(number)


def pause(seconds: float) -> None:
    """Sleep, but raise StopSignal as soon as the process receives a stop signal."""
    _Now.state.requested.wait(seconds)
    check_stop()


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    """Mark a block with requests in flight: a signal calls `stop` and does not interrupt it.

    `stop` is called in another thread; the block must then end, and StopSignal is raised after it.
    It is raised immediately if the process received a stop signal before.
    """
    key, out = object(), _Now.state.out
    out[key] = stop
    try:
        check_stop()
        yield
    finally:
        out.pop(key, None)
    check_stop()


@contextmanager
def signals_watched(*, whole_program: bool = False) -> Iterator[None]:
    """Let `SIGNALS` stop this process cleanly during the block, except those it ignores.

    Without requests in flight, StopSignal is raised in the main thread. Otherwise they end first,
    and then it is raised; a second SIGINT ends the wait. If a block takes `WIND_UP_S` longer, the
    process is killed, as it also is if the block is the `whole_program`. Outside the main thread,
    nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    outermost = _Now.state.depth == 0 or _Now.state.owner != os.getpid()
    if outermost:
        _begin(whole_program)
    state = _Now.state
    state.depth += 1
    heeded = [n for n in SIGNALS if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _on_signal) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        state.depth -= 1
        if outermost:
            pipe, state.pipe = state.pipe, -1
            os.close(pipe)


def say_safely(line: str) -> None:
    """Write a line to standard error without blocking on a broken pipe or an interrupted writer."""
    with suppress(OSError):
        os.write(2, f"omibench: {line}\n".encode("utf-8", "replace"))


def _begin(whole_program: bool) -> None:
    state = _Now.state = _State()
    state.whole_program = whole_program
    state.owner = os.getpid()
    reader, state.pipe = os.pipe()
    os.set_blocking(state.pipe, False)
    threading.Thread(
        target=_conduct, args=(reader, state), name="omibench stop", daemon=True
    ).start()


def _on_signal(number: int, frame: FrameType | None) -> None:
    state, now = _Now.state, time.monotonic()
    if state.owner != os.getpid():
        raise StopSignal(number)
    first = state.number is None
    if first:
        state.number, state.at = number, now
    elif number == signal.SIGINT and now - state.at > ECHO_S:
        if state.hurried or not state.out:
            os._exit(128 + (state.number or number))
        state.hurried, state.at = True, now
    else:
        return
    waits = bool(state.out)
    with suppress(OSError):
        os.write(state.pipe, b"1")
    if first and not waits:
        raise StopSignal(number)


def _conduct(reader: int, state: _State) -> None:
    """Forward signals in a thread, and kill the process if it does not end by itself."""
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        while pipe.read(1):
            state.requested.set()
            out = list(state.out.values())
            if out and not state.hurried:
                say_safely(
                    "stopping: nothing more is sent; waiting for the requests in flight to keep "
                    "their answers"
                )
            for stop in out:
                with suppress(Exception):  # a sender that fails does not block the others
                    stop(state.hurried)
            if not state.hurried:
                threading.Thread(target=_end_late, args=(state,), daemon=True).start()


def _end_late(state: _State) -> None:
    late = 0.0
    while late < WIND_UP_S:
        time.sleep(0.1)
        if state.pipe == -1 and not state.whole_program:
            return
        late = 0.0 if state.out else late + 0.1
    say_safely(STOPPED)
    os._exit(128 + (state.number or signal.SIGINT))
