"""Run a local Prefect server and worker, on loopback and with SQLite, until Ctrl-C.

It deploys the flows of prefect.yaml. A worker that dies is restarted, and so are its runs: their
responses are in the store.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import psutil
import typer

from omibench.errors import MissingInputError
from omibench.files.locations import PARAMS, find_local_or_shipped
from omibench.files.programs import isolate_env, python_module
from omibench.flows import FOLDER_ENV
from omibench.text.terminal import say

HOST = "127.0.0.1"
POOL = "omibench"
PLAN = "prefect.yaml"
"""The deployments, beside the parameters of a study or else those that omibench ships."""
START_S = 180.0
LOOK_S = 3.0
"""The seconds between looks for runs whose process has died."""
STOP_S = 30.0
FLOW = "prefect.engine"
"""The module that a worker starts for each flow."""


def serve_folder(port: int, home: Path | None) -> None:
    """Serve the deployments of the current folder's prefect.yaml until Ctrl-C.

    Without that file, those that omibench ships are served. `home` is Prefect's folder, by default
    `.prefect`.
    """
    plan = find_local_or_shipped(PLAN)
    if not Path(PLAN).is_file() and not Path(PARAMS).is_file():
        raise MissingInputError(
            f"serve: {Path.cwd()} has neither {PARAMS} nor {PLAN}; change to the folder of a study"
        )
    folder = home or Path(os.environ.get("PREFECT_HOME", ".prefect"))
    os.environ["PREFECT_HOME"] = str(folder.resolve())
    os.environ["PREFECT_API_URL"] = f"http://{HOST}:{port}/api"
    os.environ[FOLDER_ENV] = str(Path.cwd())
    # Prefect lets the pages of every site that is open in a browser start flows and programs, and
    # reads a body without a type, for which browsers do not ask first, as JSON.
    os.environ["PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS"] = (
        f"http://{HOST}:{port},http://localhost:{port}"
    )
    os.environ["PREFECT_SERVER_API_CSRF_PROTECTION_ENABLED"] = "true"
    if _answers(port):
        say(
            f"omibench: port {port} is in use: stop the program there, or choose another "
            "with --port",
            err=True,
        )
        raise typer.Exit(2)
    # To end the flows takes longer than a command is given after a signal.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        with _program("server", "start", "--host", HOST, "--port", str(port)) as server:
            _wait_for(port, server)
            safe = isolate_env(os.environ)
            prefect = python_module("prefect", "--no-prompt")
            pool = [*prefect, "work-pool", "create", POOL, "--type", "process"]
            subprocess.run(pool, env=safe, check=False, capture_output=True)  # may already exist
            deploy = [*prefect, "deploy", "--all", "--prefect-file", str(plan)]
            subprocess.run(deploy, env=safe, check=True)
            say(f"The flows are served: open http://{HOST}:{port}  Ctrl-C stops.")
            while server.poll() is None:
                _work(server)
    except KeyboardInterrupt:
        say("stopped")
    except subprocess.CalledProcessError as error:
        say("omibench: prefect.yaml cannot be deployed, for the reason above", err=True)
        raise typer.Exit(error.returncode) from None


def _work(server: subprocess.Popen[bytes]) -> None:
    """Run a worker until it or the server ends, and restart dead runs before and meanwhile."""
    # Prefect reads its settings when it is imported.
    from omibench.flows.restarts import begin_again, retry_crashed

    for name in begin_again():
        say(f"begun again: {name}")
    began = look = monotonic()
    with _program("worker", "start", "--pool", POOL, "--type", "process", "--name", POOL) as worker:
        while worker.poll() is None and server.poll() is None:
            sleep(0.5)
            if monotonic() - look < LOOK_S:
                continue
            look = monotonic()
            for name in retry_crashed(look - began):
                say(f"begun again: {name}")


@contextmanager
def _program(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program of Prefect in a separate session, so that only we receive Ctrl-C.

    It is asked to stop, and so are its flows, which keep what they have in flight. Processes
    remaining after `STOP_S` are killed.
    """
    command = python_module("prefect", *words)
    with subprocess.Popen(command, env=isolate_env(os.environ), start_new_session=True) as child:
        try:
            yield child
        finally:
            if words[0] == "worker":
                _end_flows(child.pid)
            child.send_signal(signal.SIGINT if words[0] == "worker" else signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                child.wait(STOP_S)
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def _end_flows(worker: int) -> None:
    """Signal the flows of a worker to stop (`models.traffic.stop`), and wait for them.

    The worker would kill them.
    """
    with suppress(psutil.Error):
        begun = psutil.Process(worker).children(recursive=True)
        flows = [process for process in begun if FLOW in _command_of(process)]
        for flow in flows:
            with suppress(psutil.Error):
                flow.send_signal(signal.SIGTERM)
        psutil.wait_procs(flows, STOP_S)


def _command_of(process: psutil.Process) -> list[str]:
    try:
        words: list[str] = process.cmdline()
    except psutil.Error:
        return []
    return words


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    end = monotonic() + START_S
    while not _answers(port):
        if server.poll() is not None or monotonic() > end:
            say("omibench: the server did not start, for the reason above", err=True)
            raise typer.Exit(1)
        sleep(0.5)


def _answers(port: int) -> bool:
    direct = build_opener(ProxyHandler({}))
    try:
        with direct.open(f"http://{HOST}:{port}/api/health", timeout=5):
            return True
    except (URLError, OSError):
        return False


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
