"""Where results are looked for that are not here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.extras import require_extra

from omibench.files.programs import python_module
from omibench.graph.git_state import _remotes

require_extra("workflow", "dvc")


def test_remotes_are_named_whatever_the_length_of_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_NO_ANALYTICS", "1")
    place = str(tmp_path / ("far" * 60))
    for words in (
        ("init", "-q", "--no-scm"),
        ("remote", "add", "-q", "-d", "folder", place),
        ("remote", "add", "-q", "with.dots", place),
    ):
        subprocess.run(python_module("dvc", *words), check=True, capture_output=True)
    assert _remotes() == ["folder", "with.dots"]
