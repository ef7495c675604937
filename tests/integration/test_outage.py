"""A server that goes away and comes back: few attempts, every answer; else a clear end."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.asks import ask
from tests.integration.killed_runs import Runs
from tests.models.apis import KEY_ENV, provider

from model_server.handle import ServerHandle, wait_until
from omibench.models.api import failures
from omibench.models.client.ask import ask as ask_once
from omibench.models.openai import OpenAIProvider
from omibench.params.models.providers import OpenAIModel
from omibench.store.store import Store

IN_FLIGHT = 16
AWAY_S = 2.0


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, "sk-test")
    monkeypatch.setattr(failures, "FIRST_PROBE_S", 0.1)
    monkeypatch.setattr(failures, "LONGEST_PROBE_S", 0.5)
    monkeypatch.setattr(failures, "LOOK_S", 0.05)


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"latency_s": 0.1, "answer_chars": 200}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "unavailable", "rate": 1.0},
        *(
            pytest.param(fault, marks=pytest.mark.slow)
            for fault in (
                {"kind": "server_error", "rate": 1.0},
                {"kind": "reset", "rate": 1.0},
                {"kind": "rate_limit", "rate": 1.0},
                {"kind": "rate_limit", "rate": 1.0, "retry_after_s": 0.0},
            )
        ),
    ],
    ids=["503", "500", "reset", "429", "429 with Retry-After 0"],
)
def test_all_answers_arrive_after_an_outage_and_few_attempts_are_made_in_it(
    fault: dict[str, Any], server: ServerHandle, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = provider(server, "chat", limits={"concurrency": IN_FLIGHT})
    requests = [ask(f"Question {i}") for i in range(200)]
    tried: list[int] = []

    def weather() -> None:
        wait_until(lambda: server.stats(contents=False)["delivered"] >= 3 * IN_FLIGHT, 60)
        server.configure(faults=[fault])
        wait_until(lambda: "the endpoint is unavailable" in caplog.text, 60)
        time.sleep(0.5)  # what was in flight arrives
        tried.append(server.stats(contents=False)["requests"])
        time.sleep(AWAY_S - 0.5)
        tried.append(server.stats(contents=False)["requests"])
        server.configure(faults=[])

    sky = threading.Thread(target=weather)
    sky.start()
    with Store(tmp_path / "store") as store:
        got = ask_once(requests, model, store)
    sky.join()
    assert {response.outcome for response in got} == {"answered"}
    assert tried[1] - tried[0] <= 12, "requests kept coming while the endpoint was away"
    stats = server.stats(contents=False)
    assert stats["paid"] == 200
    assert stats["requests"] - 200 <= 4 * IN_FLIGHT + 20


class Answering(BaseHTTPRequestHandler):
    """Says "ok" to everything."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        choice = {"message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        body = json.dumps({"id": "x", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


@pytest.mark.usefixtures("quick")
def test_a_server_that_starts_late_is_waited_for(tmp_path: Path) -> None:
    late = ThreadingHTTPServer(("127.0.0.1", 0), Answering, bind_and_activate=False)
    late.server_bind()  # nobody listens yet: connections are refused
    url = f"http://127.0.0.1:{late.server_address[1]}/v1"
    block = {"provider": "openai", "id": "m", "base_url": url, "key_env": KEY_ENV}
    model = OpenAIProvider("m", OpenAIModel.model_validate(block))

    def start() -> None:
        time.sleep(1.0)
        late.server_activate()
        late.serve_forever()

    thread = threading.Thread(target=start, daemon=True)
    thread.start()
    with Store(tmp_path / "store") as store:
        got = ask_once([ask(f"Question {i}") for i in range(40)], model, store)
    late.shutdown()
    late.server_close()
    assert [response.text for response in got] == ["ok"] * 40


@pytest.mark.long
@pytest.mark.slow
def test_an_endpoint_that_stays_away_ends_the_command(server: ServerHandle, tmp_path: Path) -> None:
    runs = Runs(server, tmp_path, 30)
    runs.model["limits"]["outage_s"] = 0.5
    process = runs.start()
    wait_until(lambda: server.stats(contents=False)["delivered"] >= 10, 60)
    server.configure(faults=[{"kind": "unavailable", "rate": 1.0}])
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 3, said
    line = said.splitlines()[-1]
    assert line.startswith("omibench: the endpoint has been unavailable for 0.")
    assert "`limits.outage_s` is 0.5 s: HTTP 503" in line
    assert "run the command again when it is back" in line
    assert "Traceback" not in said
    kept = runs.kept()
    assert len(kept) == server.stats(contents=False)["paid"]
    server.configure(faults=[])
    assert runs.finish().height == runs.size
    assert kept.items() <= runs.kept().items()
