"""Input of `omibench score`: rows of responses and golds, checked one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from omibench.errors import FileFormatError
from omibench.formats.golds import read_golds, with_golds
from omibench.formats.named import entries_of, names_of, unknown_form
from omibench.formats.read import raw_rows
from omibench.formats.record import ANY_OF, ASKED
from omibench.formats.values import CAPITALS as LABELS
from omibench.formats.values import text_of
from omibench.schemas.problem import AnswerType, Choice
from omibench.schemas.request import Outcome
from omibench.schemas.verdict import ScoredItem


def _labelled(given: object) -> object:
    """Options by label: a list has A, B, C, ...; an object brings its own labels."""
    if isinstance(given, Mapping):
        # A table that holds objects of different keys fills the gaps with nulls.
        return {str(label): text for label, text in given.items() if text is not None} or None
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) <= len(LABELS):
        return dict(zip(LABELS, given, strict=False)) or None
    return given


def _entries(given: object) -> object:
    return given if given is None or isinstance(given, Mapping) else entries_of(given)


class InputRow(BaseModel):
    """One row to score. Columns that are not named here are kept as they are."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str | int
    prediction: str | None
    gold: Annotated[list[str], Field(min_length=1), BeforeValidator(_entries)]
    answer_type: AnswerType
    choices: Annotated[dict[str, str] | None, BeforeValidator(_labelled)] = None
    finish_reason: str | None = None
    question: str | None = None
    group: Annotated[str | None, BeforeValidator(text_of)] = None


class FileRow(NamedTuple):
    """A row as it stood in its file, and what scoring reads of it."""

    raw: dict[str, Any]
    item: ScoredItem
    question: str
    cluster: str = ""
    """What is not independent: rows of one group, or of one problem of one file."""
    others: tuple[ScoredItem, ...] = ()
    """The same response beside each further alternative of a gold of which any is right."""


def read_rows(
    inputs: Sequence[Path],
    columns: Mapping[str, str] | None = None,
    answers: Path | None = None,
) -> list[FileRow]:
    """Every row of every file, in order.

    `columns` (name of scoring -> column) reads a file of any form by them; `answers` is a file of
    golds for predictions that have none. Raises MissingInputError for a file that is not there and
    FileFormatError naming file, row (from 1) and column for one that breaks the contract, or that
    it holds no rows.
    """
    golds = read_golds(answers) if answers else None
    rows = []
    for path in inputs:
        raw = raw_rows(path, columns)
        raw = raw if golds is None else with_golds(raw, golds, path)
        found = [_check(row, path, number) for number, row in enumerate(raw, 1)]
        if not found:
            raise FileFormatError(f"{path}: holds no rows: give the file of responses to score")
        rows += found
    return rows


def _check(raw: dict[str, Any], path: Path, number: int) -> FileRow:
    where = f"{path}, row {number}"
    any_of, asked = raw.pop(ANY_OF, False), raw.pop(ASKED, "answered")
    if not raw.get("answer_type"):
        raw = {**raw, "answer_type": "mcq" if raw.get("choices") else "open"}
    missing = [c for c, f in InputRow.model_fields.items() if f.is_required() and c not in raw]
    if missing:
        if {"key", "text"} <= raw.keys():
            raise FileFormatError(
                f"{where}: lacks the column {missing[0]!r}; it has {names_of(raw)}; for a cell of "
                "responses name --answers"
            )
        raw.pop("answer_type")
        raise unknown_form(where, raw, missing[0])
    try:
        row = InputRow.model_validate(raw)
    except ValidationError as error:
        raise FileFormatError(f"{where}, {_mistake(error)}") from None
    items = tuple(
        _item(row, gold, asked) for gold in ([[g] for g in row.gold] if any_of else [row.gold])
    )
    cluster = row.group or f"{path}\0{row.id}"
    return FileRow(raw, items[0], row.question or "", cluster, items[1:])


def _mistake(error: ValidationError) -> str:
    first = error.errors()[0]
    value = repr(first["input"])
    shown = value if len(value) <= 80 else value[:77] + "..."
    return f"column {first['loc'][0]!r}: {first['msg']} (got {shown})"


def _item(row: InputRow, gold: list[str], asked: Outcome) -> ScoredItem:
    return ScoredItem(
        id=str(row.id),
        prediction=row.prediction or "",
        gold=gold,
        answer_type=row.answer_type,
        choices=[Choice(label=label, text=text) for label, text in (row.choices or {}).items()]
        or None,
        finish_reason=row.finish_reason,
        outcome=asked,
    )
