"""The sample's sources and scripts, as its tests see them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

SAMPLE = Path(__file__).resolve().parents[2] / "sample"
BOOKLETS: dict[str, dict[str, Any]] = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((SAMPLE / "booklets").glob("*.yaml"))
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
def build() -> ModuleType:
    """sample/build.py, which stands outside every package."""
    sys.path.insert(0, str(SAMPLE))
    try:
        spec = importlib.util.spec_from_file_location("sample_build", SAMPLE / "build.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(SAMPLE))
