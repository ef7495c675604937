"""What a signal does to a process: what is out ends first, what hangs is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from model_server.handle import wait_until
from omibench.models.api import stop
from omibench.models.api.stop import (
    StopSignal,
    check_stop,
    pause,
    signals_watched,
    stop_requested,
    stoppable,
)

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The watch must not end the process of the tests."""
    monkeypatch.setattr(stop, "WIND_UP_S", 600.0)
    yield
    with signals_watched():
        assert stop_requested() is None, "one watch knows of the signals of another"


@pytest.fixture(autouse=True)
def attentive() -> Iterator[None]:
    """Under nohup the tests ignore the hang-up signal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@BOTH
def test_a_process_with_nothing_out_stops_where_it_is(number: signal.Signals) -> None:
    with signals_watched(), pytest.raises(StopSignal) as found:
        signal.raise_signal(number)
    assert found.value.code == 128 + number
    assert isinstance(found.value, KeyboardInterrupt)


@BOTH
def test_what_is_out_ends_first(number: signal.Signals) -> None:
    seen: list[bool] = []
    steps: list[str] = []

    def work() -> None:
        with stoppable(seen.append):
            signal.raise_signal(number)
            steps.append("not interrupted")
            wait_until(lambda: seen == [False])
            steps.append("told to send no more")
        steps.append("never reached")

    with signals_watched(), pytest.raises(StopSignal):
        work()
    assert steps == ["not interrupted", "told to send no more"]


def test_nothing_more_is_begun() -> None:
    def work() -> None:
        with stoppable(lambda _: None):
            signal.raise_signal(signal.SIGTERM)
            with pytest.raises(StopSignal), stoppable(lambda _: None):
                raise AssertionError("something was begun")

    with signals_watched(), pytest.raises(StopSignal):
        work()


def test_a_pause_in_another_thread_ends() -> None:
    woken: list[int] = []

    def sleeper() -> None:
        try:
            pause(60)
        except StopSignal as told:
            woken.append(told.number)

    with signals_watched():
        thread = threading.Thread(target=sleeper)
        thread.start()
        with pytest.raises(StopSignal):
            signal.raise_signal(signal.SIGTERM)
        thread.join(10)
    assert woken == [signal.SIGTERM]


def test_a_second_ctrl_c_does_not_wait_and_its_echo_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[bool] = []

    def work() -> None:
        with stoppable(seen.append):
            for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
                signal.raise_signal(number)
            wait_until(lambda: seen == [False])
            monkeypatch.setattr(stop, "ECHO_S", 0.0)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.raise_signal(number)
            wait_until(lambda: seen == [False, True])

    with signals_watched(), pytest.raises(StopSignal):
        work()


def test_without_a_watch_python_does_as_it_does() -> None:
    check_stop()
    pause(0)
    with pytest.raises(KeyboardInterrupt) as found, stoppable(lambda _: None):
        signal.raise_signal(signal.SIGINT)
    assert not isinstance(found.value, StopSignal)


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals_watched():
            signal.raise_signal(signal.SIGHUP)
            check_stop()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_handlers_come_back() -> None:
    before = {number: signal.getsignal(number) for number in stop.SIGNALS}
    with signals_watched(), signals_watched():
        pass
    assert {number: signal.getsignal(number) for number in stop.SIGNALS} == before


HANGING = """
import threading, time
from omibench.models.api import stop
stop.WIND_UP_S = 0.3
with stop.signals_watched(whole_program=True):
    threading.Thread(target=time.sleep, args=(60,)).start()
    print("ready", flush=True)
    time.sleep(60)
"""


def test_what_does_not_end_is_ended_with_the_code_of_the_signal() -> None:
    command = [sys.executable, "-c", HANGING]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143


def test_a_copy_of_the_process_stops_by_itself() -> None:
    with signals_watched():
        child = os.fork()
        if child == 0:
            try:
                signal.raise_signal(signal.SIGTERM)
            except StopSignal as told:
                os._exit(told.code)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 143
        check_stop()
