from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import MissingInputError
from omibench.results.study_files import find_results_folder
from omibench.study.explain import explain_id


@pytest.fixture
def results(tmp_path: Path) -> Path:
    cell = tmp_path / "study" / "results" / "infer" / "m" / "cot.parquet"
    cell.parent.mkdir(parents=True)
    cell.write_bytes(b"")
    (tmp_path / "study" / "results" / "score" / "m").mkdir(parents=True)
    return tmp_path / "study" / "results"


@pytest.mark.parametrize("wrong", [".", "..", "score", "score/m", "infer", "infer/m"])
def test_a_wrong_folder_names_the_right_one(
    results: Path, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(results.parent.parent)
    if wrong == ".":
        assert find_results_folder(results) == results
        return
    with pytest.raises(MissingInputError, match=r"give study/results$"):
        explain_id([results / wrong], "q1")


def test_a_folder_of_other_things_says_what_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(MissingInputError, match="give the results folder of a study"):
        find_results_folder(tmp_path)
