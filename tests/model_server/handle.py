"""Start a server of its own for a test or a benchmark, steer it, and read its counters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_server.config import Config

TESTS = Path(__file__).parents[1]
FOUR_HOURS = 14_400.0
KEY_ENV = "TEST_MODEL_KEY"
"""The variable that holds the key of models in tests."""
KEY = "planted-key-0123456789"
"""That key, which nothing may ever show."""
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class ServerHandle:
    """A running server. The methods block for about a millisecond."""

    base_url: str
    process: subprocess.Popen[str]

    @property
    def openai_url(self) -> str:
        """What `AsyncOpenAI(base_url=...)` takes."""
        return f"{self.base_url}/v1"

    @property
    def anthropic_url(self) -> str:
        """What `AsyncAnthropic(base_url=...)` takes."""
        return self.base_url

    def stats(self, *, contents: bool = True) -> dict[str, Any]:
        """The counters of `stats.Stats`, `batches`, and per distinct request `contents`."""
        return self._call(f"stats?contents={int(contents)}")

    def reset(self) -> None:
        """Forget everything that happened and return to the configuration of the start."""
        self._call("reset", {})

    def restart(self, **config: Any) -> None:
        """Be as a new server with the given fields of `Config`: a reset returns to them."""
        self._call("restart", Config(**config).model_dump(mode="json"))

    def configure(self, **changes: Any) -> None:
        """Change fields of the configuration; raises ValueError for what `Config` refuses."""
        self._call("configure", changes)

    def add_model(self, name: str) -> None:
        """List one more model, last."""
        self._call("models", {"name": name})

    def finish_batches(self) -> None:
        """End every open batch now, whatever `batch_s` says."""
        self._call("finish", {})

    def _call(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.base_url}/control/{path}", data)
        try:
            with DIRECT.open(request, timeout=30) as reply:
                found: dict[str, Any] = json.load(reply)
        except urllib.error.HTTPError as error:
            raise ValueError(error.read().decode()) from None
        return found


@contextmanager
def running_server(*, max_seconds: float = FOUR_HOURS, **config: Any) -> Iterator[ServerHandle]:
    """A server in a process of its own with the given fields of `Config`; it ends with the block.

    It also ends when this process dies in any way. `max_seconds` is for a parent that hangs: it
    is longer than any run of the tests, since a fixture of the session may live as long as one.
    Raises pydantic.ValidationError for a wrong field.
    """
    checked = Config(**config).model_dump_json()
    command = [sys.executable, "-m", "model_server", "--max-seconds", str(max_seconds)]
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [*command, "--config", checked],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = process.stdout.readline().strip()
        if not port:
            raise RuntimeError("the model server did not start; its error is above")
        yield ServerHandle(f"http://127.0.0.1:{port}", process)
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Poll until the condition holds; fails when it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
