"""Decisions from the JSON export of Label Studio."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, BaseModel, JsonValue, ValidationError
from pydantic import Field as Bound

from omibench.errors import FileFormatError, OmibenchError
from omibench.files.intake import parse_json, read_bytes
from omibench.review.check import check_fields
from omibench.review.folder import ReviewRecord
from omibench.review.kinds import find_kind
from omibench.review.kinds.declaration import Kind
from omibench.review.label_studio.names import OMIBENCH, TRUE
from omibench.review.people import Reviewer
from omibench.review.record import PlacedDecision
from omibench.schemas.review import Name, ReviewDecision, Sha256
from omibench.schemas.validation import explain

EXPORT_BYTES: Final = 256 * 2**20
"""The size limit of an export: 256 MiB, about 20,000 tasks with their texts."""
SECONDS: Final = 7 * 86_400
"""The time limit of one decision: longer times come from tabs left open."""


class _Label(BaseModel):
    """Our entry in the data of a task."""

    task: Name
    kind: Name
    content_hash: Sha256


class _TaskEntry(BaseModel):
    """A task of an export; other keys are ignored."""

    data: dict[str, Any]
    annotations: list[dict[str, Any]] = []


class _User(BaseModel):
    """A person in an export or in the list of users."""

    id: int | None = None
    email: str


class _Result(BaseModel):
    """The value of one control."""

    from_name: Name
    value: dict[str, JsonValue]
    meta: dict[str, JsonValue] = {}


class _Annotation(BaseModel):
    """One person's annotation of a task."""

    completed_by: int | _User
    result: list[_Result]
    created_at: AwareDatetime
    updated_at: AwareDatetime | None = None
    lead_time: Annotated[float, Bound(ge=0)] | None = None
    was_cancelled: bool = False


@dataclass(frozen=True)
class LabelStudioExport:
    """The decisions of an export.

    Attributes:
        decisions: The decisions, each with its place.
        errors: Reasons for rejected annotations, one line each.
        skipped: The number of annotations skipped in Label Studio.
    """

    decisions: tuple[PlacedDecision, ...] = ()
    errors: tuple[str, ...] = ()
    skipped: int = 0


def read_export(
    path: str | Path, review: ReviewRecord, users: Mapping[int, str] | None = None
) -> LabelStudioExport:
    """Read the JSON export of a Label Studio project.

    Each annotation becomes a decision in the role `imported`, with the content hash of its exported
    task, so that it is stale if the content has changed. Ids are stable: reading an annotation
    again gives the same id. Invalid annotations are reported and the others imported.

    Args:
        path: The file: format JSON, not JSON-MIN.
        review: The review with the tasks and people to validate against.
        users: The address of each user by number (`read_users`), for exports with user numbers.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: The file is larger than 256 MiB, not JSON, or not a list of tasks.
    """
    entries = parse_json(read_bytes(path, EXPORT_BYTES), str(path))
    if not isinstance(entries, list):
        raise FileFormatError(f"{path}: not a list of tasks; export the project in the format JSON")
    reader = _ExportReader(review, users or {})
    decisions: list[PlacedDecision] = []
    errors: list[str] = []
    skipped = 0
    for place, data, value in _list_annotations(entries, path, errors):
        try:
            decision = reader.read_annotation(data, value)
        except ValidationError as error:
            errors.append(f"{place}: {explain(error, _Annotation)}")
        except OmibenchError as error:
            errors.append(f"{place}: {error}")
        else:
            skipped += decision is None
            decisions += [(place, decision)] if decision is not None else []
    return LabelStudioExport(tuple(decisions), tuple(errors), skipped)


def read_users(path: str | Path) -> dict[int, str]:
    """Return the address of each user by number, from the response of `GET /api/users`.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: The file is not a list of users.
    """
    entries = parse_json(read_bytes(path, EXPORT_BYTES), str(path))
    if not isinstance(entries, list):
        raise FileFormatError(f"{path}: not a list of users; save the response of GET /api/users")
    users: dict[int, str] = {}
    for number, entry in enumerate(entries, 1):
        try:
            user = _User.model_validate(entry)
        except ValidationError as error:
            raise FileFormatError(f"{path}, user {number}: {explain(error, _User)}") from None
        if user.id is not None:
            users[user.id] = user.email
    return users


def _list_annotations(
    entries: Sequence[Any], path: str | Path, errors: list[str]
) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield the place, task data and value of each annotation; add bad tasks to `errors`."""
    for number, entry in enumerate(entries, 1):
        place = f"{path}, task {number}"
        try:
            task = _TaskEntry.model_validate(entry)
        except ValidationError as error:
            errors.append(f"{place}: {explain(error, _TaskEntry)}")
            continue
        for index, annotation in enumerate(task.annotations, 1):
            yield f"{place}, annotation {index}", task.data, annotation


class _ExportReader:
    """Converts annotations, validating them against the tasks and people of a review."""

    def __init__(self, review: ReviewRecord, users: Mapping[int, str]) -> None:
        self._tasks = {task.id: task for task in review.tasks}
        self._reviewers = {r.email.casefold(): r for r in review.reviewers if r.email}
        self._has_people = bool(review.reviewers)
        self._users = users

    def read_annotation(self, data: Mapping[str, Any], value: Any) -> ReviewDecision | None:
        """Return the decision, or None if the annotator skipped the task."""
        if OMIBENCH not in data:
            raise FileFormatError(
                "data.omibench is missing; export tasks with `omibench review export`"
            )
        try:
            label = _Label.model_validate(data[OMIBENCH])
        except ValidationError as error:
            raise FileFormatError(f"data.omibench: {explain(error, _Label)}") from None
        annotation = _Annotation.model_validate(value)
        if annotation.was_cancelled:
            return None
        kind = find_kind(label.kind)
        fields = collect_fields(kind, annotation.result)
        task = self._tasks.get(label.task)
        if task is not None and task.kind == kind.name and task.content_hash == label.content_hash:
            fields = check_fields(kind, task, fields)
        person, is_simulated = self._find_person(annotation.completed_by)
        time = annotation.updated_at or annotation.created_at
        seconds = annotation.lead_time
        return ReviewDecision(
            id=_make_id(label.task, person, time.isoformat(), fields),
            task=label.task,
            kind=kind.name,
            person=person,
            role="imported",
            time=time,
            content_hash=label.content_hash,
            fields=fields,
            seconds=seconds if seconds is not None and seconds <= SECONDS else None,
            simulated=is_simulated,
        )

    def _find_person(self, user: int | _User) -> tuple[str, bool]:
        """Return the name of a person by their address, and whether the person is simulated."""
        email = self._users.get(user) if isinstance(user, int) else user.email
        if email is None:
            raise FileFormatError(
                f"completed_by: user {user} is unknown; save the response of Label Studio's GET "
                "/api/users and pass it with --users FILE"
            )
        reviewer: Reviewer | None = self._reviewers.get(email.casefold())
        if reviewer is None and self._has_people:
            raise FileFormatError(
                f"completed_by: address {email!r} is not in reviewers.yaml; add it as `email:`"
            )
        return (reviewer.name, reviewer.simulated) if reviewer else (email, False)


def collect_fields(kind: Kind, results: Iterable[_Result]) -> dict[str, JsonValue]:
    """Return the results of an annotation as fields of a decision.

    Results of unknown controls keep their names, so that the validation of fields reports them.
    """
    fields: dict[str, JsonValue] = {}
    steps: dict[str, dict[int, JsonValue]] = {}
    for result in results:
        name, index = _find_field(kind, result)
        value = _read_value(kind, name, result.value)
        if index is None:
            fields[name] = value
        else:
            steps.setdefault(name, {})[index] = value
    for name, by_index in steps.items():
        fields[name] = [by_index[index] for index in sorted(by_index)]
    return fields


def _find_field(kind: Kind, result: _Result) -> tuple[str, int | None]:
    """Return the field of a result, and the step number if the field has one value per step."""
    mark = result.meta.get(OMIBENCH)
    name = mark.get("field") if isinstance(mark, dict) else None
    if isinstance(name, str) and name in kind.by_name:
        return name, None
    stem, _, number = result.from_name.rpartition("_")
    field = kind.by_name.get(stem)
    if field is not None and field.type == "steps" and number.isdecimal() and len(number) < 6:
        return stem, int(number)
    return result.from_name, None


def _read_value(kind: Kind, name: str, value: Mapping[str, JsonValue]) -> JsonValue:
    """Convert the value of a control to the type of its field."""
    field = kind.by_name.get(name)
    type_ = field.type if field else "text"
    if "rating" in value:
        return value["rating"]
    if "text" in value:
        texts = value["text"]
        return "\n".join(map(str, texts)) if isinstance(texts, list) else texts
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    if type_ == "choices":
        return choices
    first = str(choices[0])
    if type_ == "flag":
        return first == TRUE
    return int(first) if type_ == "rating" and first.isdecimal() and len(first) < 6 else first


def _make_id(task: str, person: str, time: str, fields: Mapping[str, JsonValue]) -> str:
    """Return an id that depends only on the event: Label Studio does not preserve ours."""
    event = json.dumps([task, person, time, fields], sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(event.encode("utf-8", "surrogatepass")).hexdigest()
    return f"label-studio-{digest[:24]}"
