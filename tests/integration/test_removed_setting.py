"""A setting that is removed from the parameters: what runs, what counts, what stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import Build
from tests.extras import require_extra
from tests.integration.small_study import Copy, built_by_dvc

require_extra("workflow", "dvc")

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]


def list_cells(study: Copy) -> list[list[str]]:
    """The cells that the last run noted."""
    record = json.loads((study.folder / "results/infer/study.json").read_text("utf-8"))
    cells: list[list[str]] = record["cells"]["infer"]
    return cells


def test_files_of_a_removed_setting_do_not_count_and_can_be_removed(
    build_once: Build, root: Path, tmp_path: Path
) -> None:
    built = Copy(build_once("by-dvc", lambda folder: built_by_dvc(folder, root)) / "study")
    study = built.copy(tmp_path / "study")
    model, (kept, gone) = list_cells(study)[0][0], [name for _, name in list_cells(study)]
    params = study.params()
    params["infer"]["settings"] = [kept]
    study.write_params(params)
    assert study.jobs("dvc", "repro") == {"analyze": 1}
    assert list_cells(study) == [[model, kept]]
    assert "up to date" in study.run("dvc", "status")
    left = [f"results/{stage}/{model}/{gone}.parquet" for stage in ("infer", "score")]
    shown = study.run("omibench", "results", "leftovers")
    assert shown.splitlines()[-3:] == [*left, "left over: 2"]
    assert "2 files of cells that the study no longer has" in study.run("omibench", "status")
    study.run("omibench", "results", "leftovers", "--remove")
    assert not any((study.folder / path).exists() for path in left)
    study.run("omibench", "trust")
    assert study.jobs("dvc", "repro") == {}
    assert "up to date" in study.run("dvc", "status")
