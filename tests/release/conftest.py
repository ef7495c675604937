"""A small freeze, and what is said of its sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_freeze import write_freeze, write_sources


@pytest.fixture
def freeze(tmp_path: Path) -> Path:
    """The folder of a small freeze."""
    return write_freeze(tmp_path / "results/freeze")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A sources.yaml that allows all to be given on."""
    return write_sources(tmp_path / "sources.yaml")
