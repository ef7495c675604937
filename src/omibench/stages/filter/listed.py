"""Problems of papers joined with a table of the wanted ones: published metadata without texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from omibench.datasets.rows import naming, typed_rows
from omibench.errors import FileFormatError, MissingInputError
from omibench.params.stages.filter import ListedProblems
from omibench.schemas.problem import Problem, ProblemWarning, StatedAttributes, Value, join_labels

UNLISTED = "unlisted"
"""The reason of a problem that the table does not list."""
CONFLICT = "answer_differs_from_table"
"""The warning of a problem whose key in the paper differs from the table."""
_ATTRIBUTES: TypeAdapter[dict[str, Value]] = TypeAdapter(StatedAttributes)
Text = Annotated[str, BeforeValidator(lambda value: str(value or "").strip())]
Key = tuple[str, ...]
"""What identifies a problem in the table, folded for comparison."""


class ListedRow(BaseModel):
    """A line of the table; its other columns are kept as they are."""

    model_config = ConfigDict(extra="allow")

    answer: Text = ""
    topic: Text = ""

    @property
    def columns(self) -> Mapping[str, Any]:
        """The columns whose names the study gives."""
        return self.model_extra or {}


class Joined(NamedTuple):
    """Problems with what the table says of them, and the others with the evidence."""

    problems: list[Problem]
    unlisted: list[tuple[Problem, str]]


def join_listed(problems: Iterable[Problem], listed: ListedProblems) -> Joined:
    """Join problems with the table: its answers, topics and attributes (USNCO-V, Methods).

    Of two problems with one line, such as those of a paper that was read twice, the first is taken.

    Raises:
        MissingInputError: The table does not exist.
        FileFormatError: A line lacks a column of `by`, is there twice, or an attribute is invalid.
    """
    rows = read_listed(listed)
    taken: dict[Key, str] = {}
    joined, unlisted = [], []
    for problem in problems:
        stated = {"number": problem.number, **problem.stated_attributes}
        key = _key(stated, listed.by)
        if key in taken:
            unlisted.append((problem, f"its line of {listed.file} is that of {taken[key]} already"))
        elif key in rows:
            taken[key] = problem.id
            joined.append(_add_row(problem, rows[key], listed))
        else:
            told = _describe(stated, listed.by)
            unlisted.append((problem, f"{listed.file} has no line for {told}"))
    return Joined(joined, unlisted)


def describe_unread(problems: Iterable[Problem], listed: ListedProblems) -> list[str]:
    """Return the lines of the table that no problem has, such as `local, 2003: 7, 12`.

    There is one text for all lines that differ in the last column of `by` alone.
    """
    found = {_key({"number": p.number, **p.stated_attributes}, listed.by) for p in problems}
    missing: dict[Key, list[str]] = defaultdict(list)
    for key in read_listed(listed):
        if key not in found:
            missing[key[:-1]].append(key[-1])
    return [
        f"{', '.join(head)}: {', '.join(last)}" if head else ", ".join(last)
        for head, last in missing.items()
    ]


def read_listed(listed: ListedProblems) -> dict[Key, ListedRow]:
    """Return the lines of the table by what identifies them, in order."""
    file = Path(listed.file)
    if not file.is_file():
        raise MissingInputError(f"filter.listed.file: {file} does not exist")
    rows: dict[Key, ListedRow] = {}
    for number, row in enumerate(typed_rows(file, ListedRow, ""), 1):
        absent = next((name for name in listed.by if not _fold(row.columns.get(name))), None)
        if absent:
            raise FileFormatError(
                f"{file}: item {number}: has no `{absent}`, which filter.listed.by names"
            )
        key = _key(row.columns, listed.by)
        if key in rows:
            told = _describe(row.columns, listed.by)
            raise FileFormatError(f"{file}: item {number}: is the second line for {told}")
        rows[key] = row
    return rows


def _add_row(problem: Problem, row: ListedRow, listed: ListedProblems) -> Problem:
    stated = {name: row.columns.get(name) for name in listed.attributes}
    with naming(Path(listed.file), problem.id):
        attributes = _ATTRIBUTES.validate_python({k: v for k, v in stated.items() if v})
    joined = problem.model_copy(
        update={
            "attributes": problem.attributes | attributes,
            "topic": problem.topic or row.topic or None,
        }
    )
    return _settle_answer(joined, row.answer, listed.file) if row.answer else joined


def _settle_answer(problem: Problem, answer: str, file: str) -> Problem:
    """Return the problem with the table's answer; other readings of it become one warning."""
    letters = [choice.label for choice in problem.choices or []]
    settled = [answer.upper() if answer.upper() in letters else answer]
    warnings = [w for w in problem.warnings if w.code != "answer_conflict"]
    if problem.answer not in (None, settled):
        told = f"{'; '.join(problem.answer or [])} in the paper, {settled[0]} in {file}"
        warnings.append(ProblemWarning(CONFLICT, f"{told}; the latter is kept"))
    return problem.model_copy(update={"answer": settled, "warnings": warnings})


def _key(values: Mapping[str, Any], by: Sequence[str]) -> Key:
    return tuple(_fold(values.get(name)) for name in by)


def _fold(value: Any) -> str:
    """Return a value for comparison: case and blanks ignored, `07` as `7`."""
    text = " ".join(join_labels(value if isinstance(value, list) else str(value or "")).split())
    return str(int(text)) if text.isascii() and text.isdigit() else text.casefold()


def _describe(values: Mapping[str, Any], by: Sequence[str]) -> str:
    return ", ".join(f"{name} {_fold(values.get(name)) or '(not stated)'}" for name in by)
