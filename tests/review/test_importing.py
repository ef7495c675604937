"""Decisions of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omibench.errors import MissingInputError
from omibench.review.folder import read_record
from omibench.review.imports import ImportOutcome, import_files
from review.builders import GOOD, decide, make_task, write_lines

TASK = make_task()
PEOPLE = """
- {name: ann, roles: [annotator]}
- {name: bot, roles: [auditor], simulated: true}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lines(tmp_path / "review/tasks.jsonl", TASK)
    (tmp_path / "review/reviewers.yaml").write_text(PEOPLE, encoding="utf-8")
    return tmp_path / "review"


def test_importing_twice_changes_nothing(folder: Path) -> None:
    file = write_lines(folder / "in.jsonl", decide(1, "ann", "annotator", TASK))
    assert import_files(folder, [file, file]) == ImportOutcome(added=1, repeated=1)
    before = (folder / "decisions.jsonl").read_bytes()
    assert import_files(folder, [file]) == ImportOutcome(repeated=1)
    assert (folder / "decisions.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("who", "role", "values", "line"),
    [
        ("ann", "annotator", {"task": "item:p2"}, "task: task 'item:p2' not found; did you mean"),
        ("ann", "annotator", {"kind": "items"}, "unknown kind of task 'items'; did you mean"),
        ("ann", "annotator", {"kind": "label"}, "kind: the kind of task 'item:p1' is 'item'"),
        ("ann", "annotator", {"fields": GOOD | {"quality": 9}}, "quality: must be an integer"),
        ("anne", "annotator", {}, "person: 'anne' is not in reviewers.yaml; did you"),
        (
            "ann",
            "senior",
            {},
            "role: the roles of ann are annotator in reviewers.yaml (got 'senior')",
        ),
        ("bot", "auditor", {}, "simulated: bot is simulated in reviewers.yaml: write true"),
    ],
)
def test_a_decision_that_does_not_fit_is_named_and_the_rest_is_taken(
    folder: Path, who: str, role: str, values: dict[str, Any], line: str
) -> None:
    wrong = decide(1, who, role, TASK).model_copy(update=values)
    good = decide(2, "ann", "imported", TASK)
    file = write_lines(folder / "in.jsonl", wrong, good)
    outcome = import_files(folder, [file])
    assert outcome.added == 1
    (error,) = outcome.errors
    assert error.startswith(f"{file}, line 1: {line}")
    assert read_record(folder).rows == (good,)


def test_a_decision_on_other_content_is_taken_and_said_to_be_stale(folder: Path) -> None:
    old = decide(1, "ann", "annotator", TASK, {"valid": "perhaps"}, content_hash="f" * 64)
    wrong = decide(2, "ann", "annotator", TASK, {"vald": "valid"}, content_hash="f" * 64)
    outcome = import_files(folder, [write_lines(folder / "in.jsonl", old, wrong)])
    assert (outcome.added, outcome.stale) == (1, ("item:p1",))
    assert "vald: is not a field of 'item' tasks" in outcome.errors[0]


def test_where_nobody_is_named_anybody_decides(folder: Path) -> None:
    (folder / "reviewers.yaml").unlink()
    file = write_lines(folder / "in.jsonl", decide(1, "zoe", "senior", TASK))
    assert import_files(folder, [file]).added == 1


def test_a_file_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(MissingInputError, match=r"none\.jsonl: cannot be read"):
        import_files(folder, [folder / "none.jsonl"])


def test_bad_lines_of_the_review_are_named_too(folder: Path) -> None:
    write_lines(folder / "tasks.jsonl", TASK, "{")
    file = write_lines(folder / "in.jsonl", decide(1, "ann", "annotator", TASK))
    outcome = import_files(folder, [file])
    assert (outcome.added, len(outcome.errors)) == (1, 1)
    assert outcome.errors[0].startswith(f"{folder / 'tasks.jsonl'}, line 2: ")
