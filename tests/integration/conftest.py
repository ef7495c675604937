"""Checkouts of the project in folders of their own, ways to run its commands there, and studies
that are built once for all workers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from omibench.files.locks import open_lock, wait_lock

PARTS = (
    "Snakefile", "params.yaml", "dvc.yaml", "rules", "profiles", "schemas", "studies", "sample",
    "published", "workflows", "envs", "prompts",
)  # fmt: skip
Run = Callable[..., subprocess.CompletedProcess[str]]
Build = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def build_once(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Have a folder filled by the first worker that needs it; the others wait, and use it too.

    Who gets it only reads it, or works on a copy.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def build(name: str, fill: Callable[[Path], object]) -> Path:
        folder, done = shared / name, shared / f"{name}.built"
        lock = open_lock(shared / f"{name}.lock")
        try:
            wait_lock(lock)
            if folder.exists() and not done.exists():
                pytest.fail(f"{name}: cannot be built, as an earlier test says")
            if not done.exists():
                folder.mkdir()
                fill(folder)
                done.touch()
        finally:
            os.close(lock)
        return folder

    return build


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
