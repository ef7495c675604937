"""What the store holds of cells whose requests follow captions or show made pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages.infer.pictured import pictured_questions, pictured_study

from omibench.params.setting import Cell
from omibench.stages.infer import infer_cell
from omibench.study.status.reader import Stored, StoredCounts


@pytest.mark.parametrize(("setting", "count"), [("words", 6), ("joined", 3), ("worse", 3)])
def test_answers_are_found_as_they_come_and_nothing_is_drawn(
    tmp_path: Path, setting: str, count: int
) -> None:
    questions, study = pictured_questions(tmp_path), pictured_study(tmp_path)
    pictures, cells = tmp_path / "results" / "pictures", {Cell("a", setting), Cell("b", setting)}
    stored = Stored(study, questions)
    try:
        before = stored.look(cells, cells)
        assert before == dict.fromkeys(cells, StoredCounts(count))
        assert not pictures.exists()
        infer_cell(questions, tmp_path / "a.parquet", study, Cell("a", setting))
        after = stored.look(cells, cells)
        assert after[Cell("a", setting)].answered == count
        assert after[Cell("b", setting)].answered == 0
        infer_cell(questions, tmp_path / "b.parquet", study, Cell("b", setting))
        assert stored.look(cells, cells)[Cell("b", setting)].answered == count
    finally:
        stored.close()
