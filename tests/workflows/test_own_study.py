"""`omibench serve` and `omibench reevaluate` in a folder of `omibench init`, away from here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.extras import require_extra
from tests.workflows_support import PROBLEMS, Served, ask_api, environment, own_folder, until

from model_server.handle import ServerHandle

require_extra("flows", "prefect")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
OMIBENCH = str(Path(sys.executable).with_name("omibench"))


class Hook(ThreadingHTTPServer):
    """A webhook that keeps what is posted to it."""

    def __init__(self) -> None:
        self.posted: list[dict[str, Any]] = []
        posted = self.posted

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                posted.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is logged."""

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def variables(self) -> dict[str, str]:
        """The environment of programs that post to it."""
        return {"OMIBENCH_WEBHOOK": f"http://127.0.0.1:{self.server_port}/"}

    def events(self) -> list[str]:
        return [body["event"] for body in self.posted]


@pytest.fixture(scope="module")
def webhook() -> Iterator[Hook]:
    server = Hook()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def hook(webhook: Hook) -> Hook:
    """The webhook, with nothing posted."""
    webhook.posted.clear()
    return webhook


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, webhook: Hook) -> Iterator[Served]:
    """`omibench serve` in a new folder of `omibench init`: its flows run in the tests' folders."""
    folder, home = tmp_path_factory.mktemp("server") / "lab", tmp_path_factory.mktemp("prefect")
    subprocess.run([OMIBENCH, "init", str(folder), "--benchmark", "emma"], check=True)
    running = Served(folder, home, OMIBENCH, "serve", **webhook.variables)
    try:
        until(lambda: bool(running.descendants("worker start")), 600, running.said)
        keep = ask_api(running.api, "/deployments/name/reevaluate/keep")["id"]
        ask_api(running.api, f"/deployments/{keep}/pause_deployment", {})  # no look at minute 17
        yield running
    finally:
        running.end()


Reevaluate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def own(tmp_path: Path, endpoint: ServerHandle) -> Path:
    return own_folder(tmp_path / "mine", endpoint.openai_url)


@pytest.fixture
def reevaluate(own: Path, served: Served, hook: Hook) -> Reevaluate:
    """Run `omibench reevaluate` in the own folder."""

    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [OMIBENCH, "reevaluate", *words], cwd=own, text=True, check=False, timeout=600,
            env=environment(served.home, served.api) | hook.variables, capture_output=True,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def change(folder: Path, **reevaluate: Any) -> None:
    """Add keys to the block `reevaluate`."""
    lines = "".join(f"  {key}: {json.dumps(value)}\n" for key, value in reevaluate.items())
    params = folder / "params.yaml"
    params.write_text(params.read_text().replace("reevaluate:\n", f"reevaluate:\n{lines}"))


def journal(folder: Path) -> dict[str, Any]:
    file = folder / "results/reevaluate/journal.json"
    return json.loads(file.read_text()) if file.is_file() else {}


def state_of(folder: Path, model: str) -> str:
    entries = {entry["model"]: entry["state"] for entry in journal(folder).get("models", [])}
    return str(entries.get(model))


def test_a_new_model_waits_for_approval_and_its_entry_counts_only_its_own_requests(
    own: Path, endpoint: ServerHandle, reevaluate: Reevaluate, hook: Hook
) -> None:
    change(own, approve=True)
    endpoint.add_model("new-1")
    before = (own / "params.yaml").read_text()
    reevaluate()
    assert endpoint.stats()["paid"] == 0
    assert (own / "params.yaml").read_text() == before
    assert hook.events() == ["pending"]
    command = "omibench reevaluate --approve new-1"
    assert "24 requests, $" in hook.posted[0]["text"]
    assert hook.posted[0]["text"].endswith(command)
    reevaluate()
    assert hook.events() == ["pending"], "it is posted once"
    assert command in reevaluate("--pending").stdout
    wrong = reevaluate("--approve", "new-2", code=2)
    assert "no such model waits for approval; those that do: new-1" in wrong.stderr

    assert "no model waits for approval" in reevaluate("--approve", "new-1").stdout
    assert endpoint.stats()["paid"] == 0, "to approve sends nothing"
    reevaluate()
    assert state_of(own, "new-1") == "done"
    assert hook.events() == ["pending", "evaluated"]
    assert endpoint.stats()["paid"] == 4 * PROBLEMS, "the other model's cells were missing, too"
    entry = (own / "board/changes.md").read_text()
    assert f"{2 * PROBLEMS} requests were to buy" in entry
    costs = (own / "results/reevaluate/costs.md").read_text()
    assert "| `new-1` | $" in costs
    for model in ("new-1", "old-one"):
        assert f" for `{model}`" in entry
    assert not (own / "results/reevaluate/drift.json").exists()


def test_an_endpoint_that_cannot_be_read_is_posted_once(
    own: Path, endpoint: ServerHandle, reevaluate: Reevaluate, hook: Hook
) -> None:
    params = own / "params.yaml"
    params.write_text(params.read_text().replace(endpoint.openai_url, "http://127.0.0.1:9/v1"))
    retried = params.read_text().replace("key_env: TEST_LAB_KEY", "key_env: NO_KEY")
    params.write_text(retried)
    for _ in range(2):
        done = reevaluate(code=3)
        assert "NO_KEY" in done.stderr
    assert hook.events() == ["failed"]
    assert "NO_KEY" in hook.posted[0]["text"]


def test_an_exception_is_posted(
    own: Path, endpoint: ServerHandle, reevaluate: Reevaluate, hook: Hook
) -> None:
    endpoint.add_model("new-1")
    (own / "data/items.parquet").write_bytes(b"no parquet")
    reevaluate(code=3)
    assert hook.events() == ["failed"]
    assert "snakemake failed with exit code 1" in hook.posted[0]["text"]
    assert "reevaluate failed" in hook.posted[0]["text"]


def test_a_cancelled_evaluation_stays_cancelled_until_somebody_asks(
    own: Path, served: Served, endpoint: ServerHandle, reevaluate: Reevaluate, hook: Hook
) -> None:
    endpoint.configure(latency_s=3.0)
    endpoint.add_model("new-1")
    run = served.start("reevaluate/keep", params=str(own / "params.yaml"))
    until(lambda: endpoint.stats(contents=False)["paid"] >= 2, 400, served.said)
    ask_api(served.api, f"/flow_runs/{run}/set_state", {"state": {"type": "CANCELLING"}})
    until(lambda: served.state(run) != "CANCELLING", 120, served.said)
    assert served.state(run) == "CANCELLED", served.said()
    assert served.inner_states(run) == ["CANCELLED"], served.said()
    assert state_of(own, "new-1") == "cancelled"
    assert hook.events() == ["cancelled"]
    paid = endpoint.stats(contents=False)["paid"]
    assert paid < 2 * PROBLEMS, "it was cancelled in the middle"
    kept = sum(len(f.read_bytes().splitlines()) for f in own.glob("store/*/*.jsonl"))
    assert kept == paid, "what was paid is kept"
    params = yaml.safe_load((own / "params.yaml").read_text())
    assert "new-1" not in params["infer"]["models"]

    again = served.start("reevaluate/keep", params=str(own / "params.yaml"))
    until(lambda: served.state(again) == "COMPLETED", 200, served.said)
    assert endpoint.stats(contents=False)["paid"] == paid, "the next look buys nothing"
    assert served.state(run) == "CANCELLED"

    assert "cancelled since" in reevaluate("--pending").stdout
    reevaluate("--approve", "new-1")
    endpoint.configure(latency_s=0.0)
    reevaluate()
    assert state_of(own, "new-1") == "done"
    books = endpoint.stats()["contents"].values()
    assert [book["paid"] for book in books] == [1] * (4 * PROBLEMS), "nothing was bought twice"


def test_a_killed_flow_is_started_again_while_its_worker_lives(
    own: Path, served: Served, endpoint: ServerHandle
) -> None:
    endpoint.configure(latency_s=4.0)
    (worker,) = served.descendants("worker start")
    run = served.start("evaluate/nightly", params=str(own / "params.yaml"))
    until(lambda: endpoint.stats()["paid"] >= 4, 400, served.said)
    assert endpoint.stats()["paid"] < 2 * PROBLEMS, "it was killed in the middle"
    for pid in served.descendants("prefect.engine"):
        os.kill(pid, signal.SIGKILL)
    endpoint.configure(latency_s=0.0)
    until(lambda: served.state(run) == "COMPLETED", 600, served.said)
    assert (own / "results/analyze/report.html").is_file()
    assert served.descendants("worker start") == [worker]
    assert f"begun again: evaluate {own / 'params.yaml'}" in served.log.read_text()
    books = endpoint.stats()["contents"].values()
    assert len(books) == 2 * PROBLEMS
    in_flight = 8
    assert sum(book["paid"] - 1 for book in books) <= in_flight
    artifacts = {a["key"]: a for a in ask_api(served.api, "/artifacts/latest/filter", {})}
    assert artifacts["requests"]["data"] == 100
    (row,) = json.loads(artifacts["progress"]["data"])
    assert (row["model"], row["answered"]) == ("old-one", f"{2 * PROBLEMS} of {2 * PROBLEMS}")
