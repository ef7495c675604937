"""Predictions of VLMEvalKit: `<model>_<dataset>.xlsx`, `.tsv` or `.csv`.

A row has `index`, `question`, `answer` and `prediction`, and an option in each of A, B, C, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from omibench.formats.content import Row
from omibench.formats.record import OUTCOME, build_gold, record
from omibench.formats.values import (
    CAPITALS,
    NEVER_CAME,
    extract_text,
    extract_texts,
    read_option_columns,
)

TOOL: Final = "VLMEvalKit"


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether a row is part of such a table."""
    return {"index", "answer", "prediction"} <= row.keys()


def rows(raw: Iterator[Row]) -> Iterator[Row]:
    """Yield the records of a table. The kit's text for a failed endpoint is not a response."""
    for row in raw:
        choices = read_option_columns(row)
        prediction = extract_text(row["prediction"]) or ""
        failed = prediction.strip().casefold() in NEVER_CAME
        columns = {
            "id": extract_text(row["index"]), "question": extract_text(row.get("question")),
            "choices": choices, "prediction": "" if failed else prediction,
            OUTCOME: "provider_error" if failed else None,
            **build_gold(extract_texts(row["answer"]), choices),
        }  # fmt: skip
        used_columns = {"index", "question", "answer", "prediction", *(CAPITALS if choices else ())}
        yield record(
            columns, {name: value for name, value in row.items() if name not in used_columns}
        )
