"""What becomes of tasks.jsonl: new lines, changed lines, and decisions that are stale then."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, OutputError
from omibench.review.tasks.drafts import lock_tasks, merge_tasks, read_present_tasks, write_tasks
from review.builders import decide, make_task, write_lines

PEOPLE = {"annotator": ["ann"]}
OLD = make_task("p1", people=PEOPLE)
CHANGED = make_task("p1", content={"question": "How?", "answer": ["A"]})


def test_a_changed_task_takes_the_place_of_its_line_and_keeps_its_people() -> None:
    other = make_task("p2", "label", content={"question": "Why?"})
    decisions = [decide(1, "ann", "annotator", OLD), decide(2, "bob", "auditor", OLD)]
    changes = merge_tasks("item", [OLD, other], [CHANGED, make_task("p3")], decisions)
    assert [task.id for task in changes.tasks] == ["item:p1", "label:p2", "item:p3"]
    assert changes.tasks[0] == CHANGED.model_copy(update={"people": PEOPLE})
    assert (changes.new, changes.changed, changes.stale) == (("item:p3",), ("item:p1",), 2)


def test_decisions_that_were_stale_before_are_not_counted_again() -> None:
    stale = decide(1, "ann", "annotator", OLD, content_hash="f" * 64)
    assert merge_tasks("item", [OLD], [CHANGED], [stale]).stale == 0


def test_an_unchanged_task_stays_and_nothing_is_lost() -> None:
    gone = make_task("p9")
    sample = make_task("p1", id="item:p1@week", of="item:p1", purpose="sample")
    changes = merge_tasks("item", [OLD, gone, sample], [make_task("p1")])
    assert changes.tasks == (OLD, gone, sample)
    assert (changes.kept, changes.new, changes.changed, changes.gone) == (1, (), (), ("item:p9",))


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert read_present_tasks(tmp_path) == []
    (tmp_path / "new").mkdir()
    write_tasks(tmp_path / "new", [OLD, CHANGED.model_copy(update={"id": "item:p2"})])
    assert read_present_tasks(tmp_path / "new")[0] == OLD


def test_nothing_is_written_over_a_bad_line(tmp_path: Path) -> None:
    write_lines(tmp_path / "tasks.jsonl", OLD, "{")
    with pytest.raises(FileFormatError, match=r"tasks\.jsonl, line 2"):
        read_present_tasks(tmp_path)


def test_writers_wait_for_each_other(tmp_path: Path) -> None:
    def add(number: int) -> None:
        with lock_tasks(tmp_path):
            present = read_present_tasks(tmp_path)
            write_tasks(tmp_path, [*present, make_task(f"p{number}")])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(12)))
    assert len(read_present_tasks(tmp_path)) == 12


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="--review"), lock_tasks(tmp_path / "file/review"):
        pass
