"""Tasks for somebody else."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import OutputError
from omibench.review.exports import (
    ReviewExport,
    TaskSelection,
    select_export,
    write_export,
)
from omibench.review.folder import ReviewRecord, read_review
from omibench.review.people import Reviewer
from omibench.schemas.review import TaskPicture
from review.builders import GOOD, decide, make_task

PEOPLE = {"annotator": ["ann"], "auditor": ["bob"]}
PICTURE = TaskPicture(sha256=hashlib.sha256(b"png").hexdigest(), suffix="png")
LABELLED = make_task(
    "p1",
    "label",
    {"question": "Why?", "topic": "secret"},
    people=PEOPLE,
    pictures=[PICTURE],
    strata={"subject": "secret"},
)
SPLIT = make_task("p2", people=PEOPLE)
GATE = make_task("p3", id="item:p3@gate", purpose="calibration", gold=GOOD, people=PEOPLE)
OPEN = make_task("p4")
DECISIONS = (
    decide(1, "ann", "annotator", LABELLED, {"topic": "secret"}),
    decide(2, "ann", "annotator", SPLIT),
    decide(3, "bob", "auditor", SPLIT, GOOD | {"valid": "invalid"}),
)
ANN = Reviewer(name="ann", roles=["annotator", "senior"], subjects=["physics"])
BOB = Reviewer(name="bob", roles=["auditor"], simulated=True)
RECORD = ReviewRecord(Path("review"), (LABELLED, SPLIT, GATE, OPEN), DECISIONS, (ANN, BOB))


def select(**values: Any) -> ReviewExport:
    return select_export(RECORD, TaskSelection(**values))


def test_the_keeper_gets_everything() -> None:
    export = select()
    assert (export.tasks, export.decisions) == (RECORD.tasks, DECISIONS)


def test_a_person_gets_own_tasks_and_decisions_blinded() -> None:
    export = select(person="bob")
    assert [task.id for task in export.tasks] == ["label:p1", "item:p2", "item:p3@gate"]
    assert [decision.id for decision in export.decisions] == ["d3"]
    text = "".join(task.model_dump_json() for task in export.tasks)
    assert "secret" not in text
    assert "ann" not in text
    assert '"gold":{}' in export.tasks[2].model_dump_json()
    assert export.tasks[0].content_hash == LABELLED.content_hash
    assert select(person="ann").tasks[0].content["topic"] == "secret"


def test_a_role_gets_what_is_open_to_it() -> None:
    assert [t.id for t in select(person="zoe", role="annotator").tasks] == ["item:p4"]
    assert select(person="zoe").tasks == ()
    export = select(role="auditor")
    assert (len(export.tasks), export.decisions) == (4, ())
    assert [d.id for d in select(role="senior", statuses=("escalated",)).decisions] == ["d2", "d3"]


def test_seniors_get_no_history_of_what_they_are_to_judge_again() -> None:
    again = make_task("p4", id="item:p4@week", purpose="sample", of=OPEN.id)
    settled = (decide(1, "ann", "annotator", OPEN), decide(2, "bob", "auditor", OPEN))
    record = ReviewRecord(Path("review"), (OPEN, again), settled)
    senior = TaskSelection(role="senior")
    assert select_export(record, senior).decisions == ()
    for role, count in (("senior", 2), ("annotator", 1), ("auditor", 1)):
        assert len(select_export(record, TaskSelection(role=role)).tasks) == count, role
    judged = ReviewRecord(
        Path("review"), (OPEN, again), (*settled, decide(3, "eve", "senior", again))
    )
    assert [d.id for d in select_export(judged, senior).decisions] == ["d1", "d2", "d3"]


def test_nobody_learns_who_else_reviews() -> None:
    assert select().reviewers == (ANN, BOB)
    assert select(person="bob").reviewers == (BOB,)
    assert select(role="auditor").reviewers == ()
    (ann,) = select(person="ann", role="annotator").reviewers
    assert (ann.roles, ann.subjects) == (["annotator"], ["physics"])


def test_kinds_and_statuses_are_chosen() -> None:
    assert [t.id for t in select(kinds=("label",)).tasks] == ["label:p1"]
    assert [t.id for t in select(statuses=("audit",)).tasks] == ["label:p1"]
    assert [t.id for t in select(statuses=("open", "escalated")).tasks] == [
        "item:p2",
        "item:p3@gate",
        "item:p4",
    ]


def test_an_export_is_a_review_with_its_pictures(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, out = tmp_path / "review", tmp_path / "out"
    (folder / "pictures").mkdir(parents=True)
    (folder / PICTURE.file).write_bytes(b"png")
    assert write_export(select(), folder, out) == 1
    assert (out / PICTURE.file).read_bytes() == b"png"
    copy = read_review(out)
    assert (copy.tasks, copy.decisions, copy.reviewers) == (RECORD.tasks, DECISIONS, (ANN, BOB))
    (folder / PICTURE.file).unlink()
    (folder / PICTURE.file).symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_bytes(b"of another")
    with caplog.at_level(logging.WARNING):
        assert write_export(select(), folder, tmp_path / "again") == 0
    assert "1 pictures are missing from" in caplog.text
    with pytest.raises(OutputError, match="is the review folder itself"):
        write_export(select(), folder, folder)
