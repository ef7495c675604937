"""`omibench serve` and `omibench reevaluate` in a folder of `omibench init`, away from here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.extras import require_extra
from tests.workflows_support import PROBLEMS, Hook, Served, ask_api, environment, own_folder, until

from model_server.handle import ServerHandle
from omibench.store.ledger import BudgetAccount, Ledger

if TYPE_CHECKING:
    from playwright.sync_api import Browser

require_extra("flows", "prefect")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
OMIBENCH = str(Path(sys.executable).with_name("omibench"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, webhook: Hook) -> Iterator[Served]:
    """`omibench serve` in a new folder of `omibench init`: its flows run in folders below."""
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
def own(served: Served, tmp_path: Path, endpoint: ServerHandle) -> Path:
    """A study in the served folder: others cannot be run from the server's pages."""
    folder = served.folder / tmp_path.name
    folder.mkdir()
    return own_folder(folder / "mine", endpoint.openai_url)


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
    params = own / "params.yaml"
    price = {"input": 4.0, "output": 20.0, "as_of": "2026-11-21"}
    prices = f"      prices: {json.dumps([{'match': '*-1', 'price': price}])}\n"
    params.write_text(params.read_text().replace("    lab:\n", f"    lab:\n{prices}"))
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
    block = yaml.safe_load(params.read_text())["models"]["new-1"]
    assert (block["price"]["input"], block["group"]) == (4.0, "New models")
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


@pytest.mark.long
def test_an_exception_is_posted(
    own: Path, endpoint: ServerHandle, reevaluate: Reevaluate, hook: Hook
) -> None:
    endpoint.add_model("new-1")
    (own / "data/items.parquet").write_bytes(b"no parquet")
    reevaluate(code=3)
    assert hook.events() == ["failed"]
    assert "snakemake failed with exit code 1" in hook.posted[0]["text"]
    assert "reevaluate failed" in hook.posted[0]["text"]


@pytest.mark.long
def test_a_cancelled_evaluation_stays_cancelled_until_somebody_asks(
    own: Path, served: Served, endpoint: ServerHandle, reevaluate: Reevaluate, hook: Hook
) -> None:
    endpoint.configure(latency_s=3.0)
    endpoint.add_model("new-1")
    run = served.start("reevaluate/keep", params=str(own / "params.yaml"))
    until(lambda: endpoint.stats(contents=False)["paid"] >= 2, 400, served.said)
    served.set_state(run, "CANCELLING")
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


@pytest.mark.long
def test_a_cancelled_run_whose_process_died_is_not_started_again(
    served: Served, endpoint: ServerHandle
) -> None:
    crashed, left = (served.start("evaluate/nightly", "RUNNING") for _ in range(2))
    for run in (crashed, left):
        served.set_state(run, "CANCELLING")
    served.set_state(crashed, "CRASHED")
    until(lambda: served.state(crashed) != "CRASHED", 60, served.said)
    assert served.state(crashed) == "CANCELLED"
    assert served.state(left) == "CANCELLING", "its worker is gone"
    script = "from omibench.flows.restarts import begin_again; print(begin_again())"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(served.home, served.api),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "[]\n"
    assert served.state(left) == "CANCELLED"


@pytest.mark.long
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
    until(lambda: "COMPLETED" in served.states("evaluate", own), 600, served.said)
    assert sorted(served.states("evaluate", own)) == ["COMPLETED", "CRASHED"]
    assert served.state(run) == "CRASHED"
    assert (own / "results/analyze/report.html").is_file()
    assert not (served.folder / "results").exists(), "paths start in the study's folder"
    assert served.descendants("worker start") == [worker]
    again = f"begun again: evaluate {own / 'params.yaml'}"
    assert served.log.read_text().count(again) == 1
    books = endpoint.stats()["contents"].values()
    assert len(books) == 2 * PROBLEMS
    in_flight = 8
    assert sum(book["paid"] - 1 for book in books) <= in_flight


@pytest.mark.long
def test_progress_costs_and_an_exhausted_budget_are_on_prefects_pages_and_posted(
    own: Path, served: Served, endpoint: ServerHandle, hook: Hook, browser: Browser
) -> None:
    params = own / "params.yaml"
    params.write_text(params.read_text().replace("name: kept", "name: kept\n  budget_usd: 0.02", 1))
    endpoint.configure(answer_chars=4000)
    run = served.start("evaluate/nightly", params=str(params))
    until(lambda: served.state(run) in {"COMPLETED", "FAILED"}, 400, served.said)
    assert hook.events() == ["budget"]
    assert "the budget ended before" in hook.posted[0]["text"]
    written = {"artifacts": {"flow_run_id": {"any_": [run]}}}
    artifacts = {a["key"]: a for a in ask_api(served.api, "/artifacts/filter", written)}
    row, _ = json.loads(artifacts["progress"]["data"])
    answered = endpoint.stats(contents=False)["paid"]
    assert 0 < answered < 2 * PROBLEMS
    assert (row["model"], row["answered"]) == ("old-one", f"{answered} of {2 * PROBLEMS}")
    assert artifacts["requests"]["data"] == round(100 * answered / (2 * PROBLEMS), 1)
    page = browser.new_page()
    shown = {"progress": row["spent"], "costs": row["spent"], "requests": "Progress:"}
    for key, seen in shown.items():
        page.goto(f"http://127.0.0.1:{served.port}/artifacts/artifact/{artifacts[key]['id']}")
        page.get_by_text(seen).first.wait_for(timeout=60_000)
    page.close()


@pytest.mark.long
def test_a_months_costs_retired_models_and_drift_are_posted_once(
    own: Path, endpoint: ServerHandle, reevaluate: Reevaluate, hook: Hook,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    require_extra("stats", "scipy")
    endpoint.configure(replies={"How much": r"It is \boxed{C}"})
    params = own / "params.yaml"
    model = yaml.safe_load(params.read_text())["models"]["old-one"] | {"id": "gone"}
    text = params.read_text().replace("models:\n", f"models:\n  gone: {json.dumps(model)}\n", 1)
    params.write_text(text)
    reevaluate()
    assert hook.events() == ["retired"], "a model of the study that the endpoint does not list"
    assert "`gone` is retired" in hook.posted[0]["text"]
    assert "- `gone` is retired" in (own / "board/changes.md").read_text()

    subprocess.run([OMIBENCH, "run"], cwd=own, env=environment(own / ".prefect"), check=True)
    assert endpoint.stats(contents=False)["paid"] == 2 * PROBLEMS
    last_month = time.time() - 32 * 86400
    with monkeypatch.context() as earlier, Ledger(own / "store") as ledger:
        earlier.setattr("omibench.store.ledger.time.time", lambda: last_month)
        attempt = ledger.reserve(BudgetAccount("kept", "old-one", 1e6, 60), 3.5)
        assert attempt is not None
        ledger.settle(attempt.id, 3.5)
    change(own, drift={"setting": "direct", "problems": 10})
    endpoint.configure(replies={"How much": r"It is \boxed{A}"})
    hook.posted.clear()
    reevaluate()
    assert hook.events() == ["costs", "drift"]
    costs, drift = hook.posted
    assert costs["text"].startswith("The kept study: $3.50 in ")
    assert costs["text"].endswith("old-one $3.50")
    assert "100 % at first, 0 % in" in drift["text"]
    assert "on the same 10 problems (0 gained, 10 lost, p = 0.002)" in drift["text"]
    assert endpoint.stats(contents=False)["paid"] == 2 * PROBLEMS + 10
    reevaluate()
    assert hook.events() == ["costs", "drift"]
    assert endpoint.stats(contents=False)["paid"] == 2 * PROBLEMS + 10


@pytest.mark.long
def test_a_long_outage_is_posted_while_the_flow_waits(
    own: Path, served: Served, endpoint: ServerHandle, hook: Hook
) -> None:
    endpoint.configure(faults={"unavailable": 1.0})
    script = (
        "import omibench.flows.progress as p; from omibench.cli.main import main\n"
        "p.LONG_OUTAGE_S, p.EVERY_S = 3.0, 0.5\n"
        "main()\n"
    )
    env = environment(served.home, served.api) | hook.variables
    with subprocess.Popen(
        [sys.executable, "-c", script, "flow", "evaluate"], cwd=own, env=env,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as flow:  # fmt: skip
        try:
            until(lambda: hook.events() == ["outage"], 300)
            assert "old-one: its endpoint has been unavailable for" in hook.posted[0]["text"]
            endpoint.configure(faults=[])
            assert flow.wait(300) == 0
        finally:
            flow.kill()
    assert hook.events() == ["outage"]
    assert endpoint.stats(contents=False)["paid"] == 2 * PROBLEMS
