"""Accuracy on problems that a model may have seen, and on others.

Either exams from before and after the end of its training data, or public and fresh problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import polars as pl

from omibench.results.grouped import adjust_families
from omibench.results.statistics.fixed_effects import Effect, fit_effect
from omibench.schemas.problem import FRESH, TEMPLATE
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL, MIN_PROBLEMS, pool_items, select_pooled
from omibench.stages.analyze.results.baselines import DIFFERENCE
from omibench.stages.analyze.results.curve_series import label_cells
from omibench.stages.analyze.results.problem_curves import date_items
from omibench.stages.analyze.results.result import result, write_estimate

OVER_MODELS: Final = "difference in differences"
_NUMBERS: Final = (
    "estimate", "low", "high", "p", "before", "after", "raw", "raw_low", "raw_high",
)  # fmt: skip


@result("cutoffs", "Accuracy on exams from before and after the cut-off of each model")
def tabulate_cutoffs(analysis: Analysis) -> pl.DataFrame | None:
    """Compare exams of years before and after the `cutoff` of a model's block.

    Exams of the year of the cut-off are left out: they can be on either side. A side of fewer than
    10 problems is not compared.

    Args:
        analysis: The study's results.

    Returns:
        For each cell of a model with a cut-off and each scorer, over the full settings, a row with
        the metric `difference`: accuracy `before` the year of the `cutoff` minus that `after`,
        within subjects (`statistics.fixed_effects.fit_effect`), with `p`, and `p_holm` and
        `significant` over the models of a setting; `raw` with `raw_low` and `raw_high` is the
        difference without subjects. `n_before`, `n_after`, `same_year` and `undated` count
        problems. For each scorer, a row with the metric `difference in differences`: how much
        higher a model scores on exams from before its cut-off than other models on the same
        problems, with a constant for each problem and each of `models`; `shared` counts problems
        from before the cut-off of one model and after that of another. It is absent for fewer than
        10 of them, or if no model has 10 problems on each side. None without cut-offs, or if items
        have no year or all the same.
    """
    blocks = analysis.results.study.models
    cutoffs = {name: block.cutoff for name, block in blocks.items() if block.cutoff}
    dated = date_items(analysis.items)
    if not cutoffs or dated is None:
        return None
    models = pl.DataFrame({"model": [*cutoffs], "cutoff": [*cutoffs.values()]})

    def place(values: pl.DataFrame) -> pl.DataFrame:
        """Add `is_before`, null for the year of the cut-off and for items without a year."""
        last = pl.col("cutoff").str.head(4).cast(pl.Int64)
        return (
            values.join(models, on="model", maintain_order="left")
            .join(dated.drop("cluster"), on="id", how="left", maintain_order="left")
            .rename({"subject": "group"})
            .with_columns(is_before=pl.when(pl.col("year") != last).then(pl.col("year") < last))
        )

    sides = _compare_cells(analysis, place(select_pooled(analysis)), _count_undated)
    if sides is None:
        return None
    pooled = place(pool_items(analysis, ["model", "rules"]))
    over_models = pl.DataFrame([*_compare_models(analysis, pooled)])
    return pl.concat([sides, over_models], how="diagonal_relaxed")


@result("fresh", "Accuracy on public and fresh problems")
def tabulate_fresh(analysis: Analysis) -> pl.DataFrame | None:
    """Compare the problems with the attribute `fresh: yes` with all others.

    A side of fewer than 10 problems is not compared.

    Args:
        analysis: The study's results.

    Returns:
        For each cell and scorer, over the full settings, a row as those of `cutoffs`: `before` are
        the public problems, `after` the fresh ones. The difference is within templates where the
        problems have the attribute `template`, otherwise within subjects. None if no problem is
        fresh, or all are.
    """
    items = analysis.items
    if FRESH not in items.columns or items[FRESH].dtype != pl.String:
        return None
    has_templates = TEMPLATE in items.columns and items[TEMPLATE].dtype == pl.String
    group = pl.coalesce(TEMPLATE, "subject") if has_templates else pl.col("subject")
    is_public = (pl.col(FRESH) != "yes").fill_null(value=True)
    sides = items.select("id", group=group, is_before=is_public)
    if sides["is_before"].n_unique() < 2:
        return None
    cells = select_pooled(analysis).join(sides, on="id", maintain_order="left")
    return _compare_cells(analysis, cells)


def _compare_cells(
    analysis: Analysis,
    cells: pl.DataFrame,
    count: Callable[[pl.DataFrame], dict[str, Any]] = lambda part: {},
) -> pl.DataFrame | None:
    """Compare the sides of each cell, with Holm's test over the models of a setting, and labels.

    Args:
        analysis: The study's results.
        cells: Values of items with their `group` and `is_before`.
        count: Returns further columns of a cell.
    """
    rows = [
        dict(zip(CELL, keys, strict=True)) | _compare_sides(part, analysis.confidence) | count(part)
        for keys, part in cells.group_by(CELL, maintain_order=True)
    ]
    if not rows:
        return None
    types = dict.fromkeys(_NUMBERS, pl.Float64)
    table = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)
    numbers = pl.col(_NUMBERS).fill_nan(None)
    tested = adjust_families(table.with_columns(numbers), "p", ["setting", "rules"])
    marked = tested.with_columns(significant=pl.col("p_holm") < 1 - analysis.confidence)
    return label_cells(analysis, analysis.mark_simulated(marked))


def _count_undated(part: pl.DataFrame) -> dict[str, Any]:
    undated = part["year"].null_count()
    same_year = part["is_before"].null_count() - undated
    return {"cutoff": part["cutoff"][0], "same_year": same_year, "undated": undated}


def _compare_sides(part: pl.DataFrame, confidence: float) -> dict[str, Any]:
    """Return the numbers of one cell."""
    known = part.drop_nulls("is_before")
    before, after = known.filter("is_before"), known.filter(~pl.col("is_before"))
    facts: dict[str, Any] = dict.fromkeys(_NUMBERS) | {
        "metric": DIFFERENCE, "n": known.height, "clusters": known["cluster"].n_unique(),
        "n_before": before.height, "n_after": after.height,
    }  # fmt: skip
    if min(before.height, after.height) < MIN_PROBLEMS:
        return facts
    raw, adjusted = (
        _fit(known, parts, confidence) for parts in ([0] * known.height, known["group"])
    )
    return facts | {
        **write_estimate(adjusted), "p": adjusted.p,
        "before": before["verdict"].mean(), "after": after["verdict"].mean(), "raw": raw.value,
        "raw_low": raw.low, "raw_high": raw.high,
    }  # fmt: skip


def _compare_models(analysis: Analysis, values: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Return the difference in differences by each scorer, where it can be estimated."""
    for (rules,), part in values.drop_nulls("is_before").group_by("rules", maintain_order=True):
        both = pl.col("is_before").n_unique() == 2
        shared = int(part.group_by("id").agg(both)["is_before"].sum())
        sides = part.group_by("model", "is_before").len().filter(pl.col("len") >= MIN_PROBLEMS)
        if shared < MIN_PROBLEMS or not sides["model"].is_duplicated().any():
            continue
        found = _fit(part, part["id"], analysis.confidence, part["model"])
        yield {
            "rules": rules, "metric": OVER_MODELS, **write_estimate(found), "p": found.p,
            "n": part["id"].n_unique(),
            "clusters": part["cluster"].n_unique(), "models": part["model"].n_unique(),
            "shared": shared, "simulated": analysis.results.rests_on_simulation(rules),
        }  # fmt: skip


def _fit(rows: pl.DataFrame, groups: Any, confidence: float, others: Any = ()) -> Effect:
    verdicts, before = (rows[name].to_numpy() for name in ("verdict", "is_before"))
    clusters = rows["cluster"].to_list()
    return fit_effect(verdicts, before, list(groups), clusters, confidence, others=list(others))
