"""The kinds of tasks, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from omibench.errors import ParamsError
from omibench.review.kinds.declaration import Field, Kind, Option, Part
from omibench.review.kinds.photographs import CONDITIONS, FIELDS, SCREENING
from omibench.review.kinds.problems import DIFFICULTY, ITEM, LABEL, PAGE, RATIONALE, TRANSLATION
from omibench.review.kinds.responses import BASELINE, DISAGREEMENT, RATING, STEPS
from omibench.schemas.validation import suggest_name

KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        PAGE,
        TRANSLATION,
        DIFFICULTY,
        RATIONALE,
        LABEL,
        ITEM,
        STEPS,
        DISAGREEMENT,
        RATING,
        BASELINE,
        SCREENING,
        CONDITIONS,
        FIELDS,
    )
}
"""In the order in which a dataset needs them."""


def find_kind(name: str) -> Kind:
    """Return the kind with that name.

    Raises:
        ParamsError: The kind does not exist; the message suggests the nearest name.
    """
    try:
        return KINDS[name]
    except KeyError:
        raise ParamsError(
            f"unknown kind of task {name!r}{suggest_name(name, list(KINDS))}"
        ) from None


__all__ = ["KINDS", "Field", "Kind", "Option", "Part", "find_kind"]
