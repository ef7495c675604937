"""Rows and items that the score tests share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from omibench.schemas.problem import Choice
from omibench.schemas.verdict import ScoredItem

MakeItem = Callable[..., ScoredItem]


def choices_of(texts: Sequence[str]) -> list[Choice]:
    return [Choice(label=chr(ord("A") + i), text=text) for i, text in enumerate(texts)]


def make_item(
    prediction: str,
    gold: str | Sequence[str],
    options: Sequence[str] | None = None,
    **more: object,
) -> ScoredItem:
    """A scored item: multiple choice when options are given, else open."""
    return ScoredItem.model_validate(
        {
            "id": "p-1",
            "prediction": prediction,
            "gold": [gold] if isinstance(gold, str) else list(gold),
            "answer_type": "mcq" if options else "open",
            "choices": choices_of(options) if options else None,
            **more,
        }
    )
