"""Verdicts and numbers of responses: one row per item, one column per cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from omibench.explore.run import Items, Run
from omibench.params.setting import Cell
from omibench.results.statistics.items import average_rows, find_inversions
from omibench.results.suspected_keys import FEWEST_MODELS, fit_models, suspect_keys
from omibench.schemas.verdict import RIGHT


@dataclass(frozen=True)
class Grid:
    """Verdicts of all items in all cells.

    Attributes:
        cells: The columns.
        values: Mean verdict of the samples that count, in [0, 1], rows in the order of `Items.ids`;
            NaN for items without a verdict.
        failed: The share of those without an answer to score, in [0, 1]; NaN as above.
    """

    cells: Sequence[Cell]
    values: NDArray[np.float32]
    failed: NDArray[np.float32]

    def select(self, columns: Sequence[int]) -> Grid:
        """Return the grid with some of its columns; itself if nothing changes."""
        chosen = list(columns)
        if chosen == list(range(len(self.cells))):
            return self
        cells = [self.cells[column] for column in chosen]
        return Grid(cells, self.values[:, chosen], self.failed[:, chosen])


def compute_grid(items: Items, run: Run, rules: str) -> Grid:
    """Compute the grid of a run under a scorer.

    Args:
        items: The items; verdicts on others are ignored.
        run: The run.
        rules: The name of the scorer.
    """
    verdicts = run.verdicts.lazy().filter("counts", pl.col("rules") == rules)
    failed = pl.col("outcome") != "scored"
    values, failures = average_samples(items, run, verdicts, [pl.col("verdict"), failed])
    return Grid(run.cells, values.astype(np.float32), failures.astype(np.float32))


def average_samples(
    items: Items, run: Run, rows: pl.LazyFrame, numbers: Sequence[pl.Expr]
) -> list[NDArray[np.float64]]:
    """Return the mean of each number over the samples of each item (rows) in each cell (columns).

    Args:
        items: The items; other rows are ignored.
        run: The run.
        rows: The samples, with `id`, `model` and `setting`.
        numbers: What to average; nulls do not count.

    Returns:
        An array for each number; NaN where there is none.
    """
    names = [f"number_{place}" for place in range(len(numbers))]
    means = (
        rows.group_by("model", "setting", "id")
        .agg(number.mean().alias(name) for name, number in zip(names, numbers, strict=True))
        .join(frame_cells(run).with_row_index("column").lazy(), on=["model", "setting"])
        .join(pl.LazyFrame({"id": items.ids}).with_row_index("row"), on="id")
        .collect()
    )
    arrays = np.full((len(names), len(items.ids), len(run.cells)), np.nan)
    place = (means["row"].to_numpy(), means["column"].to_numpy())
    for array, name in zip(arrays, names, strict=True):
        array[place] = means[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return list(arrays)


def make_grid(items: Items, cells: Sequence[Cell]) -> Grid:
    """Return a grid without any verdict."""
    values, failed = np.full((2, len(items.ids), len(cells)), np.nan, dtype=np.float32)
    return Grid(cells, values, failed)


def frame_cells(source: Grid | Run) -> pl.DataFrame:
    """Return the models and settings of the columns, one row each."""
    columns = {
        "model": [c.model for c in source.cells],
        "setting": [c.setting for c in source.cells],
    }
    return pl.DataFrame(columns, schema={"model": pl.String, "setting": pl.String})


# Numbers of responses by item and cell: output tokens, dollars, seconds, characters.

OF_RESPONSES: Final[Mapping[str, str]] = {
    "tokens": "output_tokens",
    "cost": "cost_usd",
    "time": "latency_s",
    "length": "length",
}
"""The column of responses behind each measure."""
_FIGURES: Final = 6
"""Significant digits of a mean for pages."""


def compute_measure(items: Items, run: Run, name: str) -> NDArray[np.float64]:
    """Return the mean of a measure over the samples of each item (rows) in each cell of a run.

    Args:
        items: The items.
        run: The run.
        name: One of `OF_RESPONSES`.

    Returns:
        NaN where no response states it.
    """
    frame = run.lengths if name == "length" else run.responses
    (values,) = average_samples(items, run, frame.lazy(), [pl.col(OF_RESPONSES[name])])
    return values


def round_number(value: float) -> float | None:
    """Return a number for JSON, which has no NaN."""
    return None if np.isnan(value) else float(f"{value:.{_FIGURES}g}")


def describe_numbers(measures: Mapping[str, NDArray[np.float64]], place: int) -> dict[str, Any]:
    """Return a value of each measure for JSON.

    Args:
        measures: By name.
        place: The place of the value.
    """
    return {name: round_number(values[place]) for name, values in measures.items()}


# Ready filters: common questions about a grid of verdicts, as pure functions.

FEW_IMAGES: Final = 2
MANY_IMAGES: Final = 4
"""Maximum number of images that are few, and minimum number that are many."""


@dataclass(frozen=True)
class Scope:
    """The input of a filter.

    Attributes:
        items: The items.
        run: The run.
        rules: The selected scorer.
        grid: Its verdicts in the selected cells.
        judge: The judge's verdicts of the same cells; None without a judge.
        other: The verdicts of another run under the same scorer, of the same cells (NaN for missing
            ones); None without another run.
        model: The model of the filter `only`.
        list_suspected: Returns the items whose key is suspected under the scorer, whatever the
            selected cells.
    """

    items: Items
    run: Run
    rules: str
    grid: Grid
    judge: Grid | None = None
    other: Grid | None = None
    model: str | None = None
    list_suspected: Callable[[], Collection[str]] = tuple


Mask = Callable[[Scope], "NDArray[np.bool_]"]


@dataclass(frozen=True)
class ReadyFilter:
    """A named filter.

    Attributes:
        name: Its name in addresses.
        title: Its title in menus.
        mask: Returns True for each item that is kept, in the order of the items.
    """

    name: str
    title: str
    mask: Mask


def differ_from_judge(scope: Scope) -> NDArray[np.bool_]:
    """Some cell's answer is right by the rules and wrong by the judge, or vice versa."""
    return _differ(scope.grid, scope.judge)


def find_all_wrong(scope: Scope) -> NDArray[np.bool_]:
    """Every cell with an answer is wrong."""
    return _any_column(~np.isnan(scope.grid.values)) & ~_any_column(_right(scope.grid))


def find_all_right(scope: Scope) -> NDArray[np.bool_]:
    """Every cell with an answer is right."""
    answered = ~np.isnan(scope.grid.values)
    return _any_column(answered) & ~_any_column(answered & ~_right(scope.grid))


def find_only_one_right(scope: Scope) -> NDArray[np.bool_]:
    """Only one model is right: `scope.model`, or any if not set."""
    right = _right(scope.grid)
    by_model = {
        model: right[:, columns].any(1) for model, columns in _list_columns(scope.grid).items()
    }
    alone = np.equal(np.sum(list(by_model.values()), axis=0), 1)
    if scope.model is not None:
        alone = alone & by_model.get(scope.model, np.zeros(len(alone), dtype=bool))
    return np.asarray(alone, dtype=bool)


def find_outcome(outcome: str) -> Mask:
    """Return the mask of items with a response that has an outcome."""

    def find(scope: Scope) -> NDArray[np.bool_]:
        responses = scope.run.responses.filter(outcome=outcome)
        matching = responses.join(frame_cells(scope.grid), on=["model", "setting"])
        return scope.items.mark(matching["id"])

    return find


def find_unanswered(scope: Scope) -> NDArray[np.bool_]:
    """Some response contains no answer to score."""
    return _any_column(np.nan_to_num(scope.grid.failed) > 0)


def find_changed(scope: Scope) -> NDArray[np.bool_]:
    """Some cell has another verdict in the other run."""
    return _differ(scope.grid, scope.other)


def find_suspected_key(scope: Scope) -> NDArray[np.bool_]:
    """The strong models agree on another answer, as in the report."""
    return scope.items.mark(scope.list_suspected())


def list_suspected(items: Items, run: Run, rules: str) -> Collection[str]:
    """Return the items whose key is suspected under a scorer (`suspect_keys`).

    Args:
        items: The items.
        run: The run, of which the cells of `pooled_settings` count.
        rules: The name of the scorer.
    """
    verdicts = run.verdicts.filter(
        "counts",
        pl.col("rules") == rules,
        pl.col("id").is_in(items.ids),
        pl.col("setting").is_in(run.pooled_settings),
    )
    if verdicts["model"].n_unique() < FEWEST_MODELS:
        return ()
    by_cell = verdicts.group_by("model", "setting", "id", maintain_order=True).agg(
        pl.col("verdict").mean()
    )
    pooled = by_cell.group_by("model", "id", maintain_order=True).agg(
        pl.col("verdict").mean(), cluster=pl.col("id").first()
    )
    return suspect_keys(pooled, fit_models(pooled).strong, verdicts, items.answers)


def find_inverted(scope: Scope) -> NDArray[np.bool_]:
    """The weakest models are right and the strongest wrong (`find_inversions`)."""
    values = scope.grid.values.astype(float)
    models = _list_columns(scope.grid).values()
    return find_inversions(np.column_stack([average_rows(values[:, own]) for own in models]))


def find_image_count(fewest: int, most: int) -> Mask:
    """Return the mask of items with a number of images."""

    def find(scope: Scope) -> NDArray[np.bool_]:
        counts = [scope.items.answers[name].n_images for name in scope.items.ids]
        return np.array([fewest <= count <= most for count in counts], dtype=bool)

    return find


READY_FILTERS: Final = {
    ready.name: ready
    for ready in (
        ReadyFilter("judge-differs", "Scorer and judge differ", differ_from_judge),
        ReadyFilter("all-wrong", "All models wrong", find_all_wrong),
        ReadyFilter("all-right", "All models right", find_all_right),
        ReadyFilter("only", "Only one model right", find_only_one_right),
        ReadyFilter("refused", "Refused", find_outcome("refused")),
        ReadyFilter("truncated", "Truncated", find_outcome("truncated")),
        ReadyFilter("unanswered", "No answer", find_unanswered),
        ReadyFilter("changed", "Changed since the other run", find_changed),
        ReadyFilter("few-images", f"Up to {FEW_IMAGES} images", find_image_count(0, FEW_IMAGES)),
        ReadyFilter(
            "many-images",
            f"{MANY_IMAGES} images or more",
            find_image_count(MANY_IMAGES, sys.maxsize),
        ),
        ReadyFilter("suspected-key", "Suspected key", find_suspected_key),
        ReadyFilter("inverted", "Weak models right, strong ones wrong", find_inverted),
    )
}
"""Filters by name, in menu order."""


def _list_columns(grid: Grid) -> dict[str, list[int]]:
    """Return the columns of each model."""
    columns: dict[str, list[int]] = {}
    for column, cell in enumerate(grid.cells):
        columns.setdefault(cell.model, []).append(column)
    return columns


def _right(grid: Grid) -> NDArray[np.bool_]:
    right: NDArray[np.bool_] = np.nan_to_num(grid.values) >= RIGHT
    return right


def _any_column(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    rows: NDArray[np.bool_] = np.asarray(mask.any(axis=1), dtype=bool)
    return rows


def _differ(first: Grid, second: Grid | None) -> NDArray[np.bool_]:
    if second is None:
        return np.zeros(len(first.values), dtype=bool)
    both = ~np.isnan(first.values) & ~np.isnan(second.values)
    return _any_column(both & np.not_equal(_right(first), _right(second)))
