"""Gold answers in a separate file, for predictions without them: `--answers`.

This applies to OMIBench's own predictions (`id`, `qid` or `question_id`, and `prediction`,
`answer`, `response` or `output`), whose gold answers are in its `test.jsonl`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError
from omibench.formats.content import Row, json_rows
from omibench.formats.named import format_columns
from omibench.formats.record import record
from omibench.formats.values import extract_text

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
