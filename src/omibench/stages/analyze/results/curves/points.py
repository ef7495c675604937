"""The points of each model's curves over settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.results.grouped import estimate_groups
from omibench.stages.analyze.results.accuracy import CELL, name_metric
from omibench.stages.analyze.results.curves.series import Locate, list_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from omibench.stages.analyze.analysis import Analysis


def frame_cells(analysis: Analysis) -> pl.DataFrame:
    """Describe the available cells of a study.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell: `model`, `setting`, `label` (the model's), `setting_label` and `simulated`
        (whether its responses or problems are simulated).
    """
    import polars as pl

    results = analysis.results
    rows = [
        (
            cell.model,
            cell.setting,
            results.label(cell.model),
            results.setting_label(cell.setting),
            results.simulated_cells[cell] or results.has_synthetic_problems,
        )
        for cell in results.study.cells
    ]
    text = dict.fromkeys(("model", "setting", "label", "setting_label"), pl.String)
    return pl.DataFrame(rows, schema={**text, "simulated": pl.Boolean}, orient="row")


def frame_points(analysis: Analysis, locate: Locate, axis: str) -> pl.DataFrame:
    """List the points of each model's curves along an axis of its settings.

    Args:
        analysis: The study's results.
        locate: Function that places a setting on the axis.
        axis: Column with the position of a point.

    Returns:
        One row per point: `model`, `setting`, `label`, `series` and `axis`, by curve, in order of
        position. A curve needs two points of a model.
    """
    import polars as pl

    study = analysis.results.study
    answered = {cell.setting for cell in study.cells}
    settings = {name: study.settings[name] for name in study.infer.settings if name in answered}
    rows = [
        (series.name, point.setting, point.place)
        for series in list_series(settings, locate)
        for point in series.points
    ]
    schema = {"series": pl.String, "setting": pl.String, axis: pl.Int64}
    points = pl.DataFrame(rows, schema=schema, orient="row")
    cells = frame_cells(analysis).select("model", "setting", "label")
    models = pl.DataFrame({"model": cells["model"].unique(maintain_order=True)})
    return (
        models.join(points, how="cross", maintain_order="left_right")
        .join(cells, on=["model", "setting"], how="inner", maintain_order="left")
        .filter(pl.len().over("model", "series") > 1)
        .select("model", "setting", "label", "series", axis)
    )


def estimate_points(
    analysis: Analysis, points: pl.DataFrame, values: pl.DataFrame, by: Sequence[str] = ()
) -> pl.DataFrame:
    """Estimate the accuracy at the points of curves.

    Args:
        analysis: The study's results.
        points: Rows with `model`, `setting` and other columns.
        values: Rows of `Analysis.item_values`, with the columns of `by`.
        by: Columns that group the items of a cell.

    Returns:
        The rows of `points`, one per scorer, with `rules`, the columns of `by`, `metric`,
        `estimate`, `low`, `high`, `n`, `clusters` and `simulated`.
    """
    cells = values.join(points.select("model", "setting"), on=["model", "setting"], how="semi")
    estimates = estimate_groups(cells, [*CELL, *by], analysis.confidence).drop("n_eff")
    marked = analysis.mark_simulated(estimates.with_columns(metric=name_metric("accuracy")))
    return points.join(marked, on=["model", "setting"], how="inner", maintain_order="left_right")
