"""SIGINT and SIGTERM: nothing more is sent, what is in flight is waited for and kept."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from tests.integration.killed_runs import IN_FLIGHT, Runs, paid

from model_server.handle import ServerHandle, wait_until
from omibench.store.ledger import Ledger

PRICE = {"input": 2.0, "output": 10.0, "as_of": "2026-11-21"}
STOPPED = "omibench: stopped; run the same command again to continue"


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"latency_s": 0.4, "latency_sigma": 0.5, "answer_chars": 500}


def begun(server: ServerHandle, runs: Runs, delivered: int = 2 * IN_FLIGHT) -> Popen[str]:
    """A run that has had so many answers and has as many in flight as it may."""
    process = runs.start()
    wait_until(lambda: server.stats(contents=False)["delivered"] >= delivered, 60)
    wait_until(lambda: server.stats(contents=False)["concurrent"] == IN_FLIGHT, 20)
    return process


def asked(server: ServerHandle) -> int:
    found: int = server.stats(contents=False)["requests"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143)],
)
def test_a_signal_sends_nothing_more_and_loses_nothing_in_flight(
    number: signal.Signals, code: int, server: ServerHandle, tmp_path: Path
) -> None:
    runs = Runs(server, tmp_path, 100)
    runs.model["price"], runs.named["budget_usd"] = PRICE, 50.0
    process = begun(server, runs)
    before = asked(server)
    process.send_signal(number)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == code, said
    assert said.splitlines()[-1] == STOPPED
    assert "Traceback" not in said
    # What was asked between our look and the signal is in flight like the others.
    assert asked(server) - before <= IN_FLIGHT
    kept = runs.kept()
    assert 2 * IN_FLIGHT < len(kept) < runs.size
    assert paid(server).total() == len(kept), "what was paid in flight was lost"
    with Ledger(tmp_path / "store") as ledger:
        spending = ledger.spending("killed")
    assert (spending.reserved, spending.unknown) == (0.0, 0.0)
    assert runs.finish().height == runs.size
    assert kept.items() <= runs.kept().items()
    assert paid(server).total() == runs.size, "something was bought twice"


@pytest.mark.slow
def test_the_wait_for_what_is_in_flight_ends(server: ServerHandle, tmp_path: Path) -> None:
    runs = Runs(server, tmp_path, 100)
    runs.model["limits"]["drain_s"] = 0.5
    process = begun(server, runs)
    server.configure(latency_s=60.0, latency_sigma=0.0)
    wait_until(lambda: len(runs.kept()) == server.stats(contents=False)["delivered"], 20)
    time.sleep(2.0)  # all that is in flight hangs now
    kept = len(runs.kept())
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 143
    assert time.monotonic() - began < 8
    assert len(runs.kept()) == kept


@pytest.mark.slow
def test_a_second_ctrl_c_ends_the_wait_and_keeps_what_was_written(
    server: ServerHandle, tmp_path: Path
) -> None:
    runs = Runs(server, tmp_path, 100)
    runs.model["limits"]["drain_s"] = 600
    process = begun(server, runs)
    server.configure(latency_s=60.0, latency_sigma=0.0)
    time.sleep(2.0)
    kept = runs.kept()
    process.send_signal(signal.SIGINT)
    time.sleep(1.3)
    assert process.poll() is None, "the first Ctrl-C waits for what is in flight"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[1]
    assert time.monotonic() - began < 5
    assert process.returncode == 130
    assert said.splitlines()[-1] == STOPPED
    assert runs.kept() == kept
    server.configure(latency_s=0.01)
    assert runs.finish().height == runs.size
    assert kept.items() <= runs.kept().items()
