"""Files that change while they are looked at."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.explore.app.studies import copy_results, make_sources

from omibench.explore.app.live import LiveStudy
from omibench.params.setting import Cell


@pytest.fixture
def folder(results: Path, tmp_path: Path) -> Path:
    """A copy of the results."""
    return copy_results(results, tmp_path / "results")


def test_what_has_not_changed_is_not_read_again(folder: Path) -> None:
    live = LiveStudy(make_sources(folder), 0)
    assert live.read() is live.read()


def test_a_new_cell_is_there_at_the_next_look(folder: Path) -> None:
    path = folder / "infer" / "sim-weak" / "cot.parquet"
    data = path.read_bytes()
    path.unlink()
    live = LiveStudy(make_sources(folder), 0)
    before = live.read().study.run
    assert before is not None
    assert Cell("sim-weak", "cot") not in before.cells
    path.write_bytes(data)
    after = live.read().study.run
    assert after is not None
    assert Cell("sim-weak", "cot") in after.cells


def test_a_file_that_is_being_written_keeps_what_was_there(folder: Path) -> None:
    live = LiveStudy(make_sources(folder), 0)
    questions = folder / "freeze" / "questions.jsonl"
    questions.write_text(questions.read_text()[:200])
    snapshot = live.read()
    assert len(snapshot.study.items.ids) == 28
    assert "questions.jsonl" in snapshot.warnings[0]


def test_within_a_second_nobody_looks(folder: Path) -> None:
    live = LiveStudy(make_sources(folder), 3600)
    (folder / "infer" / "sim-weak" / "cot.parquet").unlink()
    run = live.read().study.run
    assert run is not None
    assert len(run.cells) == 9
