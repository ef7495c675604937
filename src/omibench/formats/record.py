"""One response in the common form of all formats: the scoring columns, and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from omibench.formats.content import Row

COLUMNS: Final = (
    "id", "index", "model", "task", "group", "question", "choices", "gold", "answer_type",
    "prediction", "finish_reason",
)  # fmt: skip
"""Columns of a record, in the order of the file of verdicts."""
ANY_OF: Final = "any_of"
"""Marks a gold answer whose entries are alternatives: any of them is correct. omibench's own gold
answers are one answer in parts, all of which are required.
"""


OUTCOME: Final = "outcome_of_asking"
"""Reason why a response is missing or was refused."""


def record(values: Mapping[str, Any], extras: Mapping[str, Any]) -> Row:
    """Build a row of the scoring columns and the other fields as plain values.

    A file column with one of these names is kept as `input_<name>`.
    """
    row = {
        name: values[name] for name in (*COLUMNS, ANY_OF, OUTCOME) if values.get(name) is not None
    }
    row["prediction"] = values.get("prediction")
    plain_extras = {
        (f"input_{name}" if name in row else name): value
        for name, value in extras.items()
        if value is None or isinstance(value, str | int | float | bool)
    }
    return row | {name: value for name, value in plain_extras.items() if name not in row}


def build_gold(entries: Sequence[str], choices: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the gold columns for other tools: entries of an open answer are alternatives."""
    alternatives = {ANY_OF: True} if len(entries) > 1 and not choices else {}
    return {"gold": list(entries), "answer_type": "mcq" if choices else "open", **alternatives}
