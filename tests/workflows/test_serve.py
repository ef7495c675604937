"""`make serve`: a new model is evaluated on schedule and once; a killed worker costs nothing."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.extras import require_extra
from tests.workflows_support import (
    PROBLEMS,
    Served,
    healthy,
    study_folder,
    until,
)

from model_server.handle import ServerHandle
from omibench.store.ledger import Ledger, format_month

require_extra("flows", "prefect")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
EVERY_S = 15
IN_FLIGHT = 8


@pytest.fixture
def served(
    tmp_path: Path, root: Path, endpoint: ServerHandle, request: pytest.FixtureRequest
) -> Iterator[Served]:
    """Serving, with a look for new models every so many seconds (`request.param`) or never."""
    folder = study_folder(tmp_path / "study", root, endpoint.openai_url)
    plan = yaml.safe_load((folder / "prefect.yaml").read_text())
    for deployment in plan["deployments"]:
        if deployment["name"] == "keep":
            deployment["schedules"] = [{"interval": request.param}] if request.param else []
    (folder / "prefect.yaml").write_text(yaml.safe_dump(plan))
    (tmp_path / "home").mkdir()
    running = Served(folder, tmp_path / "home", sys.executable, "-m", "workflows.serve")
    try:
        yield running
    finally:
        running.end()


@pytest.mark.long
@pytest.mark.parametrize("served", [EVERY_S], indirect=True)
def test_a_new_model_is_evaluated_on_schedule_once_and_within_the_budget(
    served: Served, endpoint: ServerHandle
) -> None:
    until(lambda: served.ended_looks() >= 1, 240, served.said)
    assert endpoint.stats()["paid"] == 0, "a look that finds nothing buys nothing"
    endpoint.add_model("new-1")
    endpoint.add_model("other-2")
    journal = served.folder / "results/reevaluate/journal.json"
    until(lambda: '"done"' in (journal.read_text() if journal.is_file() else ""), 300, served.said)
    board = served.folder / "board"
    assert {"new-1", "old-one"} == set(json.loads((board / "analyze/metrics.json").read_text()))
    assert "new-1" in (board / "changes.md").read_text()
    assert "# read from the price list" in (served.folder / "params.yaml").read_text()
    stats = endpoint.stats()
    assert [entry["paid"] for entry in stats["contents"].values()] == [1] * (4 * PROBLEMS)
    looks = served.ended_looks()
    until(lambda: served.ended_looks() > looks, 180, served.said)
    assert endpoint.stats()["paid"] == stats["paid"], "a second look buys nothing"
    with Ledger(served.folder / "store") as ledger:
        import time

        spent = ledger.sum_spending("kept", format_month(time.time()))
    tokens = stats["input_tokens"], stats["output_tokens"]
    assert spent == pytest.approx((2.0 * tokens[0] + 10.0 * tokens[1]) / 1e6)
    assert spent < 5.0
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(90) == 0
    assert not healthy(served.api), "the server has stopped"
    assert served.descendants("prefect") == []


@pytest.mark.long
@pytest.mark.parametrize("served", [None], indirect=True)
def test_a_killed_workers_shard_goes_on_where_it_stopped(
    served: Served, endpoint: ServerHandle
) -> None:
    endpoint.configure(latency_s=4.0)
    until(lambda: "The flows are served" in served.said(), 240, served.said)
    until(lambda: bool(served.descendants("worker start")), 120, served.said)
    served.start("evaluate/nightly")
    until(lambda: endpoint.stats()["paid"] >= IN_FLIGHT // 2, 240, served.said)
    killed = endpoint.stats()["paid"]
    assert killed < 2 * PROBLEMS, "it was killed in the middle"
    for pid in served.descendants("worker start") + served.descendants("prefect.engine"):
        os.kill(pid, signal.SIGKILL)
    report = served.folder / "results/analyze/report.html"
    until(report.is_file, 300, served.said)
    assert "begun again: evaluate params.yaml" in served.log.read_text()
    books = endpoint.stats()["contents"].values()
    assert len(books) == 2 * PROBLEMS
    again = sum(book["paid"] - 1 for book in books)
    assert again <= IN_FLIGHT, "only what was in flight is bought again"
    assert all(book["paid"] <= 2 for book in books)


@pytest.mark.long
@pytest.mark.parametrize("served", [None], indirect=True)
def test_ctrl_c_keeps_what_the_served_flows_have_in_flight(
    served: Served, endpoint: ServerHandle
) -> None:
    endpoint.configure(latency_s=3.0, latency_sigma=0.3)
    until(lambda: "The flows are served" in served.said(), 240, served.said)
    until(lambda: bool(served.descendants("worker start")), 120, served.said)
    served.start("evaluate/nightly")
    shards, in_each = 2, IN_FLIGHT // 4
    both = shards * in_each
    until(lambda: endpoint.stats(contents=False)["concurrent"] == both, 240, served.said)
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(90) == 0
    stats = endpoint.stats(contents=False)
    assert stats["concurrent"] == 0
    kept = sum(len(f.read_bytes().splitlines()) for f in served.folder.glob("store/*/*.jsonl"))
    assert 0 < kept == stats["paid"] < 2 * PROBLEMS, served.said()
    assert served.descendants("prefect") == []
