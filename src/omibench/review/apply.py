"""Reviewers' decisions on problems, in a YAML file that can be kept in git.

The file is a list. Each entry has a problem, a decision (keep, drop or edit), a reviewer, a date
and a reason; edits also have the new field values. Decisions apply in file order.
"""

from __future__ import annotations

import datetime
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator

from omibench.errors import FileFormatError, MissingInputError, OmibenchError
from omibench.files.yaml_file import read_yaml
from omibench.review.changes import change_problem
from omibench.schemas.curation import Reject
from omibench.schemas.problem import Choice, FrozenModel, Problem, Subject
from omibench.schemas.tables import read_parquet

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Edit(FrozenModel):
    """The fields of a problem that a reviewer sets; omitted fields stay unchanged."""

    question: Words | None = None
    answer: Annotated[list[Words], Field(min_length=1)] | None = None
    choices: Annotated[list[Choice], Field(min_length=2)] | None = None
    solution: Words | None = None
    subject: Subject | None = None
    topic: Words | None = None
    language: Words | None = None


class Decision(FrozenModel):
    """One reviewer's decision on one problem.

    `binding` marks the decision of a senior reviewer who settles a disagreement. Other decisions on
    the problem are then no longer compared (OMIBench, A.4.2).
    """

    problem: Words
    decision: Literal["keep", "drop", "edit"]
    reviewer: Words
    date: datetime.date
    reason: Words
    edit: Edit | None = None
    binding: bool = False

    @model_validator(mode="after")
    def _edit_says_what(self) -> Self:
        if self.decision == "edit" and (self.edit is None or not self.edit.model_fields_set):
            raise ValueError("decision is edit, but no field is given under `edit`")
        if self.decision != "edit" and self.edit is not None:
            raise ValueError(
                f"decision is {self.decision}, but there is an `edit`; use decision: edit"
            )
        return self


def load_decisions(path: str | Path) -> list[Decision]:
    """Read a decisions file.

    Raises:
        MissingInputError: The file does not exist.
        FileFormatError: An entry is invalid; the message gives the file, the entry (counted from
            1), the field and its value.
    """
    values = read_yaml(path)
    if values is None:
        return []
    if not isinstance(values, list):
        raise FileFormatError(
            f"{path}: contains a {type(values).__name__}, not a list of decisions"
        )
    return [_parse(value, f"{path}, entry {i}") for i, value in enumerate(values, 1)]


def _parse(value: object, place: str) -> Decision:
    named = value.get("problem") if isinstance(value, Mapping) else None
    place += f" ({named})" if named else ""
    try:
        return Decision.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        value_given = first["input"]
        quoted = "" if isinstance(value_given, Mapping) or not field else f" (got {value_given!r})"
        raise FileFormatError(
            f"{place}: {field + ': ' if field else ''}{message}{quoted}"
        ) from None


# Application of reviewers' decisions to the problems, and why the filter rejected others.

log = logging.getLogger("omibench.review")


def apply(
    decisions: Sequence[Decision],
    problems: Sequence[Problem],
    rejections: Callable[[], Mapping[str, str]] = dict,
) -> list[Problem]:
    """Apply the decisions and return the remaining problems in order, with their edits.

    A problem without a decision is kept. `rejections` maps the ids of filtered problems to the
    reasons; a decision to drop such a problem has no effect.

    Raises:
        MissingInputError: Any other decision is on a missing problem. The message gives the reasons
            for its rejection or the nearest id.
        FileFormatError: Reviewers contradict each other, or an edit makes a problem inconsistent.
    """
    ids = [problem.id for problem in problems]
    known_ids = frozenset(ids)
    per_problem: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        if decision.problem not in known_ids:
            _refuse(decision, ids, rejections())
            continue
        per_problem[decision.problem].append(decision)
    reviewed = (_decide(problem, per_problem[problem.id]) for problem in problems)
    return [problem for problem in reviewed if problem is not None]


def _refuse(decision: Decision, ids: Sequence[str], rejections: Mapping[str, str]) -> None:
    """Raise MissingInputError for a decision on a missing problem, unless it has no effect."""
    decision_text = f"review: {decision.reviewer} decided on {decision.problem!r}"
    reason = rejections.get(decision.problem)
    if reason and decision.decision == "drop":
        log.warning("%s, which the filter has rejected already: %s", decision_text, reason)
        return
    if reason:
        raise MissingInputError(
            f"{decision_text}, which the filter rejected: {reason}; fix the paper's key, the "
            "manifest or the threshold and filter again, or remove the decision"
        )
    near = get_close_matches(decision.problem, ids, n=1)
    raise MissingInputError(
        f"{decision_text}, which is not among the {len(ids)} problems"
        + (f"; did you mean {near[0]!r}?" if near else "")
    )


def valid_decisions(decisions: Sequence[Decision]) -> list[Decision]:
    """Return the effective decisions on one problem, in order.

    A binding decision replaces all earlier ones, and a reviewer's later decision replaces that
    reviewer's earlier ones. Approving another reviewer's edit is not a contradiction.

    Raises:
        FileFormatError: Two remaining decisions contradict each other: one drops a problem that the
            other keeps or edits, both set a field to different values, or one edits a problem that
            the other approved earlier.
    """
    binding = [i for i, decision in enumerate(decisions) if decision.binding]
    valid: list[Decision] = []
    for decision in decisions[binding[-1] if binding else 0 :]:
        other_decisions = [d for d in valid if d.reviewer != decision.reviewer]
        for other_decision in other_decisions:
            if conflict := _conflict(other_decision, decision):
                raise FileFormatError(
                    f"review: {decision.problem}: {decision.reviewer} ({decision.date}) "
                    f"contradicts {other_decision.reviewer} ({other_decision.date}): {conflict}; "
                    "escalate it, and add the senior reviewer's decision with `binding: true`"
                )
        valid = [*other_decisions, decision]
    return valid


def _decide(problem: Problem, decisions: Sequence[Decision]) -> Problem | None:
    for decision in valid_decisions(decisions):
        if decision.decision == "drop":
            return None
        if decision.edit is not None:
            problem = _apply_edit(problem, decision)
    return problem


def _apply_edit(problem: Problem, decision: Decision) -> Problem:
    changes = decision.edit.model_dump(exclude_unset=True) if decision.edit else {}
    return change_problem(problem, changes, f"{problem.id}: the edit by {decision.reviewer}")


def _conflict(earlier: Decision, later: Decision) -> str | None:
    if "drop" in (earlier.decision, later.decision) and earlier.decision != later.decision:
        return f"{later.decision} after {earlier.decision}"
    if (earlier.decision, later.decision) == ("keep", "edit"):
        return "edit after keep"
    if earlier.edit and later.edit:
        before = earlier.edit.model_dump(exclude_unset=True)
        after = later.edit.model_dump(exclude_unset=True)
        for field in before.keys() & after.keys():
            if before[field] != after[field]:
                return f"`{field}` is set to {after[field]!r} after {before[field]!r}"
    return None


def rejections(problems: Path) -> dict[str, str]:
    """Return the reasons and evidence for problems rejected before the file `problems`, by id.

    The filter's `rejects.parquet` is searched next to the file and in `filter` next to its folder.
    A missing or unreadable file is ignored, since it would only explain another error.
    """
    for folder in (problems.parent, problems.parent.parent / "filter"):
        path = folder / "rejects.parquet"
        if path.is_file():
            try:
                rows = [Reject(**row) for row in read_parquet(path, Reject).to_dicts()]
            except (OmibenchError, ValueError):
                return {}
            return {row.id: _words(row) for row in rows}
    return {}


def _words(row: Reject) -> str:
    return ", ".join(
        f"{reason} ({evidence})"
        for reason, evidence in zip(row.reasons, row.evidences, strict=False)
    )
