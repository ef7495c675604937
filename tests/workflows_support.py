"""A small study of text questions in a folder of its own, and how flows are run there."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import Request

import polars as pl

from model_server.handle import DIRECT, ServerHandle

PARTS = ("Snakefile", "rules", "profiles", "schemas", "workflows", "envs", "prefect.yaml")
KEY_ENV = "TEST_LAB_KEY"
SECRET = "sk-planted-Q7xK2mZ9vB4nW8tR"
PROBLEMS = 12
PARAMS = """\
# A study that a laboratory keeps; every comment of this file must stay.
study:
  name: kept
  title: The kept study   # shown in the report
data: data
benchmark:
  name: emma
models:
  old-one:
    provider: openai
    id: old-one
    base_url: {url}
    key_env: {key_env}
    price: {{input: 2.0, output: 10.0, as_of: "2026-11-21"}}   # read from the price list
    limits: {{concurrency: 8, timeout_s: 20, attempts: 3}}

# How they are asked.
settings:
  cot: {{prompt: emma-cot, decoding: {{max_tokens: 400}}}}
  direct: {{prompt: emma-direct, decoding: {{max_tokens: 100}}}}
infer:
  models: [old-one]   # the watch adds more
  settings: [cot, direct]
score:
  scorers: [emma]
analyze:
  explorer: false
reevaluate:
  monthly_budget_usd: {monthly}
  watch:
    lab:
      kind: endpoint
      match: ["new-*"]
      ignore: ["*-base"]
      model:
        provider: openai
        base_url: {url}
        key_env: {key_env}
        group: New models
        price: {{input: 2.0, output: 10.0, as_of: "2026-11-21"}}
        limits: {{concurrency: 8, timeout_s: 20, attempts: 3}}
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


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


def study_folder(
    folder: Path, root: Path, url: str, monthly: float = 5.0, problems: int = PROBLEMS
) -> Path:
    """Make that checkout."""
    folder.mkdir()
    for name in PARTS:
        source = root / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    fill_study(folder, url, monthly, problems)
    return folder


def own_folder(folder: Path, url: str, monthly: float = 5.0, problems: int = PROBLEMS) -> Path:
    """Make the same study in a folder of `omibench init`."""
    command = [str(Path(sys.executable).with_name("omibench")), "init", str(folder)]
    subprocess.run([*command, "--benchmark", "emma"], check=True, capture_output=True)
    (folder / "params.yaml").unlink()
    fill_study(folder, url, monthly, problems)
    return folder


def fill_study(folder: Path, url: str, monthly: float, problems: int) -> None:
    """Write the study's data and parameters."""
    (folder / "data").mkdir()
    rows = [
        {
            "pid": f"math_{n}", "subject": "Math", "type": "Multiple Choice",
            "question": f"How much is {n} + {n}?", "options": ["1", "2", str(2 * n + 3), "no"],
            "answer": "C",
        }
        for n in range(problems)
    ]  # fmt: skip
    pl.DataFrame(rows).write_parquet(folder / "data" / "items.parquet")
    params = PARAMS.format(url=url, key_env=KEY_ENV, monthly=monthly)
    (folder / "params.yaml").write_text(params)


def environment(home: Path, api: str | None = None) -> dict[str, str]:
    """The environment of a flow: its own Prefect, the key, and no proxy."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": (
            "prefect.server.concurrency.lease_storage.filesystem"
        ),
        "DO_NOT_TRACK": "1",
        KEY_ENV: SECRET,
        **({"PREFECT_API_URL": api} if api else {}),
    }


def flow(
    name: str, folder: Path, home: Path, api: str | None = None, *more: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a flow as a person would, from the command line."""
    return subprocess.run(
        [sys.executable, "-m", f"workflows.{name}", *more],
        cwd=folder, env=environment(home, api) | env,
        capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def healthy(api: str) -> bool:
    try:
        with DIRECT.open(f"{api}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except (URLError, OSError):
        return False


def read_token(api: str) -> dict[str, str]:
    """The headers of a request that changes something; none if the server needs no token."""
    try:
        with DIRECT.open(f"{api}/csrf-token?client=tests") as reply:
            token = json.loads(reply.read())["token"]
    except HTTPError as error:
        if error.code != 422:
            raise
        return {}
    return {"Prefect-Csrf-Client": "tests", "Prefect-Csrf-Token": token}


def ask_api(api: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Ask Prefect's API: POST with a body, GET without. While its database is locked, it waits."""
    data = None if body is None else json.dumps(body).encode()
    headers = {} if body is None else read_token(api)
    request = Request(f"{api}{path}", data, {"content-type": "application/json", **headers})
    for last in (False,) * 30 + (True,):
        try:
            with DIRECT.open(request) as reply:
                text = reply.read()
            return json.loads(text) if text else None
        except HTTPError as error:
            if error.code != 503 or last:
                raise
        time.sleep(1)
    return None


def until(
    condition: Callable[[], bool], seconds: float, why: Callable[[], str] = lambda: ""
) -> None:
    """Poll until the condition holds; fails with what `why` says when it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it did not happen in {seconds:g} s\n{why()}"
        time.sleep(0.25)


class Filled(NamedTuple):
    """What a flow without a server has said, and what the endpoint met until the store was full."""

    said: str
    requests: int
    shards: list[str]


def fill(name: str, folder: Path, home: Path, endpoint: ServerHandle, *more: str) -> Filled:
    """Run a flow to its end without a server; fails with what it said when it does not succeed."""
    lines: list[str] = []
    requests = -1
    with subprocess.Popen(
        [sys.executable, "-m", f"workflows.{name}", *more],
        cwd=folder, env=environment(home), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        for line in process.stdout or ():
            lines.append(line)
            if line.rstrip().endswith("are in the store"):
                # Snakemake starts only now: what comes later, no shard has asked.
                requests = endpoint.stats(contents=False)["requests"]
    said = "".join(lines)
    assert process.returncode == 0, said
    ended = re.findall(r"Task run '(.+ \d+-\d+)' - Finished in state Completed", said)
    return Filled(said, requests, sorted(ended))


def rebuild(folder: Path, home: Path, *targets: str) -> None:
    """Let Snakemake alone make targets; fails with what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *targets, "--cores", "1"],
        cwd=folder, env=environment(home), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


class Served:
    """A server of a study's flows, and what can be seen of it."""

    def __init__(self, folder: Path, home: Path, *command: str, **env: str) -> None:
        self.folder, self.home, self.port = folder, home, free_port()
        self.api = f"http://127.0.0.1:{self.port}/api"
        self.log = home / "serve.log"
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port), "--home", str(home)],
            cwd=folder, env=environment(home) | env,
            stdout=self.log.open("w"), stderr=subprocess.STDOUT,
        )  # fmt: skip

    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")[-6000:]

    def ended_looks(self) -> int:
        return self.log.read_text("utf-8", "replace").count("no new models in 1 watches")

    def start(self, deployment: str, state: str = "SCHEDULED", **parameters: Any) -> str:
        """Start a run of a deployment, or only create it in another state; its id."""
        found = ask_api(self.api, f"/deployments/name/{deployment}")
        body = {"parameters": parameters, "state": {"type": state}}
        return str(ask_api(self.api, f"/deployments/{found['id']}/create_flow_run", body)["id"])

    def set_state(self, run: str, state: str) -> None:
        body = {"state": {"type": state}, "force": True}
        ask_api(self.api, f"/flow_runs/{run}/set_state", body)

    def state(self, run: str) -> str:
        return str(ask_api(self.api, f"/flow_runs/{run}")["state_type"])

    def states(self, flow: str, folder: Path) -> list[str]:
        """The states of a flow's runs in a study's folder."""
        name = f"{flow} {folder / 'params.yaml'}"
        named = {"flow_runs": {"name": {"any_": [name]}}}
        return [r["state_type"] for r in ask_api(self.api, "/flow_runs/filter", named)]

    def inner_states(self, run: str) -> list[str]:
        """The states of the runs inside a run."""
        inside = {"flow_runs": {"parent_flow_run_id": {"any_": [run]}}}
        return [r["state_type"] for r in ask_api(self.api, "/flow_runs/filter", inside)]

    def descendants(self, words: str) -> list[int]:
        """Processes below the server and worker whose command line holds the words."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                env = (entry / "environ").read_bytes()
            except OSError:
                continue
            if words in line and str(self.home).encode() in env:
                found.append(int(entry.name))
        return found

    def end(self) -> None:
        """Stop it, and whatever is left of it."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(90)
        finally:
            for pid in self.descendants("prefect"):
                os.kill(pid, signal.SIGKILL)
