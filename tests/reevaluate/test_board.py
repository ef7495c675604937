"""The published board: a copy of the results that is never half of one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from omibench.errors import MissingInputError, OutputError
from omibench.study.reevaluate.changes import publish

FILES = {
    "analyze/report.html": "report",
    "analyze/metrics.json": "{}",
    "analyze/explorer/pages/p1.html": "<img src='../../../freeze/images/a.png'>",
    "freeze/images/a.png": "picture",
    "pictures/composite/p1.png": "a made picture",
    "freeze/answers.jsonl": "gold",
    "score/m/cot.parquet": "verdicts",
}


def results(folder: Path, **changes: str) -> Path:
    for name, text in (FILES | changes).items():
        path = folder / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "results"


def held(board: Path) -> set[str]:
    return {str(p.relative_to(board)) for p in board.rglob("*") if p.is_file()}


def test_the_board_holds_what_its_pages_show_and_no_gold(tmp_path: Path) -> None:
    report = publish(results(tmp_path), tmp_path / "board")
    assert report == tmp_path / "board/analyze/report.html"
    shown = {name for name in FILES if name.startswith(("analyze/", "freeze/images/", "pictures/"))}
    assert held(tmp_path / "board") == {*shown, "index.html"}


def test_what_is_gone_goes_and_what_is_equal_stays(tmp_path: Path) -> None:
    source, board = results(tmp_path), tmp_path / "board"
    publish(source, board)
    (board / "changes.md").write_text("what moved")
    untouched = (board / "analyze/metrics.json").stat()
    os.utime(board / "analyze/report.html", (1, 1))
    (source / "analyze/report.html").write_text("REPORT")
    (source / "analyze/explorer/pages/p1.html").unlink()
    publish(source, board)
    assert (board / "analyze/report.html").read_text() == "REPORT"
    assert not (board / "analyze/explorer/pages/p1.html").exists()
    assert (board / "changes.md").read_text() == "what moved"
    assert (board / "analyze/metrics.json").stat().st_mtime_ns == untouched.st_mtime_ns


def test_no_report_and_no_room_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="report not found"):
        publish(tmp_path, tmp_path / "board")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be"):
        publish(results(tmp_path), tmp_path / "file")
