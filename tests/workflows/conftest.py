"""An endpoint with one model, a study that asks it, and a Prefect server on loopback."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.workflows_support import (
    SECRET,
    Hook,
    environment,
    free_port,
    healthy,
    study_folder,
    until,
)

from model_server.handle import ServerHandle


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"letters": True, "api_keys": [SECRET], "models": ["old-one"], "any_model": False}


@pytest.fixture
def endpoint(server: ServerHandle) -> ServerHandle:
    """An endpoint that serves `old-one`."""
    return server


@pytest.fixture
def folder(tmp_path: Path, root: Path, endpoint: ServerHandle) -> Path:
    """A checkout with a study of 12 questions, one model and two settings at the endpoint."""
    return study_folder(tmp_path / "study", root, endpoint.openai_url)


@pytest.fixture(scope="module")
def webhook() -> Iterator[Hook]:
    """A webhook for the tests of a module."""
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


@pytest.fixture(scope="session")
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Prefect keeps its database, away from the user's."""
    return tmp_path_factory.mktemp("prefect")


@pytest.fixture(scope="session")
def api_url(prefect_home: Path) -> Iterator[str]:
    """The API of a Prefect server in a process of its own."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/api"
    command = ["-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    log = (prefect_home / "server.log").open("w")
    with subprocess.Popen(
        [sys.executable, *command], env=environment(prefect_home), stdout=log, stderr=log
    ) as server:
        try:
            until(lambda: healthy(url), 180, (prefect_home / "server.log").read_text)
            yield url
        finally:
            server.terminate()
