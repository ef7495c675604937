"""Query of a page (items, cells, order), from an address and back."""

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
"""Order of items; `disputed` puts those first on which cells differ most."""
ORDERS: Final[tuple[Order, ...]] = get_args(Order)
MOST_ROWS: Final = 500
"""Default rows of one page."""
MOST_COLUMNS: Final = 640
"""Maximum rows of one page: browsers take seconds to lay out more."""
_ROWS: Final = 100
_FEWEST_ROWS: Final = 25
_MOST_MARKS: Final = 20_000
"""Maximum verdicts of one page: with many columns it has fewer rows, unless the query sets them."""


@dataclass(frozen=True)
class ItemQuery:
    """A selection of items, with their order.

    Attributes:
        rules: The scorer of the grid; None for the run's main one.
        models: Models of the columns; empty for all.
        settings: Settings of the columns; empty for all.
        facets: Allowed values of attributes.
        ready: The name of a ready filter.
        model: The model of the filter `only`.
        search: A search text.
        fields: The fields to search.
        order: The order of the items.
        offset: The number of items to skip.
        column: The number of columns to skip.
        limit: The number of items; None for the default page size.
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
        """Return the number of rows on a page.

        Args:
            columns: The number of cells of the grid.
        """
        if self.limit is not None:
            return self.limit
        return max(_FEWEST_ROWS, min(_ROWS, _MOST_MARKS // max(1, columns)))

    def to_address(self) -> str:
        """Return the query string of the address, without defaults."""
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
        pairs: Names and values, in order.

    Raises:
        ParamsError: A name or value is not valid.
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
        raise ParamsError(f"{name}: must be an integer from 0 (got {value[:20]!r})")
    return int(value)


def _check(name: str, value: str, known: Sequence[str]) -> Any:
    if value not in known:
        raise ParamsError(f"{name}: unknown value {value[:40]!r}{suggest_name(value, list(known))}")
    return value
