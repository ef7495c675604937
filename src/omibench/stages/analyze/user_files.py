"""Read CSV files written by users: keep valid rows, and report the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Final, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from omibench.errors import FileFormatError
from omibench.files.outputs import unmark_cell
from omibench.files.reading import read_numbered_csv
from omibench.schemas.problem import Answer
from omibench.text.lists import list_first

MOST_ROWS = 500_000
MOST_BYTES = 256 * 2**20
NAMED_LINES = 5
"""The number of invalid rows that the log lists; the rest is counted."""
_EXCERPT = 60
_LOG = logging.getLogger("omibench")

Row = TypeVar("Row", bound=BaseModel)
Content = TypeVar("Content")
Fault = tuple[str, str]
"""The column of an invalid row, and the reason."""


def read_checked_rows(
    path: str | Path,
    kind: type[Row],
    key: str,
    columns: Sequence[str],
    check: Callable[[int, Row], Fault | None] = lambda line, row: None,
) -> list[Row]:
    """Read a CSV file row by row; empty cells count as absent, quoting marks are removed.

    Invalid rows are left out. A warning lists them in file order, the first few individually.

    Args:
        path: The file, of at most 256 MiB and 500,000 rows.
        kind: Model of a row; its fields are the columns, others are ignored.
        key: Parameter with the path of the file, for messages.
        columns: Required columns.
        check: Returns what else is wrong with the row on a line, such as a repetition.

    Raises:
        MissingInputError: The file is missing.
        FileFormatError: The file is not CSV, lacks a column, or has no usable row or too many.
    """
    rows: list[Row] = []
    faults: list[str] = []
    try:
        for line, cells in read_numbered_csv(path, limit=MOST_BYTES):
            if not rows and not faults:
                _check_columns(path, columns, list(cells))
            if len(rows) + len(faults) == MOST_ROWS:
                raise FileFormatError(f"{path}: has more than {MOST_ROWS:,} rows: split the file")
            texts = {name: unmark_cell((cell or "").strip()) for name, cell in cells.items()}
            try:
                row = kind.model_validate({name: text for name, text in texts.items() if text})
                fault = check(line, row)
            except ValidationError as error:
                fault = _describe_error(error)
            if fault is None:
                rows.append(row)
            else:
                faults.append(f"line {line}, column {fault[0]!r}: {fault[1]}")
    except FileFormatError as error:
        raise FileFormatError(f"{key}: {error}") from None
    if not rows:
        reason = f"no row is usable; {faults[0]}" if faults else "has no rows below its header"
        raise FileFormatError(f"{key}: {path}: {reason}")
    if faults:
        count = "1 line is" if len(faults) == 1 else f"{len(faults):,} lines are"
        details = list_first(faults, NAMED_LINES, "; ")
        _LOG.warning("%s: %s left out of %s: %s", key, count, path, details)
    return rows


def read_or_warn(read: Callable[[], Content]) -> Content | None:
    """Read a file; if it is unusable, warn and continue without it.

    Args:
        read: Function that reads the file and raises FileFormatError if nothing in it is usable.

    Returns:
        The contents; None if they are unusable.

    Raises:
        MissingInputError: The file is missing.
    """
    try:
        return read()
    except FileFormatError as error:
        _LOG.warning("%s; the report omits this file", error)
        return None


def cite(text: str) -> str:
    """Return a value of the file for a message: short, without terminal control characters."""
    return repr(text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}...")


def _check_columns(path: str | Path, columns: Sequence[str], present: Sequence[str]) -> None:
    missing = [name for name in columns if name not in present]
    if missing:
        held = ", ".join(cite(name) for name in present[:12])
        raise FileFormatError(
            f"{path}: lacks the column {missing[0]!r}; give {', '.join(columns)}; "
            f"it has {held or 'none'}"
        )


def _describe_error(error: ValidationError) -> Fault:
    first = error.errors()[0]
    column = str(first["loc"][0]) if first["loc"] else "?"
    if first["type"] == "missing":
        return column, "is empty"
    reason = first["msg"].removeprefix("Value error, ")
    return column, f"is {cite(str(first['input']))}: {reason}"


# `cutoffs.csv`: the share of participants below a score, by exam.

CUTOFFS_KEY: Final = "analyze.people_cutoffs"
CUTOFFS_REQUIRED: Final = ("year", "percentile", "score", "of")
"""The required columns; exam and simulated are optional."""


class Cutoff(BaseModel):
    """One published cut-off of an exam: `percentile` per cent scored less than `score` of `of`."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    exam: Annotated[str, Field(max_length=200)] = ""
    year: Annotated[int, Field(ge=1, le=9999)]
    percentile: Annotated[float, Field(gt=0, lt=100)]
    score: Annotated[float, Field(ge=0)]
    of: Annotated[float, Field(gt=0)]
    simulated: bool = False

    @model_validator(mode="after")
    def _check_score(self) -> Self:
        if self.score > self.of:
            raise ValueError(
                f"a score of {self.score:g} is more than the maximum of {self.of:g} points"
            )
        return self


def read_cutoffs(path: str | Path) -> Mapping[tuple[str, int], list[Cutoff]]:
    """Read cut-offs; unusable rows are listed in a warning.

    Args:
        path: CSV file with the columns exam, year, percentile, score, of.

    Returns:
        The cut-offs of each exam and year, in file order.

    Raises:
        MissingInputError: The file is missing.
        FileFormatError: The file has another format, or no usable row.
    """
    by_exam: dict[tuple[str, int], list[Cutoff]] = {}
    for row in read_checked_rows(path, Cutoff, CUTOFFS_KEY, CUTOFFS_REQUIRED):
        by_exam.setdefault((row.exam, row.year), []).append(row)
    return by_exam


# `external_scores.csv`: reported scores of models on other benchmarks.

EXTERNAL_SCORES_KEY: Final = "analyze.external_scores"
EXTERNAL_SCORES_REQUIRED: Final = ("model", "benchmark", "metric", "value")
"""The required columns; source and simulated are optional."""
Label = Annotated[str, Field(min_length=1, max_length=200)]


class ExternalScore(BaseModel):
    """One score of a model on another benchmark, on the scale of its metric."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    model: Label
    benchmark: Label
    metric: Label
    value: float
    source: Annotated[str, Field(max_length=2_000)] = ""
    """Its source: a paper and table, or a URL."""
    simulated: bool = False
    """Whether it is invented."""


def read_external_scores(path: str | Path) -> list[ExternalScore]:
    """Read scores on other benchmarks; unusable rows are listed in a warning.

    Args:
        path: CSV file with the columns model, benchmark, metric, value, source.

    Returns:
        The scores in file order, one per model, benchmark and metric.

    Raises:
        MissingInputError: The file is missing.
        FileFormatError: The file has another format, or no usable row.
    """
    lines: dict[tuple[str, str, str], int] = {}

    def check(line: int, row: ExternalScore) -> Fault | None:
        first = lines.setdefault((row.model, row.benchmark, row.metric), line)
        reason = f"{cite(row.model)} has a value of this metric on line {first}"
        return None if first == line else ("model", reason)

    return read_checked_rows(
        path, ExternalScore, EXTERNAL_SCORES_KEY, EXTERNAL_SCORES_REQUIRED, check
    )


# `people.csv`: people's answers to problems, with response times.

PEOPLE_KEY: Final = "analyze.people"


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


PEOPLE_REQUIRED: Final = ("person", "problem", "answer")
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
    lines: dict[tuple[str, str], int] = {}
    groups: dict[str, tuple[str, int]] = {}

    def check(line: int, row: PersonAnswer) -> Fault | None:
        group, group_line = groups.setdefault(row.person, (row.group, line))
        first = lines.setdefault((row.person, row.problem), line)
        if row.problem not in golds:
            near = get_close_matches(row.problem, golds, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            return "problem", f"{cite(row.problem)} is not a problem of the dataset{hint}"
        if group != row.group:
            return "group", f"{cite(row.person)} is in the group {cite(group)} on line {group_line}"
        if first != line:
            return "problem", f"{cite(row.person)} answered {cite(row.problem)} on line {first}"
        return None

    return read_checked_rows(path, PersonAnswer, PEOPLE_KEY, PEOPLE_REQUIRED, check)
