"""Plug-ins that are installed in a folder that is left out are unknown, also to this repository's
tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from omibench.plugins.sources import LEFT_OUT, installed_names, installed_parts


@pytest.fixture(autouse=True)
def read_again() -> Iterator[None]:
    installed_parts.cache_clear()
    yield
    installed_parts.cache_clear()


def test_a_package_in_a_folder_that_is_left_out_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "other-2.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 2.0\n")
    (metadata / "entry_points.txt").write_text("[omibench.scorers]\nhalves = other\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert installed_names("scorers") == ["halves"]
    before = os.environ[LEFT_OUT]
    monkeypatch.setenv(LEFT_OUT, os.pathsep.join([before, str(tmp_path)]))
    installed_parts.cache_clear()
    assert installed_names("scorers") == []
