"""Hashes of a release's manifest, computed from the values of a row alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from omibench.datasets.releases.schema import ReleaseRow
from omibench.schemas.problem import Choice

QUESTION: Final = ("question", "choices")
GOLD: Final = ("answer",)
RATIONALE: Final = ("rationale",)
ORIGINAL: Final = ("original_language", "original_question", "original_choices", "translator")
LABELS: Final = ("subject", "topic", "language")
PREFIX: Final = "attribute_"
"""Prefix of attribute columns, so that an attribute cannot replace another column."""


def describe_row(row: Mapping[str, Any], split: str) -> ReleaseRow:
    """Compute the manifest line of a row from its values alone.

    Args:
        row: Row of a release's Parquet file, with or without its pictures.
        split: Split of the row.
    """
    return ReleaseRow(
        id=row["id"],
        split=split,
        access=row["access"],
        source=row["source"],
        licence=row["licence"],
        question_sha256=hash_values(row, QUESTION),
        answer_sha256=hash_values(row, GOLD),
        rationale_sha256=hash_values(row, RATIONALE) if row["rationale"] else None,
        original_sha256=hash_values(row, ORIGINAL) if row["original_question"] else None,
        labels_sha256=hash_values(row, [*LABELS, *_list_attributes(row)]),
        image_sha256=[figure["sha256"] for figure in row["figures"]],
    )


def hash_values(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the SHA-256 of the JSON of values of a row, without null and empty ones."""
    values = {name: row[name] for name in names if row[name] not in (None, [], "")}
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def list_choices(choices: Sequence[Choice] | None) -> list[dict[str, Any]] | None:
    """Return choices as the structures of a column; None without choices."""
    return [choice.model_dump() for choice in choices] if choices else None


def _list_attributes(row: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in row if name.startswith(PREFIX))
