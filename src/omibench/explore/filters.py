"""Grid of verdicts under one scorer: one row per item, one column per cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from omibench.answers.compare import normalise_answer
from omibench.explore.run import Items, Run
from omibench.params.setting import Cell
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
    columns = pl.DataFrame(
        {
            "model": [cell.model for cell in run.cells],
            "setting": [cell.setting for cell in run.cells],
            "column": list(range(len(run.cells))),
        },
        schema_overrides={"model": pl.String, "setting": pl.String, "column": pl.Int64},
    )
    rows = pl.DataFrame({"id": items.ids}).with_row_index("row")
    means = (
        run.verdicts.lazy()
        .filter("counts", pl.col("rules") == rules)
        .group_by("model", "setting", "id")
        .agg(
            value=pl.col("verdict").mean(),
            failed=(pl.col("outcome") != "scored").mean(),
        )
        .join(columns.lazy(), on=["model", "setting"])
        .join(rows.lazy(), on="id")
        .collect()
    )
    shape = (len(items.ids), len(run.cells))
    values = np.full(shape, np.nan, dtype=np.float32)
    failed = np.full(shape, np.nan, dtype=np.float32)
    place = (means["row"].to_numpy(), means["column"].to_numpy())
    values[place] = means["value"].to_numpy()
    failed[place] = means["failed"].to_numpy()
    return Grid(run.cells, values, failed)


# Ready filters: common questions about a grid of verdicts, as pure functions.

FEW_IMAGES: Final = 2
MANY_IMAGES: Final = 4
"""Maximum number of images that are few, and minimum number that are many."""
STRONG: Final = 3
"""The number of models that `suspicious-gold` takes as strong: those with the highest means."""


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
    """

    items: Items
    run: Run
    rules: str
    grid: Grid
    judge: Grid | None = None
    other: Grid | None = None
    model: str | None = None


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
    if scope.judge is None:
        return np.zeros(len(scope.items.ids), dtype=bool)
    return _differ(scope.grid, scope.judge)


def find_all_wrong(scope: Scope) -> NDArray[np.bool_]:
    """Every cell with an answer is wrong."""
    return _answered(scope.grid) & ~_any_column(_right(scope.grid))


def find_all_right(scope: Scope) -> NDArray[np.bool_]:
    """Every cell with an answer is right."""
    wrong = ~_right(scope.grid) & ~np.isnan(scope.grid.values)
    return _answered(scope.grid) & ~_any_column(wrong)


def find_only_one_right(scope: Scope) -> NDArray[np.bool_]:
    """Only one model is right: `scope.model`, or any if not set."""
    models = list(dict.fromkeys(cell.model for cell in scope.grid.cells))
    right = _right(scope.grid)
    by_model = np.stack(
        [
            right[:, [i for i, cell in enumerate(scope.grid.cells) if cell.model == model]].any(1)
            for model in models
        ],
        axis=1,
    )
    is_alone: NDArray[np.bool_] = np.equal(by_model.sum(axis=1), 1)
    if scope.model is None:
        return is_alone
    if scope.model not in models:
        return np.zeros(len(scope.items.ids), dtype=bool)
    alone: NDArray[np.bool_] = is_alone & by_model[:, models.index(scope.model)]
    return alone


def find_refused(scope: Scope) -> NDArray[np.bool_]:
    """Some response was refused."""
    return _with_outcome(scope, "refused")


def find_truncated(scope: Scope) -> NDArray[np.bool_]:
    """Some response was cut at the token limit."""
    return _with_outcome(scope, "truncated")


def find_unanswered(scope: Scope) -> NDArray[np.bool_]:
    """Some response contains no answer to score."""
    return _any_column(np.nan_to_num(scope.grid.failed) > 0)


def find_changed(scope: Scope) -> NDArray[np.bool_]:
    """Some cell has another verdict in the other run."""
    if scope.other is None:
        return np.zeros(len(scope.items.ids), dtype=bool)
    return _differ(scope.grid, scope.other)


def find_suspicious_gold(scope: Scope) -> NDArray[np.bool_]:
    """The strongest models are wrong and agree on one answer, so the gold answer may be wrong.

    These are up to three models with the highest mean in the grid, each with its most frequent
    answer in normal form.
    """
    mask = np.zeros(len(scope.items.ids), dtype=bool)
    strong = list_strong(scope.grid)
    if len(strong) < 2:
        return mask
    cells = _frame_cells(scope.grid)
    rows = (
        scope.run.verdicts.lazy()
        .filter(
            "counts",
            pl.col("rules") == scope.rules,
            pl.col("model").is_in(strong),
            pl.col("extracted").is_not_null(),
        )
        .join(cells.lazy(), on=["model", "setting"])
        .group_by("id", "model", "extracted")
        .agg(votes=pl.len(), best=pl.col("verdict").max())
        .sort("votes", "extracted", descending=[True, False])
        .group_by("id", "model", maintain_order=True)
        .first()
        .group_by("id")
        .agg("extracted", best=pl.col("best").max(), models=pl.len())
        .filter(pl.col("models") == len(strong), pl.col("best") < RIGHT)
        .collect()
    )
    for name, extracted in rows.select("id", "extracted").iter_rows():
        answer = scope.items.answers.get(name)
        if answer is None:
            continue
        kind, choices = answer.answer_type, answer.choices
        forms = {normalise_answer(text, kind, choices) for text in extracted}
        mask[scope.items.places[name]] = len(forms) == 1
    return mask


def find_few_images(scope: Scope) -> NDArray[np.bool_]:
    """The item has few images."""
    return np.array([count <= FEW_IMAGES for count in _count_images(scope)], dtype=bool)


def find_many_images(scope: Scope) -> NDArray[np.bool_]:
    """The item has many images."""
    return np.array([count >= MANY_IMAGES for count in _count_images(scope)], dtype=bool)


def list_strong(grid: Grid) -> list[str]:
    """Return the models with the highest mean over items and their cells, the best first."""
    means: dict[str, float] = {}
    for model in dict.fromkeys(cell.model for cell in grid.cells):
        columns = [i for i, cell in enumerate(grid.cells) if cell.model == model]
        values = grid.values[:, columns]
        if not np.isnan(values).all():
            means[model] = float(np.nanmean(values))
    return sorted(means, key=lambda model: -means[model])[:STRONG]


READY_FILTERS: Final = {
    ready.name: ready
    for ready in (
        ReadyFilter("judge-differs", "Rules and judge differ", differ_from_judge),
        ReadyFilter("all-wrong", "All models wrong", find_all_wrong),
        ReadyFilter("all-right", "All models right", find_all_right),
        ReadyFilter("only", "Only one model right", find_only_one_right),
        ReadyFilter("refused", "Refused", find_refused),
        ReadyFilter("truncated", "Truncated", find_truncated),
        ReadyFilter("unanswered", "No answer", find_unanswered),
        ReadyFilter("changed", "Changed since the other run", find_changed),
        ReadyFilter("few-images", f"Up to {FEW_IMAGES} images", find_few_images),
        ReadyFilter("many-images", f"{MANY_IMAGES} images or more", find_many_images),
        ReadyFilter(
            "suspicious-gold", "Strong models agree on another answer", find_suspicious_gold
        ),
    )
}
"""Filters by name, in menu order."""


def _count_images(scope: Scope) -> list[int]:
    return [scope.items.answers[name].n_images for name in scope.items.ids]


def _right(grid: Grid) -> NDArray[np.bool_]:
    right: NDArray[np.bool_] = np.nan_to_num(grid.values) >= RIGHT
    return right


def _answered(grid: Grid) -> NDArray[np.bool_]:
    return _any_column(~np.isnan(grid.values))


def _any_column(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    rows: NDArray[np.bool_] = np.asarray(mask.any(axis=1), dtype=bool)
    return rows


def _differ(first: Grid, second: Grid) -> NDArray[np.bool_]:
    both = ~np.isnan(first.values) & ~np.isnan(second.values)
    return _any_column(both & np.not_equal(_right(first), _right(second)))


def _with_outcome(scope: Scope, outcome: str) -> NDArray[np.bool_]:
    responses = scope.run.responses.filter(pl.col("outcome") == outcome)
    matching = responses.join(_frame_cells(scope.grid), on=["model", "setting"])
    names = set(matching["id"].to_list())
    return np.array([name in names for name in scope.items.ids], dtype=bool)


def _frame_cells(grid: Grid) -> pl.DataFrame:
    columns = {"model": [c.model for c in grid.cells], "setting": [c.setting for c in grid.cells]}
    return pl.DataFrame(columns, schema={"model": pl.String, "setting": pl.String})
