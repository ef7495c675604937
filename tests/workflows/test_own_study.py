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
from urllib.request import Request

import pytest
import yaml
from tests.extras import require_extra
from tests.workflows_support import PROBLEMS, Served, environment, own_folder, until

from model_server.handle import DIRECT, ServerHandle

require_extra("flows", "prefect")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
OMIBENCH = str(Path(sys.executable).with_name("omibench"))
DEPLOYMENTS = Path(__file__).parents[2] / "prefect.yaml"


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


@pytest.fixture
def hook() -> Iterator[Hook]:
    server = Hook()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


Reevaluate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def own(tmp_path: Path, endpoint: ServerHandle) -> Path:
    return own_folder(tmp_path / "mine", endpoint.openai_url, approve=True)


@pytest.fixture
def reevaluate(own: Path, prefect_home: Path, api_url: str, hook: Hook) -> Reevaluate:
    """Run `omibench reevaluate` in the own folder."""

    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [OMIBENCH, "reevaluate", *words], cwd=own, text=True, check=False, timeout=600,
            env=environment(prefect_home, api_url) | hook.variables, capture_output=True,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def served(
    tmp_path: Path, endpoint: ServerHandle, hook: Hook, request: pytest.FixtureRequest
) -> Iterator[Served]:
    """Serving an own folder, with a look every so many seconds (`request.param`) or never."""
    folder = own_folder(tmp_path / "mine", endpoint.openai_url)
    plan = yaml.safe_load(DEPLOYMENTS.read_text())
    if request.param:
        for deployment in plan["deployments"]:
            if deployment["name"] == "keep":
                deployment["schedules"] = [{"interval": request.param}]
        (folder / "prefect.yaml").write_text(yaml.safe_dump(plan))
    (tmp_path / "home").mkdir()
    running = Served(folder, tmp_path / "home", OMIBENCH, "serve", **hook.variables)
    try:
        yield running
    finally:
        running.end()


def ask(api: str, path: str, body: dict[str, Any]) -> Any:
    data = json.dumps(body).encode()
    with DIRECT.open(Request(f"{api}{path}", data, {"content-type": "application/json"})) as reply:
        return json.load(reply)


def states(served: Served, name: str) -> list[str]:
    named = {"flows": {"name": {"any_": [name]}}, "sort": "START_TIME_ASC"}
    return [run["state_type"] for run in ask(served.api, "/flow_runs/filter", named)]


def journal(folder: Path) -> dict[str, Any]:
    file = folder / "results/reevaluate/journal.json"
    return json.loads(file.read_text()) if file.is_file() else {}


def state_of(folder: Path, model: str) -> str:
    entries = {entry["model"]: entry["state"] for entry in journal(folder).get("models", [])}
    return str(entries.get(model))


def test_a_new_model_waits_for_approval_and_its_entry_counts_only_its_own_requests(
    own: Path, endpoint: ServerHandle, reevaluate: Reevaluate, hook: Hook
) -> None:
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


@pytest.mark.parametrize("served", [15], indirect=True)
def test_a_cancelled_evaluation_stays_cancelled_until_somebody_asks(
    served: Served, endpoint: ServerHandle, hook: Hook
) -> None:
    endpoint.configure(latency_s=3.0)
    until(lambda: served.ended_looks() >= 1, 600, served.said)
    endpoint.add_model("new-1")
    until(lambda: endpoint.stats(contents=False)["paid"] >= 2, 400, served.said)
    (run,) = ask(
        served.api, "/flow_runs/filter",
        {"flow_runs": {"state": {"type": {"any_": ["RUNNING"]}}},
         "flows": {"name": {"any_": ["reevaluate"]}}},
    )  # fmt: skip
    ask(served.api, f"/flow_runs/{run['id']}/set_state", {"state": {"type": "CANCELLING"}})
    until(lambda: state_of(served.folder, "new-1") == "cancelled", 120, served.said)
    until(lambda: "CANCELLED" in states(served, "reevaluate"), 120, served.said)
    assert set(states(served, "evaluate")) == {"CANCELLED"}
    paid = endpoint.stats(contents=False)["paid"]
    assert paid < 2 * PROBLEMS, "it was cancelled in the middle"
    kept = sum(len(f.read_bytes().splitlines()) for f in served.folder.glob("store/*/*.jsonl"))
    assert kept == paid, "what was paid is kept"
    assert "cancelled" in hook.events()
    params = yaml.safe_load((served.folder / "params.yaml").read_text())
    assert "new-1" not in params["infer"]["models"]

    looks = served.ended_looks()
    until(lambda: served.ended_looks() > looks, 120, served.said)
    assert endpoint.stats(contents=False)["paid"] == paid, "the next looks buy nothing"

    command = [OMIBENCH, "reevaluate", "--approve", "new-1"]
    subprocess.run(command, cwd=served.folder, env=environment(served.home), check=True)
    endpoint.configure(latency_s=0.0)
    until(lambda: state_of(served.folder, "new-1") == "done", 600, served.said)
    books = endpoint.stats()["contents"].values()
    assert [book["paid"] for book in books] == [1] * (4 * PROBLEMS), "nothing was bought twice"


@pytest.mark.parametrize("served", [None], indirect=True)
def test_a_killed_flow_is_started_again_while_its_worker_lives(
    served: Served, endpoint: ServerHandle
) -> None:
    endpoint.configure(latency_s=4.0)
    until(lambda: bool(served.descendants("worker start")), 600, served.said)
    (worker,) = served.descendants("worker start")
    served.start("evaluate/nightly")
    until(lambda: endpoint.stats()["paid"] >= 4, 400, served.said)
    assert endpoint.stats()["paid"] < 2 * PROBLEMS, "it was killed in the middle"
    for pid in served.descendants("prefect.engine"):
        os.kill(pid, signal.SIGKILL)
    until((served.folder / "results/analyze/report.html").is_file, 600, served.said)
    assert served.descendants("worker start") == [worker]
    assert "begun again: evaluate params.yaml" in served.log.read_text()
    books = endpoint.stats()["contents"].values()
    assert len(books) == 2 * PROBLEMS
    in_flight = 8
    assert sum(book["paid"] - 1 for book in books) <= in_flight
    until(lambda: "COMPLETED" in states(served, "evaluate"), 60, served.said)
    artifacts = {a["key"]: a for a in ask(served.api, "/artifacts/latest/filter", {})}
    assert artifacts["requests"]["data"] == 100
    (row,) = json.loads(artifacts["progress"]["data"])
    assert (row["model"], row["answered"]) == ("old-one", f"{2 * PROBLEMS} of {2 * PROBLEMS}")
