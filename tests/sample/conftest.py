"""The sample's sources and scripts, as its tests see them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omibench.files.yaml_file import read_yaml

SAMPLE = Path(__file__).resolve().parents[2] / "sample"
BOOKLETS: dict[str, dict[str, Any]] = {
    path.stem: read_yaml(path) for path in sorted((SAMPLE / "booklets").glob("*.yaml"))
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `name` runs once for each booklet; `digital`, for each not scanned."""
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", list(BOOKLETS))
    if "digital" in metafunc.fixturenames:
        metafunc.parametrize("digital", [n for n, b in BOOKLETS.items() if not b.get("scan")])


@pytest.fixture(scope="session")
def sample() -> Path:
    return SAMPLE


@pytest.fixture(scope="session")
def booklets() -> dict[str, dict[str, Any]]:
    return BOOKLETS


@pytest.fixture(scope="session")
def rebuilt(build_once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """All booklets typeset again, with `built.json`: name -> manifest row and oracle rows.

    A process of its own does it, since the typesetter keeps about 150 MB a booklet.
    """
    program = (
        "import build, json, pathlib, sys; folder = pathlib.Path(sys.argv[1]); "
        "built = {name: build.build(name, folder) for name in build.names()}; "
        "(folder / 'built.json').write_text(json.dumps(built), 'utf-8')"
    )
    return build_once(
        "rebuilt_booklets",
        lambda folder: subprocess.run(
            [sys.executable, "-c", program, str(folder)], cwd=SAMPLE, check=True, timeout=300
        ),
    )
