"""Thousands of requests through bad weather: all end answered, each is bought once."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.asks import ask
from tests.models.apis import KEY_ENV, PNG, picture, provider
from tests.stages.infer.conftest import frozen_questions

from model_server.handle import running_server
from omibench.models.client.ask import ask as ask_once
from omibench.store.store import Store

WEATHER = {
    "rate_limit": 0.05,
    "server_error": 0.01, "unavailable": 0.005, "overloaded": 0.005,
    "hang": 0.005, "hang_mid": 0.005,
    "reset": 0.005, "reset_mid": 0.005,
    "malformed_json": 0.003, "truncated_json": 0.002,
}  # fmt: skip
LOST_BODY = {"hang_mid", "reset_mid", "malformed_json", "truncated_json"}
SECRET = "planted-Q7xK2mZ9vB4nW8tR"


@pytest.mark.parametrize(
    "api",
    [
        "chat",
        pytest.param("responses", marks=pytest.mark.slow),
        pytest.param("messages", marks=pytest.mark.slow),
    ],
)
def test_200_requests_in_bad_weather(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weathered(api, 200, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("api", ["chat", "messages"])
def test_2000_requests_in_bad_weather(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weathered(api, 2000, tmp_path, monkeypatch)


def weathered(api: str, count: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask through the store, against a server with the weather above; then look at its books."""
    monkeypatch.setenv(KEY_ENV, SECRET)
    images = [picture(folder, f"{i}.png") for i in range(3)]
    requests = [ask(f"Question {i}", images[i % 3], images[(i + 1) % 3]) for i in range(count)]
    with running_server(faults=WEATHER, latency_s=0.02, seed=count) as server:
        model = provider(server, api, limits={"timeout_s": 4.0})
        with Store(folder / "store") as store:
            got = ask_once(requests, model, store)
            sent = server.stats(contents=False)["requests"]
            assert ask_once(requests, model, store) == got, "an answer was not kept"
        stats = server.stats()
    assert {response.outcome for response in got} == {"answered"}
    assert stats["requests"] == sent, "an answer was bought again"
    books = stats["contents"].values()
    assert len(books) == count
    for book in books:
        lost = sum(book["outcomes"].get(kind, 0) for kind in LOST_BODY)
        assert (book["delivered"], book["paid"]) == (1, 1 + lost), book
    assert stats["paid"] == count + sum(stats["outcomes"].get(kind, 0) for kind in LOST_BODY)
    assert stats["outcomes"]["rate_limit"] > 0.02 * count
    assert stats["requests"] > 1.05 * count


class Echo(BaseHTTPRequestHandler):
    """An endpoint that shows the headers it got in its errors, as careless gateways do."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        said = {"error": {"message": f"bad request by {dict(self.headers)}", "type": "odd"}}
        body = json.dumps(said).encode()
        self.send_response(500 if "retry" in self.path else 400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


@contextmanager
def echoing() -> Iterator[str]:
    """The base URL of an endpoint that echoes."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


SCRIPT = """
import logging, sys, traceback
from pathlib import Path
logging.basicConfig(level=logging.DEBUG, handlers=[
    logging.StreamHandler(sys.stderr), logging.FileHandler("all.log")])
from omibench.stages.infer import infer_cell
from omibench.params.setting import Cell
from omibench.params.study import parse_study_file
study = parse_study_file("params.yaml")
for cell in study.cells:
    try:
        infer_cell(Path("freeze/questions.jsonl"), Path(cell.model + ".parquet"), study, cell)
        print("done", cell.model)
    except Exception:
        traceback.print_exc()
"""


@pytest.mark.slow
def test_a_planted_key_is_in_nothing_that_was_written(tmp_path: Path) -> None:
    questions = frozen_questions(tmp_path)
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    for row in rows:
        for figure in row["images"]:
            image = picture(questions.parent, figure["file"], head=PNG)
            figure["sha256"] = image.sha256
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    keys = tmp_path.parent / f"{tmp_path.name}.keys"
    keys.write_text(f"{KEY_ENV}={SECRET}\n")
    keys.chmod(0o600)
    with echoing() as echo, running_server(latency_s=0.01, api_keys=[SECRET]) as server:
        models = {
            "fine": block("openai", server.openai_url),
            "claude": block("anthropic", server.anthropic_url),
            "echo": block("openai", echo, id="echo"),
            "echo2": block("anthropic", echo, id="echo"),
            "echo3": block("openai", echo + "/retry", id="echo3", limits={"attempts": 2}),
        }
        study = {
            "study": {"store": "store"},
            "models": models,
            "settings": {"cot": {}},
            "infer": {"models": list(models), "settings": ["cot"]},
        }
        (tmp_path / "params.yaml").write_text(json.dumps(study))
        env = os.environ | {"OMIBENCH_KEYS": str(keys), "OPENAI_LOG": "debug"}
        env |= {"ANTHROPIC_LOG": "debug"}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=tmp_path, env=env, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert {"done fine", "done claude"} <= set(done.stdout.splitlines()), done.stderr
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any("store" in path.parts for path in written)
    assert written[tmp_path / "all.log"]
    written |= {Path("stdout"): done.stdout.encode(), Path("stderr"): done.stderr.encode()}
    for path, content in written.items():
        for form in (SECRET.encode(), base64.b64encode(SECRET.encode()), SECRET[8:].encode()):
            assert form not in content, path
    assert done.stderr.count("requests got no answer: ") == 3
    for shown in ("HTTP 400 (odd): bad request by ", "2 attempts failed", "Bearer ***"):
        assert shown in done.stderr, "what the endpoint said was not shown"


def block(provider: str, base_url: str, **more: Any) -> dict[str, Any]:
    return {"provider": provider, "id": "m", "base_url": base_url, "key_env": KEY_ENV} | more
