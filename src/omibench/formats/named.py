"""Any other file: `--columns` maps its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError, ParamsError
from omibench.formats.content import Row
from omibench.formats.record import COLUMNS, record
from omibench.formats.values import extract_text, extract_texts, parse_options, plain
from omibench.schemas.validation import suggest_name
from omibench.text.terminal import printable

NEEDED: Final = ("prediction", "gold")
_COLUMNS_SHOWN: Final = 40
_GUESSES: Final[dict[str, tuple[str, ...]]] = {
    "id": ("id", "qid", "question_id", "doc_id", "pid", "index", "idx", "uid", "sample_id"),
    "prediction": ("prediction", "pred", "response", "resps", "output", "model_output",
                   "completion", "generation", "model_answer", "text"),
    "gold": ("gold", "target", "answer", "label", "ground_truth", "reference", "gt",
             "correct_answer", "expected"),
    "choices": ("choices", "options", "choice_list"),
    "question": ("question", "prompt", "input", "query"),
}  # fmt: skip
"""Common names of the columns in unknown files."""


def parse_columns(text: str) -> dict[str, str]:
    """Parse `id=doc_id,prediction=resps,gold=target`; `doc.answer` refers to a nested field.

    Raises ParamsError for an unknown or repeated name, or without prediction or gold answer.
    """
    columns: dict[str, str] = {}
    for pair in text.split(","):
        name, sign, column = (part.strip() for part in pair.partition("="))
        if not sign or not column:
            raise ParamsError(f"--columns {pair!r}: write NAME=COLUMN, such as gold=target")
        if name not in COLUMNS:
            raise ParamsError(f"--columns {name!r}: is not a column of "
                              f"scoring{suggest_name(name, COLUMNS)}")  # fmt: skip
        if name in columns:
            raise ParamsError(f"--columns {name!r}: is given twice")
        columns[name] = column
    return columns


def rows(raw: Iterator[Row], columns: Mapping[str, str], path: Path) -> Iterator[Row]:
    """Yield the records of a file by its mapped columns; without an id, the row number is used.

    A prediction in lists is its first text; all entries of a list of gold answers are required.
    """
    for number, row in enumerate(raw, 1):
        values = {
            name: _value(row, column, f"{path}, row {number}") for name, column in columns.items()
        }
        choices = parse_options(values.get("choices"))
        record_values: dict[str, Any] = {
            **{name: extract_text(value) for name, value in values.items()},
            "id": extract_text(values.get("id")) or (str(number) if "id" not in columns else None),
            "choices": choices,
            "answer_type": extract_text(values.get("answer_type"))
            or ("mcq" if choices else "open"),
        }
        if "index" in values:
            record_values["index"] = values["index"]
        if "gold" in values:
            record_values["gold"] = extract_texts(values["gold"])
        extras = {name: value for name, value in row.items() if name not in columns.values()}
        yield record(record_values, extras)


def _value(row: Row, column: str, place: str) -> Any:
    if column in row:
        return row[column]
    value: Any = row
    for part in column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise FileFormatError(
                f"{place}: lacks the column {column!r}; it has {format_columns(row)}"
            )
        value = value[part]
    return value


def unknown_form(place: str, row: Row, lacks: str) -> FileFormatError:
    """Return the error of a missing column in an unknown format, with the columns and the option
    that maps them.
    """
    guess = {
        name: next((column for column in likely if column in row), None)
        for name, likely in _GUESSES.items()
    }
    pairs = [
        f"{name}={guess[name] or name.upper()}"
        for name in _GUESSES
        if guess[name] or name in ("id", *NEEDED)
    ]
    blank = [name.upper() for name in ("id", *NEEDED) if not guess[name]]
    fill = f" with your column in place of {' and '.join(blank)}" if blank else ""
    return FileFormatError(
        f"{place}: lacks the column {lacks!r}; it has {format_columns(row)}; map the columns "
        f"with --columns {','.join(pairs)}{fill}"
    )


def format_columns(row: Mapping[str, Any]) -> str:
    """Format the columns of a row for an error message."""
    names = [printable(name)[:60] for name in row]
    ending = f" and {len(names) - _COLUMNS_SHOWN} more" if len(names) > _COLUMNS_SHOWN else ""
    return (", ".join(names[:_COLUMNS_SHOWN]) or "none") + ending


def list_entries(value: Any) -> list[str]:
    """Return the entries of a gold answer in omibench's own files: a list, a text, a number."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [entry if isinstance(entry, str) else plain(entry) for entry in value]
    return [value if isinstance(value, str) else plain(value)]
