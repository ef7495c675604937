"""Files of tasks and decisions: a bad line is named, and the rest is taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError, MissingInputError
from omibench.review import folder
from omibench.review.folder import read_decisions, read_review, read_tasks
from review.builders import decide, make_task, write_lines

TASK = make_task()
FIRST, SECOND = decide(1, "ann", "annotator", TASK), decide(2, "bob", "auditor", TASK)


def test_a_bad_line_is_named_and_the_rest_is_taken(tmp_path: Path) -> None:
    naive = FIRST.model_dump_json().replace("2026-01-05T09:01:00Z", "2026-01-05T09:01:00")
    late = SECOND.model_dump_json().replace('"auditor"', '"boss"')
    path = write_lines(tmp_path / "d.jsonl", FIRST, naive, "{", "", late, '{"id": "x"}', SECOND)
    lines = read_decisions(path)
    assert lines.rows == (FIRST, SECOND)
    assert lines.places == (f"{path}, line 1", f"{path}, line 7")
    for error, (number, words) in zip(
        lines.errors,
        [(2, "time: "), (3, "is not JSON"), (5, "(got 'boss')"), (6, "Field required")],
        strict=True,
    ):
        assert error.startswith(f"{path}, line {number}: ")
        assert words in error
    with pytest.raises(FileFormatError, match=r"line 2: time: .* \(and 3 more bad lines\)"):
        lines.require_whole()


def test_hostile_lines_are_bad_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "LINE_BYTES", 600)
    path = write_lines(
        tmp_path / "d.jsonl",
        "[" * 250 + "]" * 250,
        "9" * 5_000,
        '{"id": 1, "id": 2}',
        '"\\ud800"',
        FIRST,
    )
    lines = read_decisions(path)
    assert lines.rows == (FIRST,)
    assert [error.split(": ")[1][:12] for error in lines.errors] == [
        "is nested mo",
        "is longer th",
        "is not JSON",
        "contains hal",
    ]


def test_a_task_that_stands_twice_is_a_bad_line(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "tasks.jsonl", TASK, make_task("p2"), make_task(simulated=True))
    lines = read_tasks(path)
    assert [task.id for task in lines.rows] == ["item:p1", "item:p2"]
    assert lines.errors == (f"{path}, line 3: the task 'item:p1' is already at {path}, line 1",)


def test_a_folder_without_decisions_or_people_is_a_review(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"tasks\.jsonl not found"):
        read_review(tmp_path)
    write_lines(tmp_path / "tasks.jsonl", TASK)
    record = read_review(tmp_path)
    assert (record.tasks, record.decisions, record.reviewers) == ((TASK,), (), ())
    write_lines(tmp_path / "decisions.jsonl", FIRST, "{")
    (tmp_path / "reviewers.yaml").write_text("[{name: ann, roles: [senior]}]", encoding="utf-8")
    record = read_review(tmp_path)
    assert record.decisions == (FIRST,)
    assert [reviewer.name for reviewer in record.reviewers] == ["ann"]
    assert len(record.errors) == 1


@given(st.binary(max_size=200))
def test_whatever_a_file_holds_its_lines_are_rows_or_errors(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "hostile.jsonl"
    path.write_bytes(content)
    lines = read_decisions(path)
    filled = [line for line in content.split(b"\n") if line.strip()]
    assert len(lines.rows) + len(lines.errors) == len(filled)
