"""Any other file: `--columns` maps its columns."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from omibench.datasets.formats.record import (
    COLUMNS,
    Row,
    extract_text,
    extract_texts,
    json_rows,
    parse_options,
    plain,
    record,
)
from omibench.errors import FileFormatError, ParamsError
from omibench.schemas.validation import suggest_name
from omibench.text.lists import list_first
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
    return list_first(names, _COLUMNS_SHOWN) or "none"


def list_entries(value: Any) -> list[str]:
    """Return the entries of a gold answer in omibench's own files: a list, a text, a number."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [entry if isinstance(entry, str) else plain(entry) for entry in value]
    return [value if isinstance(value, str) else plain(value)]


# Gold answers in a separate file, for predictions without them: `--answers`.
#
# This applies to OMIBench's own predictions (`id`, `qid` or `question_id`, and `prediction`,
# `answer`, `response` or `output`), whose gold answers are in its `test.jsonl`.

_IDS: Final = ("id", "qid", "question_id")
_PREDICTIONS: Final = ("prediction", "answer", "response", "output")
_CHOICES: Final = ("choices", "choice_list")
_GOLDS: Final = ("answer", "gold")
_PROBLEM_COLUMNS: Final = ("group", "question")
_NAMED: Final = 3
_LOG = logging.getLogger("omibench")

Golds = dict[str, dict[str, Any]]


def read_golds(path: Path) -> Golds:
    """Read gold answers by id: omibench's `answers.jsonl` or OMIBench's dataset.

    Raises FileFormatError for a row without an id or an answer, or a repeated id.
    """
    golds: Golds = {}
    for number, row in enumerate(json_rows(path), 1):
        id, gold = _first(row, _IDS), _first(row, _GOLDS)
        if id is None or gold is None:
            lacks = "an id" if id is None else "an answer"
            raise FileFormatError(
                f"{path}, row {number}: lacks {lacks}; it has {format_columns(row)}"
            )
        if str(id) in golds:
            raise FileFormatError(f"{path}, row {number}: repeats the id {str(id)[:80]!r}")
        choices = _first(row, _CHOICES)
        golds[str(id)] = {
            "gold": gold, "choices": choices,
            "answer_type": row.get("answer_type") or ("mcq" if choices else "open"),
            **{name: row[name] for name in _PROBLEM_COLUMNS if row.get(name)},
        }  # fmt: skip
    return golds


def with_golds(raw: Iterator[Row], golds: Golds, path: Path) -> Iterator[Row]:
    """Yield predictions with their gold answers; warn about problems without a prediction.

    Raises FileFormatError for a prediction without an id or a text, or of an unknown problem.
    """
    unanswered = dict.fromkeys(golds)
    for number, row in enumerate(raw, 1):
        place = f"{path}, row {number}"
        id, name = _first(row, _IDS), next((n for n in _PREDICTIONS if n in row), None)
        if id is None or name is None:
            lacks = f"an id ({', '.join(_IDS)})" if id is None else "a prediction"
            raise FileFormatError(f"{place}: lacks {lacks}; it has {format_columns(row)}")
        gold = golds.get(str(id))
        if gold is None:
            raise FileFormatError(f"{place}: problem {str(id)[:80]!r} has no answer in --answers")
        unanswered.pop(str(id), None)
        extras = {key: value for key, value in row.items() if key not in (*_IDS, name)}
        details = {key: row[key] for key in ("index", "finish_reason", "model") if row.get(key)}
        prediction = extract_text(row[name])
        yield record({**gold, **details, "id": str(id), "prediction": prediction}, extras)
    if unanswered:
        first = ", ".join([*unanswered][:_NAMED])
        _LOG.warning(
            "score: %s: %d of %d problems have no prediction and are not counted: %s%s",
            path, len(unanswered), len(golds), first, ", ..." if len(unanswered) > _NAMED else "",
        )  # fmt: skip


def _first(row: Row, names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)
