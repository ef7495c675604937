"""One response as every format is read into it: the columns that scoring knows, and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from omibench.formats.content import Row

COLUMNS: Final = (
    "id", "index", "model", "task", "group", "question", "choices", "gold", "answer_type",
    "prediction", "finish_reason",
)  # fmt: skip
"""The columns that a record may have, in their order in the file of verdicts."""
ANY_OF: Final = "any_of"
"""Marks a gold whose entries are alternatives: any of them is right. omibench's own golds are one
answer in parts, all of which are needed."""


OUTCOME: Final = "outcome_of_asking"
"""Says of a response that never came, or was refused, why there is none."""


def record(values: Mapping[str, Any], extras: Mapping[str, Any]) -> Row:
    """A row of the columns that scoring knows, and of what else stood there in plain values.

    A column of the file that bears one of their names is kept as `input_<name>`.
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
    """The columns of a gold of other tools: several entries of an open one are alternatives."""
    alternatives = {ANY_OF: True} if len(entries) > 1 and not choices else {}
    return {"gold": list(entries), "answer_type": "mcq" if choices else "open", **alternatives}
