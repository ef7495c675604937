"""Query of a page (items, cells, order), from an address and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Final, Literal, get_args
from urllib.parse import urlencode

import numpy as np
import polars as pl
from numpy.typing import NDArray

from omibench.errors import ParamsError
from omibench.explore.filters import READY_FILTERS, Grid, Scope, compute_grid, make_grid
from omibench.explore.index import Index
from omibench.explore.run import Items, Run
from omibench.explore.search import FIELDS, Field, find_items
from omibench.params.setting import Cell
from omibench.results.attributes import list_values
from omibench.results.load import JUDGE_RULES
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


# Selection of items by a query, with their rows of the grid.

_GRIDS_KEPT = 16


@dataclass(frozen=True)
class Selection:
    """The items that a query selects.

    Attributes:
        ids: All of them, in order.
        grid: The verdicts of the query's cells, one row per item of the dataset; None for items
            without a run.
    """

    ids: list[str]
    grid: Grid | None


class Study:
    """The contents of the explorer: items, optionally a run, and another run for comparison.

    Grids and searches are cached.
    """

    def __init__(
        self,
        items: Items,
        run: Run | None = None,
        other: Run | None = None,
        index: Index | None = None,
    ) -> None:
        """Combine the contents.

        Args:
            items: The items.
            run: Their responses and verdicts.
            other: Those of another run.
            index: The index of `run`.
        """
        self.items, self.run, self.other = items, run, other
        self._index = index
        self._grid = lru_cache(_GRIDS_KEPT)(partial(compute_grid, items))
        self._find = lru_cache(_GRIDS_KEPT)(self._search)

    def select(self, query: ItemQuery) -> Selection:
        """Select items.

        Args:
            query: The query; `offset` and `limit` are ignored.

        Raises:
            ParamsError: The query does not match the study.
        """
        mask = np.ones(len(self.items.ids), dtype=bool)
        if query.search.strip():
            mask &= self.items.mark(self._find(query.search, query.fields))
        for name, values in query.facets.items():
            mask &= self._match_facet(name, values)
        scope = self._scope(query)
        if scope is None:
            if query.ready or query.order != "dataset":
                raise ParamsError("ready, order: there are no verdicts to filter and order by")
            return Selection([self.items.ids[row] for row in np.flatnonzero(mask)], None)
        if query.ready:
            mask &= READY_FILTERS[query.ready].mask(scope)
        order = _rank(scope.grid, query.order)
        return Selection([self.items.ids[row] for row in order if mask[row]], scope.grid)

    def list_cells(self, query: ItemQuery) -> list[Cell]:
        """Return the cells of the query's models and settings; all if it has none.

        Raises:
            ParamsError: A model or setting is not in the run.
        """
        if self.run is None:
            return []
        return [self.run.cells[column] for column in self._choose_columns(self.run, query)]

    def choose_rules(self, rules: str | None) -> str:
        """Return the scorer of a grid: the given one, else the run's main one.

        Raises:
            ParamsError: The run has no verdicts of it, or no verdicts.
        """
        known = self.run.rules if self.run else []
        if not known:
            raise ParamsError("rules: nothing is scored yet")
        if rules is not None and rules not in known:
            raise ParamsError(f"rules: no verdicts of {rules[:40]!r}{suggest_name(rules, known)}")
        return rules or (self.run and self.run.main_rules) or known[0]

    def _scope(self, query: ItemQuery) -> Scope | None:
        if self.run is None or not self.run.rules:
            return None
        rules = self.choose_rules(query.rules)
        columns = self._choose_columns(self.run, query)
        judge = JUDGE_RULES if JUDGE_RULES in self.run.rules and rules != JUDGE_RULES else None
        return Scope(
            items=self.items,
            run=self.run,
            rules=rules,
            grid=self._grid(self.run, rules).select(columns),
            judge=self._grid(self.run, judge).select(columns) if judge else None,
            other=self._align(rules, columns),
            model=query.model,
        )

    def _align(self, rules: str, columns: list[int]) -> Grid | None:
        """Return the other run's grid with the same columns; NaN for missing cells."""
        if self.other is None or self.run is None:
            return None
        grid = self._grid(self.other, rules)
        places = {cell: place for place, cell in enumerate(grid.cells)}
        aligned = make_grid(self.items, [self.run.cells[column] for column in columns])
        for target, cell in enumerate(aligned.cells):
            if cell in places:
                aligned.values[:, target] = grid.values[:, places[cell]]
                aligned.failed[:, target] = grid.failed[:, places[cell]]
        return aligned

    def _choose_columns(self, run: Run, query: ItemQuery) -> list[int]:
        for name, values, known in (
            ("models", query.models, [cell.model for cell in run.cells]),
            ("settings", query.settings, [cell.setting for cell in run.cells]),
        ):
            for value in values:
                if value not in known:
                    hint = suggest_name(value, sorted(set(known)))
                    raise ParamsError(f"{name}: {value[:40]!r} is not in the run{hint}")
        columns = [
            column
            for column, cell in enumerate(run.cells)
            if (not query.models or cell.model in query.models)
            and (not query.settings or cell.setting in query.settings)
        ]
        if not columns:
            raise ParamsError("models, settings: the run has no cell with these")
        return columns

    def _match_facet(self, name: str, values: tuple[str, ...]) -> NDArray[np.bool_]:
        known = [column for column in self.items.attributes.columns if column != "id"]
        if name not in known:
            raise ParamsError(
                f"is.{name[:40]}: unknown attribute of items{suggest_name(name, known)}"
            )
        rows = list_values(self.items.attributes, "id", name)
        matching = rows.filter(pl.col(rows.columns[-1]).cast(pl.String).is_in(list(values)))
        return self.items.mark(matching["id"])

    def _search(self, words: str, fields: tuple[str, ...]) -> set[str]:
        return find_items(self.items, self.run, words, fields, self._index)  # type: ignore[arg-type]


def _rank(grid: Grid, order: str) -> list[int]:
    """Order rows; ties keep the dataset order, rows without verdicts come last."""
    if order == "dataset":
        return list(range(len(grid.values)))
    counts = (~np.isnan(grid.values)).sum(axis=1)
    means = np.nansum(grid.values, axis=1) / np.maximum(counts, 1)
    keys = {"hardest": means, "easiest": -means, "disputed": np.abs(means - 0.5)}[order]
    return [int(row) for row in np.argsort(np.where(counts == 0, np.inf, keys), kind="stable")]
