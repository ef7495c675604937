"""The server as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from pydantic import ValidationError

from model_server.handle import running_server, wait_until


def refused(url: str) -> bool:
    try:
        httpx2.get(f"{url}/control/stats", timeout=30)
    except httpx2.TransportError:
        return True
    return False


def test_it_ends_with_the_block() -> None:
    with running_server() as server:
        assert not refused(server.base_url)
    assert server.process.returncode == 0
    assert refused(server.base_url)


def test_it_ends_when_its_parent_is_killed(root: Path) -> None:
    code = (
        "import time\nfrom model_server.handle import running_server, wait_until\n"
        "with running_server() as s:\n    print(s.base_url, flush=True)\n    time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(root / "tests")},
    )
    assert parent.stdout is not None
    with parent.stdout:
        url = parent.stdout.readline().strip()
        assert not refused(url)
        parent.kill()
        parent.wait()
    wait_until(lambda: refused(url))


def test_it_ends_by_the_clock_and_starts_from_the_root(root: Path) -> None:
    command = [sys.executable, "-m", "tests.model_server", "--max-seconds", "0.3", "--config"]
    done = subprocess.run(
        [*command, '{"latency_s": 1}'],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    assert int(done.stdout.split()[0]) > 0
    assert done.stderr == ""


def test_a_wrong_configuration_does_not_start() -> None:
    with pytest.raises(ValidationError), running_server(latenzy_s=1):
        pass
