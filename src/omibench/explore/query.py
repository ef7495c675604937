"""Query of a page (problems, cells, order), from an address and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlencode

from omibench.errors import ParamsError
from omibench.explore.filters import OF_RESPONSES, READY_FILTERS
from omibench.explore.search import FIELDS, Field
from omibench.schemas.validation import suggest_name

MEASURES: Final = tuple(OF_RESPONSES)
"""Numbers of responses by which problems are ordered, as means over the columns."""
COLUMNS: Final = ("id", "subject", "type", "images", *MEASURES)
"""Columns by which problems are ordered, `-` before the name for a descending order."""
ORDERS: Final = (
    "dataset", "hardest", "easiest", "disputed", *(f"{s}{n}" for n in COLUMNS for s in ("", "-")),
)  # fmt: skip
"""Orders of problems besides MODEL/SETTING, the verdicts of a cell; `disputed` puts those first on
which cells differ most."""
MOST_ROWS: Final = 500
"""Maximum rows of one page."""
MOST_COLUMNS: Final = 640
"""Maximum columns of one page."""
_ROWS: Final = 100
_FEWEST_ROWS: Final = 25
_MOST_MARKS: Final = 64_000
"""Maximum verdicts of one page: with many columns it has fewer rows, unless the query sets them."""
_LISTS: Final = ("models", "settings", "ready", "right", "wrong", "tags")
_TEXTS: Final = ("rules", "model", "search", "order")
_COUNTS: Final = ("offset", "column", "limit")


@dataclass(frozen=True)
class ItemQuery:
    """A selection of items, with their order.

    Attributes:
        rules: The scorer of the grid; None for the run's main one.
        models: Models of the columns; empty for all.
        settings: Settings of the columns; empty for all.
        facets: Allowed values of attributes.
        ready: The names of ready filters, which must all match.
        model: The model of the filter `only`.
        right: Models, settings and cells (MODEL/SETTING) that must be right.
        wrong: Those that must be wrong.
        tags: Tags of the problem or its responses, of which one must match.
        search: A search text.
        fields: The fields to search.
        order: The order of the items: one of `ORDERS`, or a cell.
        offset: The number of items to skip.
        column: The number of columns to skip.
        limit: The number of items; None for the default page size.
    """

    rules: str | None = None
    models: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ready: tuple[str, ...] = ()
    model: str | None = None
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    search: str = ""
    fields: tuple[Field, ...] = ("question",)
    order: str = "dataset"
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
        for name in _TEXTS:
            value = getattr(self, name)
            if value != getattr(default, name):
                pairs.append((name, str(value)))
        pairs += [(name, value) for name in _LISTS for value in getattr(self, name)]
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
    lists: dict[str, dict[str, None]] = {name: {} for name in (*_LISTS, "in")}
    facets: dict[str, dict[str, None]] = {}
    changes: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            lists[name][value] = None
        elif name.startswith("is."):
            facets.setdefault(name.removeprefix("is."), {})[value] = None
        elif name in _COUNTS:
            changes[name] = _parse_count(name, value)
        elif name in _TEXTS:
            changes[name] = value
        else:
            known = [*_LISTS, *_TEXTS, "in"]
            raise ParamsError(f"{name}: unknown part of the address{suggest_name(name, known)}")
    for name, known_values in (("ready", tuple(READY_FILTERS)), ("in", FIELDS)):
        for value in lists[name]:
            _check(name, value, known_values)
    if "/" not in changes.get("order", "/"):
        _check("order", changes["order"], ORDERS)
    if fields := tuple(lists.pop("in")):
        changes["fields"] = fields
    if "limit" in changes:
        changes["limit"] = min(changes["limit"], MOST_ROWS)
    changes |= {name: tuple(values) for name, values in lists.items()}
    return replace(
        ItemQuery(), facets={name: tuple(values) for name, values in facets.items()}, **changes
    )


def _parse_count(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise ParamsError(f"{name}: must be an integer from 0 (got {value[:20]!r})")
    return int(value)


def _check(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise ParamsError(f"{name}: unknown value {value[:40]!r}{suggest_name(value, list(known))}")
