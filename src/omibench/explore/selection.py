"""Selection of items by a query, with their order, their rows of the grid, and counts of facets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from omibench.errors import ParamsError
from omibench.explore.filters import (
    OF_RESPONSES,
    READY_FILTERS,
    Grid,
    Scope,
    compute_grid,
    compute_measure,
    list_suspected,
    make_grid,
)
from omibench.explore.index import Index
from omibench.explore.query import MEASURES, ItemQuery
from omibench.explore.run import Items, Run, parse_cell
from omibench.explore.search import Hit, find_hits, find_items
from omibench.params.setting import Cell
from omibench.results.attributes import list_attributes, list_values
from omibench.results.load import JUDGE_RULES
from omibench.results.statistics.items import average_rows
from omibench.schemas.validation import suggest_name
from omibench.schemas.verdict import RIGHT
from omibench.stages.analyze.explorer.requests import natural

_GRIDS_KEPT = 16
_MASKS_KEPT = 256
Mask = NDArray[np.bool_]
Tags = Mapping[str, Collection[str]]
"""The tags of items by id, with those of their responses."""


@dataclass(frozen=True)
class Selection:
    """The items that a query selects.

    Attributes:
        ids: All of them, in order.
        columns: The places of the query's cells in the run.
        grid: Their verdicts, one row per item of the dataset; None without verdicts.
    """

    ids: list[str]
    columns: list[int]
    grid: Grid | None


class Study:
    """The contents of the explorer: items, optionally a run, and another run for comparison.

    Grids, filters and searches are cached.
    """

    def __init__(
        self,
        items: Items,
        run: Run | None = None,
        other: Run | None = None,
        index: Index | None = None,
        read_tags: Callable[[], Tags] = dict,
    ) -> None:
        """Combine the contents.

        Args:
            items: The items.
            run: Their responses and verdicts.
            other: Those of another run.
            index: The index of `run`.
            read_tags: Returns the current tags.
        """
        self.items, self.run, self.other, self.read_tags = items, run, other, read_tags
        self._index = index
        self._grid = lru_cache(_GRIDS_KEPT)(partial(compute_grid, items))
        self._find = lru_cache(_GRIDS_KEPT)(self._search)
        self._hits = lru_cache(_GRIDS_KEPT)(self._search_hits)
        self._suspected = lru_cache(_GRIDS_KEPT)(partial(list_suspected, items))
        self._ready = lru_cache(_MASKS_KEPT)(self._match_ready)
        self._values = lru_cache(_MASKS_KEPT)(self._list_values)
        self._measures: dict[str, NDArray[np.float64]] = {}
        self._measuring = threading.Lock()

    def select(self, query: ItemQuery) -> Selection:
        """Select items.

        Args:
            query: The query; `offset` and `limit` are ignored.

        Raises:
            ParamsError: The query does not match the study.
        """
        kept = np.ones(len(self.items.ids), dtype=bool)
        for mask in self._match_all(query).values():
            kept &= mask
        columns = self._choose_columns(self.run, query) if self.run and self.run.cells else []
        grid = self._find_grid(query, columns)
        order = self._rank(query, grid, columns)
        return Selection([self.items.ids[row] for row in order if kept[row]], columns, grid)

    def prepare(self) -> None:
        """Compute what the first pages need."""
        self.count(ItemQuery())
        if self.run is not None and self.run.cells and self.items.ids:
            self.run.list_verdicts(self.items.ids[0])
            self.read_measures(with_slow=True)

    def count(self, query: ItemQuery) -> dict[str, dict[str, int]]:
        """Return how many items each choice of a filter has among those that the others leave.

        Args:
            query: The query.

        Returns:
            By name of the address (`is.ATTRIBUTE`, `ready`, `tags`), the numbers by value. Ready
            filters must all match, so that each is counted under the other ones.

        Raises:
            ParamsError: The query does not match the study.
        """
        masks = self._match_all(query)
        failed = np.sum([~mask for mask in masks.values()], axis=0, dtype=np.int64)
        failed = failed + np.zeros(len(self.items.ids), dtype=np.int64)

        def leave_out(name: str) -> Mask:
            own = masks.get(name)
            return np.asarray((failed if own is None else failed - ~own) == 0)

        counts: dict[str, dict[str, int]] = {}
        for name in list_attributes(self.items.attributes):
            rows, codes, values = self._values(name)
            numbers = np.bincount(codes[leave_out(f"is.{name}")[rows]], minlength=len(values))
            counts[f"is.{name}"] = dict(zip(values, numbers.tolist(), strict=True))
        left = leave_out("tags")
        tags: dict[str, int] = {}
        for name, own in self.read_tags().items():
            place = self.items.places.get(name)  # None: the problem has left the dataset
            for tag in own if place is not None and left[place] else ():
                tags[tag] = tags.get(tag, 0) + 1
        counts["tags"] = tags
        if self.run is not None and self.run.rules:
            counts["ready"] = {
                name: int((leave_out(f"ready.{name}") & self._mask_ready(name, query)).sum())
                for name in READY_FILTERS
            }
        return counts

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

    def read_measures(self, *, with_slow: bool = False) -> dict[str, NDArray[np.float64]]:
        """Return each measure of responses by item and cell of the run.

        Args:
            with_slow: Whether to read the lengths of responses now; otherwise they are there once
                something has.
        """
        run = self.run
        if run is None or not run.cells:
            return {}
        if with_slow:
            _ = run.lengths  # read before the lock, so that fast pages do not wait
        with self._measuring:
            for name in OF_RESPONSES:
                is_read = name != "length" or "lengths" in vars(run)
                if name not in self._measures and is_read:
                    self._measures[name] = compute_measure(self.items, run, name)
            return dict(self._measures)

    def average_measures(
        self, columns: list[int], *, with_slow: bool = False
    ) -> dict[str, NDArray[np.float64]]:
        """Return the mean of each measure over some columns, by item."""
        measures = self.read_measures(with_slow=with_slow)
        return {name: average_rows(values[:, columns]) for name, values in measures.items()}

    def find_hits(self, query: ItemQuery, names: list[str]) -> dict[str, Hit]:
        """Return where some items contain the searched text; empty without a search."""
        return self._hits(query.search, query.fields, tuple(names)) if query.search.strip() else {}

    def _match_all(self, query: ItemQuery) -> dict[str, Mask]:
        """Return which items each filter of a query keeps, by its name."""
        masks: dict[str, Mask] = {}
        if query.search.strip():
            masks["search"] = self.items.mark(self._find(query.search, query.fields))
        for name, values in query.facets.items():
            masks[f"is.{name}"] = self._match_facet(name, values)
        if query.tags:
            wanted = {tag.casefold() for tag in query.tags}
            tags = self.read_tags().items()
            masks["tags"] = self.items.mark(
                name for name, own in tags if not wanted.isdisjoint(map(str.casefold, own))
            )
        has_verdicts = self.run is not None and bool(self.run.rules)
        if not has_verdicts and (query.ready or query.right or query.wrong):
            raise ParamsError("ready, right, wrong: there are no verdicts to filter by")
        for name in query.ready:
            masks[f"ready.{name}"] = self._mask_ready(name, query)
        for side in ("right", "wrong"):
            for name in getattr(query, side):
                masks[f"{side}.{name}"] = self._match_side(name, query, is_right=side == "right")
        return masks

    def _mask_ready(self, name: str, query: ItemQuery) -> Mask:
        rules = self.choose_rules(query.rules)
        return self._ready(name, rules, query.models, query.settings, query.model)

    def _match_ready(
        self,
        name: str,
        rules: str,
        models: tuple[str, ...],
        settings: tuple[str, ...],
        model: str | None,
    ) -> Mask:
        run = self.run
        assert run is not None
        columns = self._choose_columns(run, ItemQuery(models=models, settings=settings))
        judge = JUDGE_RULES if JUDGE_RULES in run.rules and rules != JUDGE_RULES else None
        scope = Scope(
            items=self.items,
            run=run,
            rules=rules,
            grid=self._grid(run, rules).select(columns),
            judge=self._grid(run, judge).select(columns) if judge else None,
            other=self._align(rules, columns),
            model=model,
            list_suspected=lambda: self._suspected(run, rules),
        )
        return READY_FILTERS[name].mask(scope)

    def _match_side(self, name: str, query: ItemQuery, *, is_right: bool) -> Mask:
        """Return where a model, setting or cell is right, or wrong, on average over its cells.

        A model counts under the selected settings, a setting with the selected models.
        """
        run = self.run
        assert run is not None
        known = {"/".join(cell): [cell] for cell in run.cells}
        for cell in run.cells:
            if not query.settings or cell.setting in query.settings:
                known.setdefault(cell.model, []).append(cell)
            if not query.models or cell.model in query.models:
                known.setdefault(cell.setting, []).append(cell)
        if name not in known:
            hint = suggest_name(name, sorted(known))
            side = "right" if is_right else "wrong"
            raise ParamsError(f"{side}: {name[:80]!r} is not in the selected cells{hint}")
        grid = self._grid(run, self.choose_rules(query.rules))
        columns = [run.cells.index(cell) for cell in known[name]]
        means = average_rows(grid.values[:, columns].astype(float))
        return np.asarray(means >= RIGHT if is_right else means < RIGHT, dtype=bool)

    def _find_grid(self, query: ItemQuery, columns: list[int]) -> Grid | None:
        if self.run is None or not self.run.rules:
            return None
        return self._grid(self.run, self.choose_rules(query.rules)).select(columns)

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

    def _list_values(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
        """Return the values of an attribute in long form: rows, codes, and the value of a code."""
        frame = list_values(self.items.attributes, "id", name)
        values = frame[name].unique(maintain_order=True).to_list()
        codes = {value: code for code, value in enumerate(values)}
        rows = [self.items.places[item] for item in frame["id"]]
        return np.array(rows, int), np.array([codes[v] for v in frame[name]], int), values

    def _match_facet(self, name: str, values: tuple[str, ...]) -> Mask:
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

    def _search_hits(
        self, words: str, fields: tuple[str, ...], names: tuple[str, ...]
    ) -> dict[str, Hit]:
        return find_hits(self.items, self.run, (words, fields), names, self._index)  # type: ignore[arg-type]

    def _rank(self, query: ItemQuery, grid: Grid | None, columns: list[int]) -> list[int]:
        """Order rows; ties keep the dataset order, rows without a value come last."""
        name, is_falling = query.order.removeprefix("-"), query.order.startswith("-")
        rows = range(len(self.items.ids))
        if name == "dataset":
            return list(rows)
        if name in (keys := self._list_keys()):
            texts = keys[name]()
            return sorted(rows, key=lambda row: texts[row], reverse=is_falling)
        if not columns or (grid is None and name not in MEASURES):
            raise ParamsError("order: there are no verdicts to order by")
        if name in MEASURES:
            values = self.average_measures(columns, with_slow=name == "length")[name]
        else:
            values = self._compute_order(query.rules, name, grid)
        values = np.where(np.isnan(values), np.inf, -values if is_falling else values)
        return [int(row) for row in np.argsort(values, kind="stable")]

    def _list_keys(self) -> dict[str, Callable[[], list[tuple[object, ...]]]]:
        """Return the sorting keys of the columns about items, by name of the order."""
        items = self.items
        return {
            "id": lambda: [(natural(name),) for name in items.ids],
            "subject": lambda: [(items.questions[name].subject.casefold(),) for name in items.ids],
            "type": lambda: [(items.answers[name].answer_type,) for name in items.ids],
            "images": lambda: [(items.answers[name].n_images,) for name in items.ids],
        }

    def _compute_order(
        self, rules: str | None, name: str, grid: Grid | None
    ) -> NDArray[np.float64]:
        """Return the number of each item by which an order of verdicts sorts."""
        assert grid is not None
        if "/" not in name:
            means = average_rows(grid.values.astype(float))
            return {"hardest": means, "easiest": -means, "disputed": np.abs(means - 0.5)}[name]
        cell = parse_cell(name)
        assert self.run is not None
        if cell not in self.run.cells:
            known = ["/".join(other) for other in self.run.cells]
            raise ParamsError(f"order: {name[:80]!r} is not in the run{suggest_name(name, known)}")
        whole = self._grid(self.run, self.choose_rules(rules))
        return np.asarray(whole.values[:, self.run.cells.index(cell)], dtype=float)
