"""Changes that a decision makes to one problem."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from pydantic import JsonValue, ValidationError

from omibench.errors import FileFormatError
from omibench.review.check import read_answer_text, read_choices_text
from omibench.review.contents import get_solution, normalise_lines
from omibench.review.kinds import find_kind
from omibench.review.kinds.declaration import Kind
from omibench.review.kinds.photographs import NOISE_LISTS, list_noise
from omibench.schemas.problem import (
    LABEL,
    RATIONALE,
    Problem,
    ProblemWarning,
    Value,
    list_image_marks,
    list_labels,
    write_image_mark,
)
from omibench.schemas.review import ReviewTask

TRANSLATION: Final = "translation"
"""The code of the warning that states who translated a problem."""
_STATEMENT: Final = {"question", "choices", "answer"}
_NONE: Final = "none"


def change_problem(
    problem: Problem,
    changes: Mapping[str, Any],
    place: str,
    *,
    simulated_by: Collection[str] = (),
    keep_solution: bool = False,
) -> Problem:
    """Return the problem with changed fields, with information that no longer applies removed.

    A solution written by a person loses the model's metadata. A solution that a model wrote for
    another question or gold answer is removed.

    Args:
        problem: The problem before the change.
        changes: Fields with their new values.
        place: The author of the change, for error messages.
        simulated_by: Simulated people; their texts are marked as simulated.
        keep_solution: Whether a person has checked the solution against the changed question.

    Raises:
        FileFormatError: The changes do not fit the problem.
    """
    changes = dict(changes)
    warnings = list_other_warnings(changes.get("warnings", problem.warnings), RATIONALE)
    if "solution" in changes:
        mark = ProblemWarning(RATIONALE, simulated_by=tuple(sorted(simulated_by)))
        is_marked = simulated_by and changes["solution"]
        changes["warnings"] = [*warnings, mark] if is_marked else warnings
    elif _STATEMENT & changes.keys() and warnings != problem.warnings and not keep_solution:
        changes |= {"solution": None, "warnings": warnings}
    try:
        return Problem.model_validate({**problem.model_dump(), **changes})
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise FileFormatError(f"review: {place} does not fit: {message}") from None


def list_other_warnings(warnings: Collection[ProblemWarning], code: str) -> list[ProblemWarning]:
    """Return the warnings with other codes."""
    return [warning for warning in warnings if warning.code != code]


def find_drop(kind: Kind, fields: Mapping[str, JsonValue]) -> str | None:
    """Return the answer of a settled task that drops the problem, as `FIELD: VALUE`, or None."""
    for field in kind.fields:
        drops = {option.value for option in field.options if option.drops}
        if fields.get(field.name) in drops:
            return f"{field.name}: {fields[field.name]}"
    return None


def apply_fields(
    problem: Problem,
    task: ReviewTask,
    fields: Mapping[str, JsonValue],
    simulated_by: Collection[str] = (),
) -> Problem:
    """Return the problem as changed by a settled task that does not drop it (`find_drop`).

    Edited texts replace those of the problem, fields with an attribute set that attribute, and
    labels set subject and topics (OMIBench, A.3.2, A.4.2 and A.5).

    Args:
        problem: The problem of the task.
        task: The task.
        fields: The settled fields.
        simulated_by: Simulated people among those who decided. Texts already marked as simulated
            stay marked.

    Raises:
        FileFormatError: An edit does not fit the problem.
    """
    if task.kind == "rationale":
        return _set_rationale(problem, task, fields, simulated_by)
    kind = find_kind(task.kind)
    place = f"{task.id}: the settled decision"
    changes = _read_texts(kind, problem, fields, place)
    if task.kind == "page" and problem.original is not None:  # in the language of the page
        names: list[str] = [name for name in ("question", "choices") if name in changes]
        texts = {name: changes.pop(name) for name in names}
        if texts:
            changes["original"] = problem.original.model_copy(update=texts)
    if task.kind == "photo_fields":
        changes |= _read_description(problem, fields)
    attributes = dict(problem.attributes)
    for field in kind.fields:
        value = fields.get(field.name)
        if field.attribute and value == _NONE:
            attributes.pop(field.attribute, None)
        elif field.attribute and value is not None:
            attributes[field.attribute] = str(value)
    if task.kind == "photo_conditions":  # they and their groups are two lists
        others = {name: value for name, value in attributes.items() if name not in NOISE_LISTS}
        attributes = others | list_noise(attributes)
    if task.kind == "label":
        changes |= _read_labels(problem, attributes, fields)
    elif attributes != problem.attributes:
        changes["attributes"] = attributes
    if task.kind in _VOUCHED and not simulated_by:
        changes["warnings"] = list_other_warnings(problem.warnings, _VOUCHED[task.kind])
    solution_valid = fields.get("solution_valid")
    if solution_valid == "invalid" and problem.solution:
        changes.setdefault("solution", None)
    return change_problem(
        problem,
        changes,
        place,
        simulated_by=simulated_by,
        keep_solution=solution_valid == "valid",
    )


_VOUCHED: Final = {"translation": TRANSLATION, "label": LABEL}
"""The warning that a person's decision replaces, by kind of task."""


def _read_texts(
    kind: Kind, problem: Problem, fields: Mapping[str, JsonValue], place: str
) -> dict[str, Any]:
    """Return the edited texts as fields of the problem."""
    changes: dict[str, Any] = {}
    for field in kind.fields:
        value = fields.get(field.name)
        part = field.edits or field.prefill
        if field.type != "text" or not isinstance(value, str) or not value.strip():
            continue
        if part == "question" and field.prefill:
            changes[part] = _keep_marks(problem.question, value)
        elif part in {"question", "solution"}:
            changes[part] = value
        elif part == "answer":
            changes[part] = read_answer_text(value)
        elif part == "choices":
            try:
                changes[part] = read_choices_text(value, problem.choices or [])
            except FileFormatError as error:
                raise FileFormatError(f"review: {place} does not fit: {error}") from None
    return {
        name: value
        for name, value in changes.items()
        if value != normalise_lines(getattr(problem, name))
    }


def _keep_marks(before: str, text: str) -> str:
    """Return a rewritten question, with missing picture marks put in front.

    A photograph without its mark would not be shown to any model.
    """
    kept = list_image_marks(text)
    lost = [mark for mark in dict.fromkeys(list_image_marks(before)) if mark not in kept]
    marks = " ".join(map(write_image_mark, lost))
    return f"{marks}\n{text}" if marks else text


def _read_description(problem: Problem, fields: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return the description of the figure as the caption of the only picture (MathReal, C)."""
    text = fields.get("description")
    if not isinstance(text, str) or not text.strip() or not problem.images:
        return {}
    first, *others = problem.images
    if text == normalise_lines(first.caption or ""):
        return {}
    return {"images": [first.model_copy(update={"caption": text}), *others]}


def _read_labels(
    problem: Problem, attributes: Mapping[str, Value], fields: Mapping[str, JsonValue]
) -> dict[str, Any]:
    """Return subject and topics. `a#b` is two topics, the first of which is the problem's topic.

    If the topic was not changed, the problem keeps its finer topics, which the task does not show.
    """
    subject = str(fields.get("subject") or problem.subject)
    text = str(fields.get("topic") or "")
    topics = [part.strip() for part in text.split("#") if part.strip()]
    if text == (problem.topic or ""):
        topics = []
    changes: dict[str, Any] = {} if subject == problem.subject else {"subject": subject}
    stated = dict(attributes)
    if topics and topics[0] != problem.topic:
        changes["topic"] = topics[0]
    if topics and (len(topics) > 1 or list_labels(problem.attributes.get("topics"))):
        stated["topics"] = topics
    if "domain" in stated:
        stated["domain"] = subject
    return changes if stated == problem.attributes else {**changes, "attributes": stated}


def _set_rationale(
    problem: Problem,
    task: ReviewTask,
    fields: Mapping[str, JsonValue],
    simulated_by: Collection[str],
) -> Problem:
    """Return the problem with the settled text; a model's text keeps its mark."""
    text = get_solution(task, fields)
    if text is None or text == problem.solution:
        return problem
    place = f"{task.id}: the rationale"
    if fields.get("solution") is not None:
        return change_problem(problem, {"solution": text}, place, simulated_by=simulated_by)
    marks = [w for w in problem.warnings if w.code == RATIONALE and w.is_simulated]
    models = {model for mark in marks for model in mark.simulated_by}
    if task.simulated and not models:
        models = {"candidate"}
    return change_problem(problem, {"solution": text}, place, simulated_by=models)
