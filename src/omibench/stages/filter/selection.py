"""Problems of papers joined with a table of the wanted ones: published metadata without texts."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, model_validator

from omibench.datasets.rows import naming, typed_rows
from omibench.errors import FileFormatError, MissingInputError
from omibench.params.stages.filter import ProblemSelection
from omibench.schemas.problem import (
    Choice,
    Problem,
    ProblemWarning,
    StatedAttributes,
    Value,
    join_labels,
)
from omibench.schemas.validation import suggest_name

NOT_SELECTED: Final = "not_selected"
"""The reason of a problem that the table does not have."""
NO_CHOICE: Final = "answer_is_no_choice"
"""The reason of a problem whose answer in the table is none of its choices."""
CONFLICT: Final = "answer_differs_from_table"
"""The warning of a problem whose key in the paper differs from the table."""
MOST_COLUMNS: Final = 50
"""Columns of the table among which a misspelt one is searched."""
_ATTRIBUTES: TypeAdapter[dict[str, Value]] = TypeAdapter(StatedAttributes)
_NUMBER: Final = re.compile(r"(\d+)(?:\.0+)?", re.ASCII)
"""A whole number as text, also as pandas writes those of a column with gaps: `7.0`."""


def _normalise_cell(value: Any) -> Any:
    """Return the content of a cell: None for a gap, a whole number as an integer."""
    if isinstance(value, list):
        return [cell for item in value if (cell := _normalise_cell(item)) is not None] or None
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, float) and math.isnan(value):
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _write_cell(value: Any) -> str:
    items = value if isinstance(value, list) else [] if value is None else [value]
    return join_labels([str(item) for item in items])


Text = Annotated[str, BeforeValidator(_write_cell)]
Key = tuple[str, ...]
"""What identifies a problem in the table, folded for comparison."""


class SelectionRow(BaseModel):
    """A line of the table; its other columns are kept as they are."""

    model_config = ConfigDict(extra="allow")

    answer: Text = ""
    topic: Text = ""

    @model_validator(mode="before")
    @classmethod
    def _normalise(cls, cells: dict[str, Any]) -> dict[str, Any]:
        return {name: _normalise_cell(value) for name, value in cells.items()}

    @property
    def columns(self) -> Mapping[str, Any]:
        """The columns of the table by name, with their values in this line."""
        return self.model_dump(exclude_unset=True)


class Join(NamedTuple):
    """Problems with what the table says of them, and the others with a reason and the evidence."""

    problems: list[Problem]
    rejects: list[tuple[Problem, str, str]]


def join_selection(problems: Iterable[Problem], selection: ProblemSelection) -> Join:
    """Join problems with the table: its answers, topics and attributes (USNCO-V, Methods).

    Of two problems with one line, such as those of a paper that was read twice, the first is taken.

    Raises:
        MissingInputError: The table does not exist.
        FileFormatError: The table is empty, or lacks a column of `by` or `attributes`; a line has
            no value for `by`, or is there twice; or an attribute is invalid.
    """
    rows = read_selection(selection)
    taken: dict[Key, str] = {}
    join = Join([], [])
    for problem in problems:
        stated = {"number": problem.number, **problem.stated_attributes}
        key = _key(stated, selection.by)
        if key in taken:
            reason = f"its line of {selection.file} is that of {taken[key]} already"
            join.rejects.append((problem, NOT_SELECTED, reason))
        elif row := rows.get(key):
            taken[key] = problem.id
            if misfit := _check_answer(problem, row.answer, selection.file):
                join.rejects.append((problem, NO_CHOICE, misfit))
            else:
                join.problems.append(_add_row(problem, row, selection))
        else:
            reason = f"{selection.file} has no line for {_describe(stated, selection.by)}"
            join.rejects.append((problem, NOT_SELECTED, reason))
    return join


def describe_unread_lines(problems: Iterable[Problem], selection: ProblemSelection) -> list[str]:
    """Return the lines of the table that no problem has, such as `local, 2003: 7, 12`.

    There is one text for all lines that differ in the last column of `by` alone.
    """
    found = {_key({"number": p.number, **p.stated_attributes}, selection.by) for p in problems}
    missing: dict[Key, list[str]] = defaultdict(list)
    for key in read_selection(selection):
        if key not in found:
            missing[key[:-1]].append(key[-1])
    return [
        f"{', '.join(head)}: {', '.join(last)}" if head else ", ".join(last)
        for head, last in missing.items()
    ]


def read_selection(selection: ProblemSelection) -> dict[Key, SelectionRow]:
    """Return the lines of the table by what identifies them, in order.

    Raises as `join_selection` does.
    """
    file = Path(selection.file)
    if not file.is_file():
        raise MissingInputError(f"filter.selection.file: {file} does not exist")
    lines = list(typed_rows(file, SelectionRow, ""))
    if not lines:
        raise FileFormatError(f"{file}: has no lines, so filter.selection would reject everything")
    _check_columns(lines, selection)
    rows: dict[Key, SelectionRow] = {}
    for number, row in enumerate(lines, 1):
        columns = row.columns
        absent = next((name for name in selection.by if not _fold(columns.get(name))), None)
        if absent:
            raise FileFormatError(
                f"{file}: item {number}: has no `{absent}`, which filter.selection.by names"
            )
        key = _key(columns, selection.by)
        if key in rows:
            values = _describe(columns, selection.by)
            raise FileFormatError(f"{file}: item {number}: is the second line for {values}")
        rows[key] = row
    return rows


def _check_columns(rows: Sequence[SelectionRow], selection: ProblemSelection) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row.columns))
    for key, names in {"by": selection.by, "attributes": selection.attributes}.items():
        if absent := next((name for name in names if name not in columns), None):
            raise FileFormatError(
                f"{selection.file}: has no column {absent!r}, which filter.selection.{key} names"
                f"{suggest_name(absent, columns[:MOST_COLUMNS])}"
            )


def _add_row(problem: Problem, row: SelectionRow, selection: ProblemSelection) -> Problem:
    columns = row.columns
    cells = {name: columns.get(name) for name in selection.attributes}
    with naming(Path(selection.file), problem.id):
        attributes = _ATTRIBUTES.validate_python(
            {name: cell for name, cell in cells.items() if cell not in (None, "")}
        )
    joined = problem.model_copy(
        update={
            "attributes": problem.attributes | attributes,
            "topic": problem.topic or row.topic or None,
        }
    )
    return _settle_answer(joined, row.answer, selection.file) if row.answer else joined


def _check_answer(problem: Problem, answer: str, file: str) -> str | None:
    """Return why the table's answer does not fit the choices of a problem, or None."""
    if not answer or not problem.choices or _find_labels(answer, problem.choices):
        return None
    labels = ", ".join(choice.label for choice in problem.choices)
    return f"{file} gives the answer {answer[:80]!r}, which is none of the choices {labels}"


def _settle_answer(problem: Problem, answer: str, file: str) -> Problem:
    """Return the problem with the table's answer; other readings of it become one warning."""
    settled = _find_labels(answer, problem.choices) if problem.choices else [answer]
    warnings = [w for w in problem.warnings if w.code != "answer_conflict"]
    if problem.answer not in (None, settled):
        answers = f"{'; '.join(problem.answer or [])} in the paper, {'; '.join(settled)} in {file}"
        warnings.append(ProblemWarning(CONFLICT, f"{answers}; the latter is kept"))
    return problem.model_copy(update={"answer": settled, "warnings": warnings})


def _find_labels(answer: str, choices: Sequence[Choice]) -> list[str]:
    """Return the labels that an answer such as `b`, `(B)` or `A; C` names; empty if one is none."""
    labels = {_fold_label(choice.label): choice.label for choice in choices}
    found = [labels.get(_fold_label(part)) for part in re.split("[,;]", answer)]
    return [label for label in found if label] if all(found) else []


def _fold_label(text: str) -> str:
    return text.strip(" ()[].").casefold()


def _key(values: Mapping[str, Any], by: Sequence[str]) -> Key:
    return tuple(_fold(values.get(name)) for name in by)


def _fold(value: Any) -> str:
    """Return a value for comparison: case and blanks ignored, `07` and `7.0` as `7`."""
    text = " ".join(_write_cell(value).split())
    number = _NUMBER.fullmatch(text)
    # No `int`: it refuses numbers of more than 4,300 digits.
    return number[1].lstrip("0") or "0" if number else text.casefold()


def _describe(values: Mapping[str, Any], by: Sequence[str]) -> str:
    return ", ".join(f"{name} {_fold(values.get(name)) or '(not stated)'}" for name in by)
