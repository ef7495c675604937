"""A cell that cannot be read names the one command that rebuilds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import FileFormatError
from omibench.params.study import parse_study
from omibench.schemas.cells import read_cell
from omibench.schemas.tables import ResponseRow, read_parquet, write_parquet
from omibench.study.plan.build import incomplete_cells

ROW = ResponseRow(id="a", index=0, key="k", outcome="answered", text="x" * 900)


def cut_off(path: Path) -> Path:
    write_parquet(path, [ROW], ResponseRow)
    path.write_bytes(path.read_bytes()[:300])
    return path


@pytest.mark.parametrize("stage", ["infer", "score", "judge", "aggregate", "saliency"])
def test_a_cell_that_was_cut_off_is_one_line_with_its_command(tmp_path: Path, stage: str) -> None:
    path = cut_off(tmp_path / "my results" / stage / "m" / "cot.parquet")
    with pytest.raises(FileFormatError) as error:
        read_parquet(path, ResponseRow)
    said = str(error.value)
    assert said.startswith(f"{path}: is not a Parquet file: ")
    assert said.endswith(f"rebuild it with `snakemake --cores all --forcerun '{path}'`")
    assert "\n" not in said


def test_another_file_is_the_users_own(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError) as error:
        read_cell(cut_off(tmp_path / "mine.parquet"))
    assert "snakemake" not in str(error.value)


def test_looking_for_cells_that_lack_answers_names_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cut_off(Path("results/infer/m/cot.parquet"))
    study = parse_study(
        {
            "models": {"m": {"provider": "simulated", "oracle": "o"}},
            "settings": {"cot": {}},
            "infer": {"models": ["m"], "settings": ["cot"]},
        },
        "test",
    )
    with pytest.raises(FileFormatError, match=r"--forcerun results/infer/m/cot\.parquet`"):
        incomplete_cells(study)
