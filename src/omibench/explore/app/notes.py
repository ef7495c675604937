"""Notes of users as decisions of the stage `review`.

`gold_is_wrong` and `unreadable_picture` are decisions on the task `item` of a problem, which the
next `freeze` applies once they are settled. `verdict_is_wrong` is one on the task `rating` of a
response, which `certify` reads as a label.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

import polars as pl
from pydantic import AfterValidator, Field, JsonValue

from omibench.errors import MissingInputError, ParamsError
from omibench.explore.app.live import Snapshot
from omibench.explore.app.tags import NamedCell
from omibench.params.review import REVIEWERS
from omibench.review.calibration import list_qualified
from omibench.review.check import check_fields
from omibench.review.contents import normalise_lines
from omibench.review.folder import append_decisions, read_record
from omibench.review.kinds import find_kind
from omibench.review.people import AssignedRole, Reviewer, find_reviewer, read_reviewers
from omibench.review.tags import MOST_INDEX
from omibench.review.tasks.drafts import (
    PictureKeeper,
    TaskDraft,
    lock_tasks,
    merge_tasks,
    read_present_tasks,
    write_tasks,
)
from omibench.review.tasks.problems import ElsewhereParts, draft_problem_tasks
from omibench.review.tasks.request import TaskRequest, find_problems, read_current_problems
from omibench.review.tasks.responses import DatasetHalves, ShownResponse, draft_responses
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.schemas.verdict import RIGHT
from omibench.web.bodies import JsonBody

NoteKind = Literal["gold_is_wrong", "unreadable_picture", "verdict_is_wrong"]
ROLE: Final[AssignedRole] = "annotator"
_DEFECTS: Final[Mapping[str, str]] = {
    "gold_is_wrong": "wrong_answer",
    "unreadable_picture": "unreadable",
}
_WORST: Final = 1
"""The quality mark of an item that should not be in a dataset."""


COMMENT: Final = 10_000
NAME: Final = 200
"""Maximum characters of a comment and of a name."""


def _require_name(text: str) -> str:
    if not text.strip():
        raise ValueError("give your name")
    return text.strip()


class ReaderNote(JsonBody):
    """A note.

    Attributes:
        id: The item.
        kind: What is wrong.
        person: The author, with the name in reviewers.yaml.
        comment: The reason.
        cell: Of a verdict: the cell.
        index: Of a verdict: the sample.
        rules: Of a verdict: the scorer; the main one by default.
    """

    id: str = Field(max_length=COMMENT)
    kind: NoteKind
    person: Annotated[str, Field(max_length=NAME), AfterValidator(_require_name)]
    comment: Annotated[str, Field(max_length=COMMENT), AfterValidator(normalise_lines)] = ""
    cell: NamedCell = None
    index: int = Field(default=0, ge=0, le=MOST_INDEX)
    rules: str | None = Field(default=None, max_length=NAME)


def take_note(snapshot: Snapshot, note: ReaderNote) -> ReviewDecision:
    """Save a note as a decision; create its task if missing.

    Args:
        snapshot: The study, whose sources give the review folder.
        note: The note.

    Returns:
        The decision, as in decisions.jsonl.

    Raises:
        MissingInputError: The person, the item or its problem, or the response does not exist.
        ParamsError: Notes are disabled, the task waits for other people, the person has not passed
            the calibration required by `review.calibration`, or a value is invalid.
        FileFormatError: A file of the review is invalid.
        OutputError: The review folder cannot be written.
    """
    review = snapshot.sources.review
    if review is None:
        raise ParamsError("notes are disabled; start the explorer with --review DIR")
    if note.id not in snapshot.study.items.questions:
        raise MissingInputError(f"item {note.id[:80]!r} not found")
    person = _find_person(review, note.person)
    kind = find_kind("rating" if note.kind == "verdict_is_wrong" else "item")
    with lock_tasks(review), tempfile.TemporaryDirectory(prefix="omibench-notes-") as scratch:
        present = read_present_tasks(review)
        decisions = read_record(review).rows
        rule = snapshot.sources.study.review.calibration if snapshot.sources.study else None
        if not list_qualified([person], kind.name, present, decisions, rule):
            raise ParamsError(
                f"{person.name!r} has not passed the calibration of {kind.name!r} tasks yet "
                "(`review.calibration`); see `omibench review status`"
            )
        if kind.name == "item":  # it is not valid in its current form
            draft = _draft_item(snapshot, note, present, decisions, Path(scratch))
            fields: dict[str, JsonValue] = {
                "valid": "invalid",
                "quality": _WORST,
                "defects": [_DEFECTS[note.kind]],
            }
        else:
            draft, fields = _draft_rating(snapshot, note)
        _check_task(draft.task.id, present, decisions, note.person)
        task = PictureKeeper(review).keep_pictures(draft)
        changes = merge_tasks(kind.name, present, [task], decisions)
        if changes.new or changes.changed:
            write_tasks(review, changes.tasks)
        decision = ReviewDecision(
            id=f"explore-{uuid.uuid4().hex}",
            task=task.id,
            kind=kind.name,
            person=note.person,
            role=ROLE,
            time=datetime.now(UTC),
            content_hash=task.content_hash,
            fields=check_fields(kind, task, fields),
            comment=note.comment,
        )
        append_decisions(review, [("explorer", decision)])
    return decision


def _find_person(review: Path, person: str) -> Reviewer:
    """Return the author of a note; without reviewers.yaml tasks are open to everyone."""
    path = review / REVIEWERS
    if not path.is_file():
        return Reviewer(name=person, roles=[ROLE])
    reviewer = find_reviewer(read_reviewers(path), person)
    if ROLE not in reviewer.roles:
        raise ParamsError(
            f"person: {person!r} is not an annotator in {path}, but notes are annotators' decisions"
        )
    return reviewer


def _check_task(
    name: str, present: list[ReviewTask], decisions: Iterable[ReviewDecision], person: str
) -> None:
    """Check that a task waits for the author of a note.

    Who has audited the task is no annotator of it: the decision would not count.
    """
    asked = [person for task in present if task.id == name for person in task.people.get(ROLE, [])]
    if asked and person not in asked:
        raise ParamsError(f"the task {name} waits only for {', '.join(asked)}")
    if any(d.role == "auditor" for d in decisions if (d.task, d.person) == (name, person)):
        raise ParamsError(
            f"{person!r} has audited the task {name}; another person must add the note"
        )


def _draft_item(
    snapshot: Snapshot,
    note: ReaderNote,
    present: list[ReviewTask],
    decisions: tuple[ReviewDecision, ...],
    scratch: Path,
) -> TaskDraft:
    sources = snapshot.sources
    if sources.study is None or sources.results is None:
        raise MissingInputError(
            "notes on items need the parameters of the study; start the explorer with --params"
        )
    path = find_problems(sources.results)
    request = TaskRequest("item", sources.study, sources.results, scratch, present, decisions)
    problems = [p for p in read_current_problems(request, path) if p.id == note.id]
    if not problems:
        raise MissingInputError(
            f"{path}: problem {note.id[:80]!r} not found: it was dropped, or the dataset was "
            "frozen from another file"
        )
    models = {name for name, block in sources.study.models.items() if block.is_simulated}
    parts = ElsewhereParts(simulated_models=models)
    return draft_problem_tasks("item", problems, path.parent, parts)[0]


def _draft_rating(snapshot: Snapshot, note: ReaderNote) -> tuple[TaskDraft, dict[str, JsonValue]]:
    """Return the task of a response, and the label that contradicts its verdict."""
    run, items = snapshot.study.run, snapshot.study.items
    if run is None or note.cell is None or note.cell not in run.cells:
        raise ParamsError("cell: give the MODEL/SETTING whose verdict is wrong")
    rows = (
        pl.scan_parquet(run.files.locate("infer", note.cell), glob=False)
        .filter(pl.col("id") == note.id, pl.col("index") == note.index)
        .select("text", "simulated")
        .collect()
    )
    if rows.is_empty():
        raise MissingInputError(f"response {note.index} of {'/'.join(note.cell)} not found")
    text, simulated = rows.row(0)
    response = ShownResponse(*note.cell, note.id, note.index, text or "", simulated)
    rules = snapshot.study.choose_rules(note.rules)
    verdicts = run.verdicts.filter(
        id=note.id, index=note.index, rules=rules, model=note.cell.model, setting=note.cell.setting
    )["verdict"]
    if verdicts.is_empty():
        raise MissingInputError(f"{rules} has no verdict on this response yet")
    data = DatasetHalves(items.questions, items.answers, items.folder)
    label = "wrong" if verdicts[0] >= RIGHT else "right"
    return draft_responses("rating", [response], data)[0], {"label": label}
