"""Snakemake's executors of clusters, for the few tests that need them.

They cost every start of Snakemake half a second of imports, so the environment of the tests lacks
them: they are installed beside it, in a folder that only these tests have on their path.
"""

from __future__ import annotations

import atexit
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

PINNED = Path(__file__).parents[1] / "requirements-cluster.txt"
PLUGINS = (
    "snakemake_executor_plugin_slurm",
    "snakemake_executor_plugin_kubernetes",
    "snakemake_storage_plugin_fs",
)


def require_plugins() -> str:
    """The PYTHONPATH on which the plugins are; skips with the reason when they cannot be had."""
    if all(importlib.util.find_spec(name) for name in PLUGINS):
        return ""
    path, why = _install()
    if why:
        pytest.skip(f"the executors of clusters cannot be installed: {why}")
    return path


@cache
def _install() -> tuple[str, str]:
    folder = tempfile.mkdtemp(prefix="cluster-plugins-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = [
        sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--target", folder, "-r", str(PINNED),
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=240,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "", "pip takes too long"
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    failed = errors[-1] if errors else f"pip ends with {done.returncode}"
    return folder, failed if done.returncode else ""


def copying_rsync(folder: Path) -> Path:
    """A stand-in for rsync, with which the main process puts its sources on the volume."""
    programs = folder / "programs"
    programs.mkdir()
    script = programs / "rsync"
    script.write_text(
        '#!/bin/sh\nwhile [ "$#" -gt 2 ]; do shift; done\n'
        'mkdir -p "$(dirname "$2")" && cp -a "$1" "$2"\n'
    )
    script.chmod(0o755)
    return programs
