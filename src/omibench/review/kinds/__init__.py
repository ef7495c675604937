"""The kinds of tasks, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from omibench.errors import ParamsError
from omibench.review.kinds.declaration import Field, Kind, Option, Part
from omibench.review.kinds.item import ITEM
from omibench.schemas.validation import suggest_name

KINDS: Final[Mapping[str, Kind]] = {kind.name: kind for kind in (ITEM,)}


def find_kind(name: str) -> Kind:
    """The kind of that name.

    Raises:
        ParamsError: There is none; the message suggests the nearest name.
    """
    try:
        return KINDS[name]
    except KeyError:
        raise ParamsError(
            f"unknown kind of task {name!r}{suggest_name(name, list(KINDS))}"
        ) from None


__all__ = ["KINDS", "Field", "Kind", "Option", "Part", "find_kind"]
