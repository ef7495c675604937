"""Checkouts of the project in folders of their own, and ways to run its commands there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PARTS = (
    "Snakefile", "params.yaml", "dvc.yaml", "rules", "profiles", "schemas", "studies", "sample",
    "published", "workflows", "envs", "prompts", "report",
)  # fmt: skip
Run = Callable[..., subprocess.CompletedProcess[str]]


def fill_checkout(root: Path, folder: Path) -> Path:
    """Copy the files of the project that a study reads; the package is the installed one."""
    for name in PARTS:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy(source, folder / name)
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A checkout that the tests of a module may change."""
    return fill_checkout(root, tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def run(checkout: Path) -> Run:
    """Run a program of the environment in the checkout; fails with its output unless `ok=False`."""
    return runner(checkout)


def runner(checkout: Path) -> Run:
    """As the fixture `run`, in any checkout."""
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}

    def call(*command: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True, check=False
        )
        assert not ok or done.returncode == 0, done.stdout + done.stderr
        return done

    return call
