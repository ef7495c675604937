"""Reviewers' decisions on problems, in a YAML file that can be kept in git.

The file is a list. Each entry has a problem, a decision (keep, drop or edit), a reviewer, a date
and a reason; edits also have the new field values. Decisions apply in file order.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator

from omibench.errors import FileFormatError
from omibench.files.yaml_file import read_yaml
from omibench.schemas.problem import Choice, Noun, Subject

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Edit(Noun):
    """The fields of a problem that a reviewer sets; omitted fields stay unchanged."""

    question: Words | None = None
    answer: Annotated[list[Words], Field(min_length=1)] | None = None
    choices: Annotated[list[Choice], Field(min_length=2)] | None = None
    solution: Words | None = None
    subject: Subject | None = None
    topic: Words | None = None
    language: Words | None = None


class Decision(Noun):
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
