"""Results as they are on disk: whole, begun, broken, or none."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.explore.run import JUDGE_RULES, open_run
from omibench.params.setting import Cell


def test_it_reads_every_cell_without_texts(results: Path) -> None:
    run = open_run(results)
    assert len(run.cells) == 9
    assert run.cells[0] == Cell("sim-middle", "cot")
    assert "text" not in run.responses.columns
    assert run.rules[-1] == JUDGE_RULES
    assert not any("/" in rules for rules in run.rules)
    assert run.is_simulated


def test_a_folder_without_results_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"freeze/questions\.jsonl not found"):
        open_run(tmp_path)


def copy_results(results: Path, target: Path) -> Path:
    for stage in ("freeze", "infer", "score"):
        shutil.copytree(results / stage, target / stage)
    return target


def test_what_is_being_written_is_shown_as_far_as_it_is(results: Path, tmp_path: Path) -> None:
    folder = copy_results(results, tmp_path / "copy")
    (folder / "score/sim-weak/cot.parquet").unlink()
    (folder / "infer/sim-weak/direct.parquet").write_bytes(b"PAR1 not yet")
    run = open_run(folder)
    assert Cell("sim-weak", "cot") in run.cells
    assert Cell("sim-weak", "direct") not in run.cells
    assert run.verdicts.filter(model="sim-weak", setting="cot").is_empty()
    assert len(run.unreadable) == 1
    assert "direct.parquet" in run.unreadable[0]
    shutil.rmtree(folder / "infer")
    shutil.rmtree(folder / "score")
    assert open_run(folder).cells == ()


def test_without_a_readable_cell_it_says_why(results: Path, tmp_path: Path) -> None:
    folder = copy_results(results, tmp_path / "copy")
    for path in folder.glob("infer/*/*.parquet"):
        path.write_bytes(b"nothing")
    with pytest.raises(FileFormatError, match="parquet"):
        open_run(folder)


def test_labels_name_models_and_settings(results: Path) -> None:
    run = open_run(results, {"sim-weak": "Weak"})
    assert (run.label("sim-weak"), run.label("cot")) == ("Weak", "cot")
    assert isinstance(run.responses, pl.DataFrame)


def test_cells_stand_in_the_order_of_the_study(results: Path) -> None:
    run = open_run(results, order=["sim-weak", "sim-strong", "direct"])
    models = [cell.model for cell in run.cells]
    assert list(dict.fromkeys(models)) == ["sim-weak", "sim-strong", "sim-middle"]
    settings = [cell.setting for cell in run.cells]
    assert settings[:3] == ["direct", "cot", "first-image"]
    assert models == sorted(models, key=["sim-weak", "sim-strong", "sim-middle"].index)
