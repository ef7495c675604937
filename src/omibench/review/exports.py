"""Export of tasks and decisions: selected, blinded, with their pictures."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import JsonValue

from omibench.errors import OmibenchError, OutputError, reason_of
from omibench.files.outputs import made_folder, write_atomically
from omibench.files.pictures import PICTURE_BYTES
from omibench.files.reading import read_bytes
from omibench.params.review import DECISIONS, REVIEWERS, TASKS
from omibench.review.folder import ReviewLines, ReviewRecord, format_event
from omibench.review.kinds import KINDS
from omibench.review.people import AssignedRole, Reviewer, format_reviewers
from omibench.review.report import compute_states
from omibench.review.state import Status, TaskState
from omibench.review.tags import TAGS, TagEvent, append_tags, read_tag_events
from omibench.schemas.review import ReviewDecision, ReviewRole, ReviewTask
from omibench.schemas.tables import write_jsonl, write_text
from omibench.schemas.verdict import MARKS, NO_ERROR

log = logging.getLogger("omibench.review")


@dataclass(frozen=True)
class TaskSelection:
    """A selection of tasks to export; omitted criteria select nothing.

    Attributes:
        kinds: Names of kinds.
        statuses: The statuses of the tasks.
        person: The person to whom the tasks are assigned.
        role: The role of the assignment; without a person, any person with this role.
    """

    kinds: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ()
    person: str | None = None
    role: ReviewRole | None = None

    def find_role(self, task: ReviewTask) -> ReviewRole | None:
        """Return the role in which a task is assigned to the person, or None."""
        if self.person is None:
            return self.role
        named: list[ReviewRole] = [
            role
            for role in ("annotator", "auditor", "senior")
            if self.person in task.people.get(role, ())
        ]
        if self.role is None:
            return named[0] if named else None
        is_open = not task.people.get(self.role)
        return self.role if self.role in named or is_open else None


@dataclass(frozen=True)
class ReviewExport:
    """The contents of an export.

    Attributes:
        tasks: The tasks, without parts that the role cannot see.
        decisions: The decisions on them that the role can see.
        reviewers: The people in the copy: the recipient, or everyone in the owner's copy.
        tags: The tags set in the explorer and their removals, in the owner's copy.
        errors: The unreadable lines of the tags.
    """

    tasks: tuple[ReviewTask, ...]
    decisions: tuple[ReviewDecision, ...]
    reviewers: tuple[Reviewer, ...] = ()
    tags: tuple[TagEvent, ...] = ()
    errors: tuple[str, ...] = ()


def select_export(record: ReviewRecord, selection: TaskSelection) -> ReviewExport:
    """Select the tasks and decisions for an export.

    Without a person and a role the export is a full copy for the owner of the review. Only this
    copy contains gold decisions of calibrations. Annotators and auditors get only their own
    decisions (OMIBench, A.4.1). Seniors get the history of escalated and settled tasks (A.4.2),
    except for tasks that they judge again as part of a sample (A.4.3).

    Args:
        record: The review.
        selection: The selection.
    """
    states = compute_states(record.tasks, record.decisions)
    chosen = [
        (states[task.id], selection.find_role(task))
        for task in record.tasks
        if task.id in states and _is_chosen(states[task.id], selection)
    ]
    tasks = [blind_task(state.task, role, selection.person) for state, role in chosen]
    judged_again = {
        task.of
        for task in record.tasks
        if task.purpose == "sample" and task.id in states and states[task.id].status != "settled"
    }
    visible = {
        decision.id
        for state, role in chosen
        for decision in (*state.decisions, *state.stale)
        if _may_see(decision, role, selection.person)
        and (state.status != "settled" or state.task.id not in judged_again or role != "senior")
    }
    is_whole = selection.person is None and selection.role is None
    if is_whole:
        ids = {task.id for task in tasks}
        visible = {decision.id for decision in record.decisions if decision.task in ids}
    decisions = [decision for decision in record.decisions if decision.id in visible]
    tags = read_tag_events(record.folder / TAGS) if is_whole else ReviewLines()
    people = tuple(_list_people(record, selection))
    return ReviewExport(tuple(tasks), tuple(decisions), people, tags.rows, tags.errors)


def blind_task(task: ReviewTask, role: ReviewRole | None, person: str | None = None) -> ReviewTask:
    """Return a task without what a role cannot see: hidden parts, labels, gold, other assignees.

    Args:
        task: The task.
        role: The role; with None nothing is removed.
        person: The assignee, the only one whose name is kept.
    """
    if role is None:
        return task
    names = {part.name for part in KINDS[task.kind].list_visible_parts(role)}
    content = {name: value for name, value in task.content.items() if name in names}
    people = {} if person is None else {role: [person]}
    return task.model_copy(update={"content": content, "gold": {}, "people": people, "strata": {}})


def write_export(export: ReviewExport, folder: Path, out: Path) -> int:
    """Write an export as a review folder for `omibench review serve`.

    Args:
        export: The export.
        folder: The review folder with the pictures.
        out: The folder to create.

    Returns:
        The number of pictures copied. A warning gives the first picture that is missing or does not
        match its hash.

    Raises:
        OutputError: The folder cannot be written, or is the review folder itself.
    """
    if out.resolve() == folder.resolve():
        raise OutputError(f"{out}: is the review folder itself; pass another folder as --out")
    made_folder(out)
    write_jsonl(out / TASKS, export.tasks)
    events = "".join(f"{format_event(decision)}\n" for decision in export.decisions)
    write_text(out / DECISIONS, events)
    if export.tags:
        append_tags(out, export.tags)
    if export.reviewers:
        write_text(out / REVIEWERS, format_reviewers(export.reviewers))
    pictures = {picture.sha256: picture for task in export.tasks for picture in task.pictures}
    absent = []
    for picture in pictures.values():
        try:
            content = read_bytes(folder / picture.file, PICTURE_BYTES)
        except OmibenchError:
            content = b""
        if hashlib.sha256(content).hexdigest() != picture.sha256:
            absent.append(picture.file)
            continue
        try:
            write_atomically(out / picture.file, content)
        except OSError as error:
            place = out / picture.file
            raise OutputError(f"{place}: cannot be written: {reason_of(error)}") from None
    if absent:
        log.warning(
            "review: %d pictures are missing from %s or do not match the tasks; the first is %s: "
            "run `omibench review assign` to write them again",
            len(absent),
            folder,
            absent[0],
        )
    return len(pictures) - len(absent)


def _list_people(record: ReviewRecord, selection: TaskSelection) -> list[Reviewer]:
    if selection.person is None:
        return [] if selection.role else list(record.reviewers)
    roles = [selection.role] if selection.role in get_args(AssignedRole) else None
    return [
        reviewer.model_copy(update={"roles": roles}) if roles else reviewer
        for reviewer in record.reviewers
        if reviewer.name == selection.person
    ]


def _is_chosen(state: TaskState, selection: TaskSelection) -> bool:
    if selection.kinds and state.task.kind not in selection.kinds:
        return False
    if selection.statuses and state.status not in selection.statuses:
        return False
    role = selection.find_role(state.task)
    if state.task.purpose == "sample" and role in {"annotator", "auditor"}:
        return False  # settled work that seniors judge again
    return selection.person is None or role is not None


def _may_see(decision: ReviewDecision, role: ReviewRole | None, person: str | None) -> bool:
    return role == "senior" or (person is not None and decision.person == person)


# Outputs of a review for a study: human answers and labels of responses.

PEOPLE_COLUMNS: Final = ("person", "group", "problem", "answer", "seconds", "simulated")
"""Columns of people.csv, the file of `analyze.people` (docs/results.md)."""
LABEL_COLUMNS: Final = (
    "id", "model", "setting", "index", "response_sha256",
    "label", "error_type", "source", "steps", "wrong_steps", *MARKS, "simulated",
)  # fmt: skip
"""Columns of labels.csv, which `omibench certify` reads (docs/certifying.md)."""
LABEL_KINDS: Final = ("rating", "disagreement", "steps")
"""Kinds that label a response; if several label its correctness, the first one counts."""
Row = dict[str, Any]


def list_answers(
    tasks: Iterable[ReviewTask],
    decisions: Iterable[ReviewDecision],
    reviewers: Iterable[Reviewer] = (),
) -> list[Row]:
    """Return the answers of the human baseline (OMIBench, K), one row per person and problem.

    A person's last answer counts. Familiarisation and answers to problems that have changed since
    are excluded.

    Args:
        tasks: Tasks of the review.
        decisions: Decisions of the review.
        reviewers: People with their groups.

    Returns:
        Rows with `PEOPLE_COLUMNS`; `seconds` is None if no time was measured.
    """
    people = {reviewer.name: reviewer for reviewer in reviewers}
    asked = [task for task in tasks if task.kind == "baseline" and task.purpose == "work"]
    return [
        {
            "person": decision.person,
            "group": people[decision.person].group if decision.person in people else "",
            "problem": state.task.problem,
            "answer": str(decision.fields.get("answer") or ""),
            "seconds": decision.seconds,
            "simulated": decision.simulated,
        }
        for state in compute_states(asked, decisions).values()
        for decision in state.decisions
    ]


def list_labels(tasks: Iterable[ReviewTask], decisions: Iterable[ReviewDecision]) -> list[Row]:
    """Return the settled labels of responses, one row per response.

    Ratings give `label` and marks (OMIBench, J), steps give the number of wrong reasoning steps and
    the type of the first fatal error (B.2), disagreements their source (C.3). Unsettled tasks are
    skipped.

    Args:
        tasks: Tasks of the review.
        decisions: Decisions of the review.

    Returns:
        Rows with `LABEL_COLUMNS`; missing values are None.
    """
    asked = [task for task in tasks if task.kind in LABEL_KINDS and task.purpose == "work"]
    states = sorted(
        compute_states(asked, decisions).values(),
        key=lambda state: LABEL_KINDS.index(state.task.kind),
    )
    rows: dict[tuple[str, str, str, int], Row] = {}
    for state in states:
        response = state.task.response
        if state.fields is None or response is None:
            continue
        place = (response.id, response.model, response.setting, response.index)
        row = rows.setdefault(place, dict.fromkeys(LABEL_COLUMNS))
        row |= dict(zip(LABEL_COLUMNS, (*place, response.sha256), strict=False))
        _fill_label(row, state, state.fields)
    return [rows[place] for place in sorted(rows)]


def _fill_label(row: Row, state: TaskState, fields: Mapping[str, JsonValue]) -> None:
    kind = state.task.kind
    label = fields.get("validation" if kind == "steps" else "label")
    row["label"] = row["label"] or label
    row["simulated"] = bool(row["simulated"]) or any(d.simulated for d in state.decisions)
    if kind == "disagreement":
        row["source"] = fields.get("source")
    elif kind == "rating":
        row |= {mark: fields.get(mark) for mark in MARKS}
    else:
        row["error_type"] = NO_ERROR if label == "right" else fields.get("error_type")
        steps = fields.get("steps")
        marked = [v for v in steps if v in {"right", "wrong"}] if isinstance(steps, list) else []
        if marked:
            row |= {"steps": len(marked), "wrong_steps": marked.count("wrong")}
