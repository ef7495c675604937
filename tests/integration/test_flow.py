"""The Prefect flow fills the store without a server, and Snakemake finds every answer there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.extras import require_extra

require_extra("flows", "prefect")

Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = [pytest.mark.slow, pytest.mark.long]


def responses(checkout: Path) -> int:
    segments = (checkout / "store").rglob("*.jsonl")
    return sum(len(s.read_text("utf-8").splitlines()) for s in segments)


def test_the_flow_fills_the_store_and_builds_the_report(
    checkout: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
        "DO_NOT_TRACK": "1",
    }.items():
        monkeypatch.setenv(name, value)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-m", "workflows.evaluate", "params.yaml"],
        cwd=checkout, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (checkout / "results/analyze/report.html").is_file()
    bought = responses(checkout)
    run("snakemake", "--cores", "2", "--forcerun", "infer")
    assert responses(checkout) == bought
