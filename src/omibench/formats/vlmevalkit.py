"""Predictions of VLMEvalKit: `<model>_<dataset>.xlsx`, `.tsv` or `.csv`.

A row has `index`, `question`, `answer` and `prediction`, and an option in each of A, B, C, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from omibench.formats.content import Row
from omibench.formats.record import ASKED, gold_of, record
from omibench.formats.values import CAPITALS, NEVER_CAME, options_in, text_of, texts_of

TOOL: Final = "VLMEvalKit"


def is_row(row: Mapping[str, Any]) -> bool:
    """Whether a row is one of such a table."""
    return {"index", "answer", "prediction"} <= row.keys()


def rows(raw: Iterator[Row]) -> Iterator[Row]:
    """The records of a table. What the kit writes where an endpoint failed is no response."""
    for row in raw:
        choices = options_in(row)
        prediction = text_of(row["prediction"]) or ""
        failed = prediction.strip().casefold() in NEVER_CAME
        known = {
            "id": text_of(row["index"]), "question": text_of(row.get("question")),
            "choices": choices, "prediction": "" if failed else prediction,
            ASKED: "provider_error" if failed else None,
            **gold_of(texts_of(row["answer"]), choices),
        }  # fmt: skip
        taken = {"index", "question", "answer", "prediction", *(CAPITALS if choices else ())}
        yield record(known, {name: value for name, value in row.items() if name not in taken})
