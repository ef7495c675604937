"""Verdicts from a file of `omibench score`, as rows to compare with labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import polars as pl

from omibench.errors import FileFormatError, MissingInputError
from omibench.formats.named import format_columns
from omibench.formats.read import raw_rows
from omibench.formats.values import extract_texts, plain
from omibench.results.load import JUDGE_RULES
from omibench.schemas.validation import suggest_name

Row = dict[str, Any]

SCHEMA: Final[dict[str, Any]] = {
    **dict.fromkeys(("model", "setting", "id"), pl.String), "index": pl.Int64,
    **dict.fromkeys(("text", "cluster", "answer_type", "rules", "version"), pl.String),
    "by_rules": pl.Float64, "by_judge": pl.Float64,
    **dict.fromkeys(("judge_outcome", "judge", "judge_key", "prompt_sha256"), pl.String),
    **dict.fromkeys(("extracted", "method", "question"), pl.String), "gold": pl.List(pl.String),
}  # fmt: skip
_NEEDED = ("id", "verdict")
_NO_MODEL, _NO_SETTING = "file", "-"


def read_verdicts(path: Path, rules: str | None) -> list[Row]:
    """Return the verdicts of one scorer of a file, the first or the given one, row by row.

    Responses to one problem without an `index` are numbered in order.

    Raises:
        MissingInputError: The file does not exist or lacks the scorer.
        FileFormatError: The file has no verdicts.
    """
    rows: list[Row] = []
    last_index: dict[tuple[str, ...], int] = {}
    scorers: dict[str, None] = {}
    for number, raw in enumerate(raw_rows(path), 1):
        location = f"{path}, row {number}"
        lost = [name for name in _NEEDED if name not in raw]
        if lost:
            raise FileFormatError(
                f"{location}: lacks the column {lost[0]!r}; it has {format_columns(raw)}; pass a "
                "file written by omibench score"
            )
        scorer = str(raw.get("rules") or "rules")
        scorers[scorer] = None
        if scorer != (rules or next(iter(scorers))):
            continue
        place = (str(raw.get("model") or _NO_MODEL), str(raw.get("setting") or _NO_SETTING),
                 plain(raw["id"]))  # fmt: skip
        index = raw.get("index")
        last_index[place] = last_index.get(place, -1) + 1
        rows.append(
            _make_row(
                raw, scorer, place, last_index[place] if index is None else int(index), location
            )
        )
    if not rows:
        hint = suggest_name(rules, scorers) if rules and scorers else ""
        raise MissingInputError(f"{path}: no verdict{f' of {rules!r}{hint}' if rules else ''}")
    return rows


def _make_row(raw: Row, scorer: str, place: tuple[str, str, str], index: int, location: str) -> Row:
    model, setting, id = place
    judged = raw.get("gptscore") is not None and raw.get("judge_outcome") is not None
    return {
        "model": model, "setting": setting, "id": id, "index": index,
        "text": str(raw.get("prediction") or raw.get("text") or ""),
        "cluster": str(raw.get("group") or id),
        "answer_type": str(raw.get("answer_type") or "open"),
        "rules": scorer, "version": str(raw.get("version") or ""),
        "by_rules": _parse_share(raw["verdict"], location, "verdict"),
        "by_judge": _parse_share(raw["gptscore"], location, "gptscore") if judged else None,
        "judge_outcome": str(raw["judge_outcome"]) if judged else "scored",
        "judge": (str(raw.get("judge") or JUDGE_RULES)) if judged else None,
        "judge_key": raw.get("judge_key"), "prompt_sha256": raw.get("judge_prompt_sha256"),
        "extracted": raw.get("extracted"), "method": str(raw.get("method") or ""),
        "question": str(raw.get("question") or ""), "gold": extract_texts(raw.get("gold")),
    }  # fmt: skip


def _parse_share(value: Any, location: str, column: str) -> float:
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = -1.0
    if not 0 <= share <= 1:
        excerpt = repr(value)[:60]
        raise FileFormatError(
            f"{location}, column {column!r}: not a number in 0..1 (got {excerpt})"
        )
    return share
