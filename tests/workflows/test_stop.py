"""A flow that is told to stop asks nothing more and keeps what is in flight."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.extras import require_extra
from tests.workflows_support import environment, study_folder, until

from model_server.handle import ServerHandle
from omibench.store.ledger import Ledger

require_extra("flows", "prefect")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
IN_FLIGHT = 8
PROBLEMS = 150


def by_terminal(flow: subprocess.Popen[str]) -> None:
    """Ctrl-C: Prefect's server, Snakemake and its jobs get it, too."""
    os.killpg(flow.pid, signal.SIGINT)


def by_supervisor(flow: subprocess.Popen[str]) -> None:
    """Nobody else is told."""
    flow.send_signal(signal.SIGTERM)


def responses(folder: Path) -> int:
    return sum(len(file.read_bytes().splitlines()) for file in folder.glob("store/*/*.jsonl"))


@pytest.mark.parametrize(
    ("stop", "code"), [(by_terminal, 130), pytest.param(by_supervisor, 143, marks=pytest.mark.long)]
)
def test_a_flow_stops_asking_and_keeps_what_is_in_flight(
    stop: Callable[[subprocess.Popen[str]], None], code: int,
    tmp_path: Path, root: Path, endpoint: ServerHandle,
) -> None:  # fmt: skip
    folder = study_folder(tmp_path / "study", root, endpoint.openai_url, problems=PROBLEMS)
    params = folder / "params.yaml"
    params.write_text(params.read_text().replace("name: kept", "name: kept\n  budget_usd: 20", 1))
    endpoint.configure(latency_s=0.5, latency_sigma=0.4)
    log = (tmp_path / "said.txt").open("w")
    with subprocess.Popen(
        [sys.executable, "-m", "workflows.evaluate", "--shard", "30"],
        cwd=folder, env=environment(tmp_path / "home"), stdin=subprocess.DEVNULL,
        stdout=log, stderr=log, text=True, start_new_session=True,
    ) as flow:  # fmt: skip

        def said() -> str:
            return (tmp_path / "said.txt").read_text()

        until(lambda: endpoint.stats(contents=False)["delivered"] >= 3 * IN_FLIGHT, 200, said)
        before = endpoint.stats(contents=False)["requests"]
        stop(flow)
        assert flow.wait(60) == code, said()
    until(lambda: endpoint.stats(contents=False)["concurrent"] == 0, 20)
    stats = endpoint.stats(contents=False)
    assert stats["requests"] - before <= IN_FLIGHT
    assert stats["paid"] == responses(folder), "what was paid in flight was lost"
    assert said().splitlines()[-1] == "omibench: stopped; run the same command again to continue"
    with Ledger(folder / "store") as ledger:
        spending = ledger.spending("kept")
    assert (spending.reserved, spending.unknown) == (0.0, 0.0)
