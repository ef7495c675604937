"""Where a study lies: no two share a log, and experiments share the project's store."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.operating import log_folder, store_folder


@pytest.mark.parametrize(
    ("results", "logs"),
    [
        ("results", "logs"),
        ("results/", "logs"),
        ("results/emma", "logs/emma"),
        ("out", "logs/out"),
        ("out/emma", "logs/out/emma"),
        ("../shared/out", "logs/shared/out"),
        ("/data/out", "logs/data/out"),
    ],
)
def test_each_study_has_logs_of_its_own_below_logs(results: str, logs: str) -> None:
    assert log_folder(results) == logs


def test_an_experiment_uses_the_store_of_the_project(tmp_path: Path) -> None:
    copy = tmp_path / ".dvc/tmp/exps/tmpab12"
    copy.mkdir(parents=True)
    assert store_folder("store", tmp_path) == "store"
    assert store_folder("store", copy) == str(tmp_path.resolve() / "store")
    assert store_folder("deep/store", copy) == str(tmp_path.resolve() / "deep/store")
    assert store_folder("/shared/store", copy) == "/shared/store"
