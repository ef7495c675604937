"""A study whose files are in Snakemake's storage `fs`, as under the profile for Kubernetes.

The jobs run on this machine: only the storage is that of the profile.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.graph_scale import make_study
from tests.cluster_plugins import copying_rsync, require_plugins

SHARED = ("persistence", "sources", "source-cache", "software-deployment")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    folder.mkdir()
    make_study(folder, 1, 1)
    return folder


@pytest.fixture
def snakemake(study: Path, tmp_path: Path) -> Run:
    plugins = require_plugins()
    programs = (str(copying_rsync(tmp_path)), str(Path(sys.executable).parent), os.environ["PATH"])
    source = filter(None, [plugins, os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {
        "PATH": os.pathsep.join(programs), "PYTHONPATH": os.pathsep.join(source)
    }  # fmt: skip
    storage = ("--default-storage-provider", "fs", "--default-storage-prefix", str(study))

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["snakemake", "score_all", "--cores", "1", *storage, "--shared-fs-usage", *SHARED,
             "--keep-storage-local-copies", *options],
            cwd=study, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_file_edited_in_the_storage_is_noticed_at_the_start(study: Path, snakemake: Run) -> None:
    done = snakemake()
    assert done.returncode == 0, done.stdout + done.stderr
    again = snakemake("-n")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "Nothing to be done" in again.stdout + again.stderr
    oracle = study / "oracle.jsonl"
    text = oracle.read_text("utf-8")
    oracle.write_text(text.replace("18 m/s", "19 m/s"), "utf-8")
    planned = snakemake("-n")
    assert "updated input files:" in planned.stdout, planned.stdout + planned.stderr
    assert "rule infer" in planned.stdout
    oracle.write_text(text, "utf-8")  # the same content as that of the run, and a new time
    assert "rule infer" not in snakemake("-n").stdout
    cell = study / "results" / "infer" / "m000" / "s00.parquet"
    cell.write_bytes(cell.read_bytes()[:-5] + b"12345")
    refused = snakemake("-n")
    assert refused.returncode == 2
    assert "results/infer/m000/s00.parquet was edited or exchanged" in refused.stderr
