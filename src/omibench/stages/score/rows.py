"""Input of `omibench score`: rows of responses and gold answers, validated individually."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from omibench.datasets.formats.named import (
    format_columns,
    list_entries,
    read_golds,
    unknown_form,
    with_golds,
)
from omibench.datasets.formats.read import raw_rows
from omibench.datasets.formats.record import ANY_OF, OUTCOME, extract_text
from omibench.datasets.formats.record import CAPITALS as LABELS
from omibench.errors import FileFormatError
from omibench.schemas.problem import AnswerType, Choice
from omibench.schemas.request import Outcome
from omibench.schemas.verdict import ScoredItem


def _label_options(options: object) -> object:
    """Options by label: a list gets A, B, C, ...; an object has its own labels."""
    if isinstance(options, Mapping):
        # Tables with objects of different keys have nulls in the gaps.
        return {str(label): text for label, text in options.items() if text is not None} or None
    if (
        isinstance(options, Sequence)
        and not isinstance(options, str)
        and len(options) <= len(LABELS)
    ):
        return dict(zip(LABELS, options, strict=False)) or None
    return options


def _list_golds(gold: object) -> object:
    return gold if gold is None or isinstance(gold, Mapping) else list_entries(gold)


class InputRow(BaseModel):
    """One row to score. Other columns are passed through."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str | int
    prediction: str | None
    gold: Annotated[list[str], Field(min_length=1), BeforeValidator(_list_golds)]
    answer_type: AnswerType
    choices: Annotated[dict[str, str] | None, BeforeValidator(_label_options)] = None
    finish_reason: str | None = None
    question: str | None = None
    group: Annotated[str | None, BeforeValidator(extract_text)] = None


class FileRow(NamedTuple):
    """A row as in its file, and its parsed fields."""

    raw: dict[str, Any]
    item: ScoredItem
    question: str
    cluster: str = ""
    """The cluster: rows of one group, or of one problem of one file, are not independent."""
    alternatives: tuple[ScoredItem, ...] = ()
    """The same response with each alternative of a gold answer of which any is correct."""


def read_rows(
    inputs: Sequence[Path],
    columns: Mapping[str, str] | None = None,
    answers: Path | None = None,
) -> list[FileRow]:
    """Return every row of every file, in order.

    `columns` (name of scoring -> column) maps columns of any file; `answers` is a file of gold
    answers for predictions without them.

    Raises:
        MissingInputError: A file does not exist.
        FileFormatError: A file has no rows, or an invalid one; the message gives file, row (from 1)
            and column.
    """
    golds = read_golds(answers) if answers else None
    rows = []
    for path in inputs:
        raw = raw_rows(path, columns)
        raw = raw if golds is None else with_golds(raw, golds, path)
        checked = [_check_row(row, path, number) for number, row in enumerate(raw, 1)]
        if not checked:
            raise FileFormatError(f"{path}: no rows; pass the file of responses to score")
        rows += checked
    return rows


def _check_row(raw: dict[str, Any], path: Path, number: int) -> FileRow:
    place = f"{path}, row {number}"
    any_of, outcome = raw.pop(ANY_OF, False), raw.pop(OUTCOME, "answered")
    if not raw.get("answer_type"):
        raw = {**raw, "answer_type": "mcq" if raw.get("choices") else "open"}
    missing = [c for c, f in InputRow.model_fields.items() if f.is_required() and c not in raw]
    if missing:
        if {"key", "text"} <= raw.keys():
            raise FileFormatError(
                f"{place}: lacks the column {missing[0]!r}; it has {format_columns(raw)}; "
                "for a cell of responses pass --answers"
            )
        raw.pop("answer_type")
        raise unknown_form(place, raw, missing[0])
    try:
        row = InputRow.model_validate(raw)
    except ValidationError as error:
        raise FileFormatError(f"{place}, {_describe_mistake(error)}") from None
    items = tuple(
        _make_item(row, gold, outcome)
        for gold in ([[g] for g in row.gold] if any_of else [row.gold])
    )
    cluster = row.group or f"{path}\0{row.id}"
    return FileRow(raw, items[0], row.question or "", cluster, items[1:])


def _describe_mistake(error: ValidationError) -> str:
    first = error.errors()[0]
    value = repr(first["input"])
    excerpt = value if len(value) <= 80 else value[:77] + "..."
    return f"column {first['loc'][0]!r}: {first['msg']} (got {excerpt})"


def _make_item(row: InputRow, gold: list[str], outcome: Outcome) -> ScoredItem:
    return ScoredItem(
        id=str(row.id),
        prediction=row.prediction or "",
        gold=gold,
        answer_type=row.answer_type,
        choices=[Choice(label=label, text=text) for label, text in (row.choices or {}).items()]
        or None,
        finish_reason=row.finish_reason,
        outcome=outcome,
    )
