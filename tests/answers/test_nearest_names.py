from __future__ import annotations

from pathlib import Path

import pytest

from omibench.answers.nearest_names import nearest_ids, no_such_id, results_folder
from omibench.errors import MissingInputError
from omibench.stages.score.explained import explain_id


def test_the_nearest_three_ids_come_first() -> None:
    known = [f"physics-{i}" for i in range(1, 40)] + ["biology-3", "chemistry-12", "math-7"]
    assert nearest_ids("phyiscs-33", known)[0] == "physics-33"
    assert nearest_ids("Biology_3", known)[0] == "biology-3"
    assert len(nearest_ids("zzz", known)) == 3
    error = str(no_such_id("phys\x1b-33", known))
    assert error.count("physics-") == 3
    assert "\x1b" not in error
    assert "the only one is 'q1'" in str(no_such_id("zzz", ["q1"]))


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
        assert results_folder(results) == results
        return
    with pytest.raises(MissingInputError, match=r"give study/results$"):
        explain_id([results / wrong], "q1")


def test_a_folder_of_other_things_says_what_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(MissingInputError, match="give the results folder of a study"):
        results_folder(tmp_path)
