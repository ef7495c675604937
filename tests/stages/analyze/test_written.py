"""Tables of an earlier run are removed; other files stay."""

from __future__ import annotations

from pathlib import Path

from omibench.files.outputs import write_csv
from omibench.stages.analyze.stage import NAME, note_tables


def write_tables(out: Path, *names: str) -> set[str]:
    for name in names:
        write_csv(out / name, [{"a": 1}])
    note_tables(out, {*names})
    return {path.relative_to(out).as_posix() for path in out.rglob("*.csv")}


def test_a_table_that_is_no_longer_written_is_removed(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a\n", "utf-8")
    (tmp_path / "errors.csv").write_text("of an earlier version\n", "utf-8")
    (tmp_path / "report.html").touch()
    plots = "plots/accuracy/weak.csv", "plots/accuracy/strong.csv"
    assert write_tables(tmp_path, "main.csv", "own.csv", *plots) == {
        "mine.csv", "main.csv", "own.csv", *plots,
    }  # fmt: skip
    assert write_tables(tmp_path, "main.csv", plots[0]) == {"mine.csv", "main.csv", plots[0]}


def test_a_folder_without_a_report_keeps_its_files(tmp_path: Path) -> None:
    (tmp_path / "errors.csv").write_text("of another program\n", "utf-8")
    assert write_tables(tmp_path, "main.csv") == {"errors.csv", "main.csv"}


def test_a_note_that_cannot_be_read_removes_nothing_else(tmp_path: Path) -> None:
    write_tables(tmp_path, "own.csv")
    (tmp_path / NAME).write_text('{"tables": ["../x.csv"', "utf-8")
    assert write_tables(tmp_path, "main.csv") == {"own.csv", "main.csv"}
