"""Run a local Prefect server and worker, on loopback and with SQLite, until Ctrl-C.

    python -m workflows.serve            (or: make serve)

It deploys the flows of prefect.yaml. A worker that dies is restarted, and so are its runs: their
responses are in the store.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated, Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import psutil
import typer

if not __package__:  # run as a script
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import workflows  # noqa: F401 (it sets what Prefect reads when it is imported)

from omibench.files.locks import hold
from omibench.files.programs import isolate_env, python_module
from omibench.text.terminal import say

HOST = "127.0.0.1"
POOL = "omibench"
START_S = 180.0
STOP_S = 30.0
FLOW = "prefect.engine"
"""The module that a worker starts for each flow."""
FLOWS = ("evaluate", "judge", "rationales", "reevaluate")


def main(
    port: Annotated[int, typer.Option(help="Port of the server on loopback.")] = 4200,
    home: Annotated[
        Path | None, typer.Option(help="Prefect's folder, with its database.  [.prefect]")
    ] = None,
) -> None:
    """Serve the deployments of prefect.yaml from this folder, until Ctrl-C."""
    folder = home or Path(os.environ.get("PREFECT_HOME", ".prefect"))
    os.environ["PREFECT_HOME"] = str(folder.resolve())
    os.environ["PREFECT_API_URL"] = f"http://{HOST}:{port}/api"
    os.environ["OMIBENCH_FOLDER"] = str(Path.cwd())
    if _answers(port):
        say(
            f"omibench: port {port} is in use: stop the program there, or choose another "
            "with --port",
            err=True,
        )
        raise typer.Exit(2)
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        with _program("server", "start", "--host", HOST, "--port", str(port)) as server:
            _wait_for(port, server)
            safe = isolate_env(os.environ)
            prefect = python_module("prefect", "--no-prompt")
            pool = [*prefect, "work-pool", "create", POOL, "--type", "process"]
            subprocess.run(pool, env=safe, check=False, capture_output=True)  # may already exist
            subprocess.run([*prefect, "deploy", "--all"], env=safe, check=True)
            say(f"The flows are served: open http://{HOST}:{port}  Ctrl-C stops.")
            while server.poll() is None:
                _work(server)
    except KeyboardInterrupt:
        say("stopped")
    except subprocess.CalledProcessError as error:
        say("omibench: prefect.yaml cannot be deployed, for the reason above", err=True)
        raise typer.Exit(error.returncode) from None


def _work(server: subprocess.Popen[bytes]) -> None:
    """Run a worker until it or the server ends, after restarting dead runs."""
    for name in begin_again():
        say(f"begun again: {name}")
    with _program("worker", "start", "--pool", POOL, "--type", "process", "--name", POOL) as worker:
        while worker.poll() is None and server.poll() is None:
            sleep(0.5)


def begin_again() -> list[str]:
    """Schedule the runs whose process is gone again; return their names.

    A live run of a flow holds a lock (`workflows.shared.living`). Runs inside another run are
    marked as crashed, since that one restarts them.
    """
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowFilter, FlowRunFilter
    from prefect.client.schemas.objects import State, StateType
    from prefect.states import Crashed, Scheduled

    at_work = [StateType.RUNNING, StateType.PENDING]
    states: dict[str, object] = {"state": {"type": {"any_": at_work}}}
    begun = []
    with get_client(sync_client=True) as client:
        runs = client.read_flow_runs(
            flow_filter=FlowFilter.model_validate({"name": {"any_": list(FLOWS)}}),
            flow_run_filter=FlowRunFilter.model_validate(states),
        )
        for run in runs:
            if _lives(str(run.id)):
                continue
            state: State[Any]
            if run.deployment_id is None:
                state = Crashed(message="its process is gone")
            else:
                state = Scheduled(message="its process is gone: restarted")
                begun.append(run.name)
            client.set_flow_run_state(run.id, state, force=True)
    return begun


def _lives(run_id: str) -> bool:
    from workflows.shared import sign_of_life

    path = sign_of_life(run_id)
    if not path.is_file():
        return False
    with path.open("a") as file:
        return not hold(file.fileno())


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


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    typer.run(main)
