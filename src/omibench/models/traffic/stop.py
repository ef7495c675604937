"""Stopping: what SIGINT, SIGTERM and SIGHUP do while requests are out that may be paid for.

A handler of signals may interrupt anything, also a lock that it would need. So it only notes the
signal and wakes a thread, which tells whoever is asking (`stoppable`) to send nothing more. What is
asked in the thread that was interrupted goes on until its answers are in, and raises then.
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
"""A Ctrl-C this soon after the first signal is the same one, which came by two ways."""
WIND_UP_S = 5.0
"""Seconds that all else may take to end once nothing is out; then the process is ended."""

STOPPED = "stopped; run the same command again to go on"

Stop = Callable[[bool], object]
"""Called with False: send no more, and wait a while for what is out. With True: do not wait."""


class StopSignal(KeyboardInterrupt):
    """The process was told to stop by the signal `number`. No error: nothing may handle it as one.

    `code` is the exit code of a process that ended so, as shells count it.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.number = number

    @property
    def code(self) -> int:
        """130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP."""
        return 128 + self.number


class _State:
    """Of this process. A handler only reads it and sets plain fields."""

    def __init__(self) -> None:
        self.owner = 0
        """The process that watches; a copy of it by fork does not."""
        self.depth = 0
        self.whole_program = False
        self.number: int | None = None
        self.at = 0.0
        self.hurried = False
        self.out: dict[object, Stop] = {}
        self.requested = threading.Event()
        self.pipe = -1


class _Now:
    """Holds the state of the outermost `signals_watched`, or one that nothing changes."""

    state = _State()


def stop_requested() -> int | None:
    """The number of the signal that told this process to stop; None when none did."""
    state = _Now.state
    return state.number if state.owner == os.getpid() else None


def check_stop() -> None:
    """Raise StopSignal when the process was told to stop."""
    if (number := stop_requested()) is not None:
        raise StopSignal(number)


def pause(seconds: float) -> None:
    """Sleep, but raise StopSignal as soon as the process is told to stop."""
    _Now.state.requested.wait(seconds)
    check_stop()


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    """While the block lasts, requests are out: a signal calls `stop` and interrupts nothing.

    `stop` is called in another thread; the block has to end then, and StopSignal is raised after
    it. It is raised at once when the process was told to stop before.
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
    """Let `SIGNALS` stop this process in order, while the block lasts; not those it ignores.

    With nothing out, StopSignal is raised where the program is. Else what is out ends first, and
    raises it; a second SIGINT ends the waiting. A block that lasts `WIND_UP_S` longer is ended with
    its process; so is the process itself where the block is the `whole_program`.
    Outside of the main thread, nothing is changed.
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


def say(line: str) -> None:
    """A line on standard error that no broken pipe and no interrupted writer can hold up."""
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
    """The thread that passes signals on, and ends what does not end by itself."""
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        while pipe.read(1):
            state.requested.set()
            out = list(state.out.values())
            if out and not state.hurried:
                say("stopping: nothing more is sent, what is out is waited for and kept")
            for stop in out:
                with suppress(Exception):  # one that cannot be told holds up no other
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
    say(STOPPED)
    os._exit(128 + (state.number or signal.SIGINT))
