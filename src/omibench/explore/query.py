"""What a reader asks for: which items, which cells, in which order; from an address and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, get_args
from urllib.parse import urlencode

from omibench.errors import ParamsError
from omibench.explore.filters import READY_FILTERS
from omibench.explore.search import FIELDS, Field
from omibench.schemas.validation import suggest_name

Order = Literal["dataset", "hardest", "easiest", "disputed"]
"""`disputed`: first those on which cells differ most."""
ORDERS: Final[tuple[Order, ...]] = get_args(Order)
MOST_ROWS: Final = 500
"""Of one page."""
MOST_COLUMNS: Final = 640
"""Of one page: browsers take seconds to lay out more."""
_ROWS: Final = 100
_FEWEST_ROWS: Final = 25
_MOST_MARKS: Final = 20_000
"""Verdicts of one page: with many columns it has fewer rows, unless the query says how many."""


@dataclass(frozen=True)
class ItemQuery:
    """Which items, and in which order.

    Attributes:
        rules: The rule book of the grid; None for the run's main one.
        models: Models whose cells are columns; all without any.
        settings: Settings whose cells are columns; all without any.
        facets: Values that an item may have, by attribute.
        ready: The name of a ready filter.
        model: The model that the filter `only` asks about.
        search: A text.
        fields: Where it is searched for.
        order: The order of the items.
        offset: How many items are left out at the start.
        column: How many columns are left out at the start.
        limit: How many are given; None for as many as a page takes of so many columns.
    """

    rules: str | None = None
    models: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ready: str | None = None
    model: str | None = None
    search: str = ""
    fields: tuple[Field, ...] = ("question",)
    order: Order = "dataset"
    offset: int = 0
    column: int = 0
    limit: int | None = None

    def count_rows(self, columns: int) -> int:
        """How many rows a page has.

        Args:
            columns: Cells of the grid.
        """
        if self.limit is not None:
            return self.limit
        return max(_FEWEST_ROWS, min(_ROWS, _MOST_MARKS // max(1, columns)))

    def to_address(self) -> str:
        """The query string of the address; what is as by default is left out."""
        default = ItemQuery()
        pairs: list[tuple[str, str]] = []
        for name in ("rules", "ready", "model", "search", "order"):
            value = getattr(self, name)
            if value != getattr(default, name):
                pairs.append((name, str(value)))
        pairs += [("models", name) for name in self.models]
        pairs += [("settings", name) for name in self.settings]
        pairs += [(f"is.{name}", value) for name, vs in self.facets.items() for value in vs]
        if self.fields != default.fields:
            pairs += [("in", name) for name in self.fields]
        for name in ("offset", "column"):
            if getattr(self, name):
                pairs.append((name, str(getattr(self, name))))
        if self.limit is not None:
            pairs.append(("limit", str(self.limit)))
        return urlencode(pairs)


def parse_query(pairs: Sequence[tuple[str, str]]) -> ItemQuery:
    """Read the query of an address.

    Args:
        pairs: Names and values, in their order.

    Raises:
        ParamsError: A name is unknown, or a value is none that it takes.
    """
    query = ItemQuery()
    lists: dict[str, list[str]] = {"models": [], "settings": [], "in": []}
    facets: dict[str, list[str]] = {}
    changes: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            lists[name].append(value)
        elif name.startswith("is."):
            facets.setdefault(name.removeprefix("is."), []).append(value)
        elif name in ("offset", "column", "limit"):
            changes[name] = _parse_count(name, value)
        elif name in ("rules", "model", "search"):
            changes[name] = value
        elif name == "ready":
            changes[name] = _check(name, value, tuple(READY_FILTERS))
        elif name == "order":
            changes[name] = _check(name, value, ORDERS)
        else:
            known = ["rules", "models", "settings", "ready", "model", "search", "in", "order"]
            raise ParamsError(f"{name}: unknown part of the address{suggest_name(name, known)}")
    fields = tuple(_check("in", value, FIELDS) for value in lists["in"])
    changes |= {"fields": fields} if fields else {}
    if "limit" in changes:
        changes["limit"] = min(changes["limit"], MOST_ROWS)
    return replace(
        query,
        models=tuple(lists["models"]),
        settings=tuple(lists["settings"]),
        facets={name: tuple(values) for name, values in facets.items()},
        **changes,
    )


def _parse_count(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise ParamsError(f"{name}: a whole number from 0 (got {value[:20]!r})")
    return int(value)


def _check(name: str, value: str, known: Sequence[str]) -> Any:
    if value not in known:
        raise ParamsError(f"{name}: unknown value {value[:40]!r}{suggest_name(value, list(known))}")
    return value
