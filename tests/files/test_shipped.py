"""What ships with omibench is found in a checkout and where a wheel has put it."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.files import locations as module
from omibench.files.locations import find_local_or_shipped, find_shipped


def test_a_checkout_is_the_repository_itself(root: Path) -> None:
    assert find_shipped("Snakefile") == root / "Snakefile"
    assert find_shipped("rules/common.smk").is_file()


def test_a_wheel_has_it_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_INSTALLED", tmp_path)
    assert find_shipped("Snakefile") == tmp_path / "Snakefile"


def test_a_file_of_the_current_folder_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "published/emma_main.csv"
    assert find_local_or_shipped(name) == root / name
    (tmp_path / "published").mkdir()
    (tmp_path / name).write_text("")
    assert find_local_or_shipped(name) == Path(name)
