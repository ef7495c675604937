"""Text search in questions, responses, extracted answers and rationales."""

from __future__ import annotations

from typing import Final, Literal

import polars as pl

from omibench.errors import ParamsError
from omibench.explore.index import Index
from omibench.explore.items import Items
from omibench.explore.run import Run
from omibench.explore.texts import find_texts

Field = Literal["question", "response", "extracted", "rationale"]
FIELDS: Final[tuple[Field, ...]] = ("question", "response", "extracted", "rationale")
LONGEST: Final = 200
"""Maximum characters of a search text."""


def find_items(
    items: Items,
    run: Run | None,
    words: str,
    fields: tuple[Field, ...],
    index: Index | None = None,
) -> set[str]:
    """Return the items in which a field contains the text, ignoring case.

    Args:
        items: The items.
        run: The run with the responses; None to search only items.
        words: The text; not a pattern.
        fields: The fields to search.
        index: The run's index, if any.

    Returns:
        Their ids.

    Raises:
        ParamsError: The text is too long.
    """
    text = words.strip().lower()
    if len(text) > LONGEST:
        raise ParamsError(f"search: {len(text)} characters; the limit is {LONGEST}")
    if not text:
        return set(items.ids)
    found: set[str] = set()
    if "question" in fields:
        found |= {name for name, words in items.texts.items() if text in words}
    if "rationale" in fields:
        answers = items.answers.values()
        found |= {a.id for a in answers if text in (a.solution or "").lower()}
    if run is not None and "extracted" in fields:
        found |= set(_keep(run.verdicts, "extracted", text)["id"].unique().to_list())
    if run is not None and "response" in fields:
        found |= find_texts(run, text, index)
    return found & set(items.ids)


def _keep(frame: pl.DataFrame, column: str, text: str) -> pl.DataFrame:
    return frame.filter(pl.col(column).str.to_lowercase().str.contains(text, literal=True))
