"""`people.csv`: people's answers to problems, with response times."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from omibench.errors import FileFormatError
from omibench.schemas.problem import Answer
from omibench.stages.analyze.inputs.checked_rows import (
    BadLine,
    NumberedEntry,
    cite,
    read_checked_rows,
    warn_bad_lines,
)

KEY: Final = "analyze.people"
Label = Annotated[str, Field(min_length=1, max_length=200)]


class PersonAnswer(BaseModel):
    """One person's answer to one problem. An empty answer is wrong.

    `person` should be a code and not a name, since tables print it. `simulated` marks invented
    people.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    person: Label
    group: Annotated[str, Field(max_length=200)] = ""
    problem: Label
    answer: Annotated[str, Field(max_length=20_000)] = ""
    seconds: Annotated[float, Field(ge=0)] | None = None
    simulated: bool = False


REQUIRED: Final = ("person", "problem", "answer")
"""The required columns; group, seconds and simulated are optional."""


def read_people(path: str | Path, golds: Mapping[str, Answer]) -> list[PersonAnswer]:
    """Read people's answers; unusable rows are listed in a warning.

    Args:
        path: CSV file with the columns person, group, problem, answer, seconds.
        golds: The frozen answers by problem.

    Returns:
        The answers in file order, one per person and problem.

    Raises:
        MissingInputError: The file is missing.
        FileFormatError: The file has another format, or no usable row.
    """
    entries, bad_lines = read_checked_rows(path, PersonAnswer, KEY, REQUIRED)
    usable, unusable = _check_answers(entries, golds)
    if not usable:
        first = min([*bad_lines, *unusable])
        raise FileFormatError(f"{KEY}: {path}: no row is usable; {first}")
    warn_bad_lines(path, KEY, [*bad_lines, *unusable])
    return usable


def _check_answers(
    entries: list[NumberedEntry[PersonAnswer]], golds: Mapping[str, Answer]
) -> tuple[list[PersonAnswer], list[BadLine]]:
    usable: list[PersonAnswer] = []
    bad_lines: list[BadLine] = []
    lines: dict[tuple[str, str], int] = {}
    groups: dict[str, tuple[str, int]] = {}
    for line, row in entries:
        group, group_line = groups.setdefault(row.person, (row.group, line))
        first_line = lines.setdefault((row.person, row.problem), line)
        if row.problem not in golds:
            near = get_close_matches(row.problem, golds, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            bad_lines.append(
                BadLine(
                    line, "problem", f"{cite(row.problem)} is not a problem of the dataset{hint}"
                )
            )
        elif group != row.group:
            reason = f"{cite(row.person)} is in the group {cite(group)} on line {group_line}"
            bad_lines.append(BadLine(line, "group", reason))
        elif first_line != line:
            reason = f"{cite(row.person)} answered {cite(row.problem)} on line {first_line}"
            bad_lines.append(BadLine(line, "problem", reason))
        else:
            usable.append(row)
    return usable, bad_lines
