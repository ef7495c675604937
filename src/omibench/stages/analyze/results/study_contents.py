"""The models of the study with their sizes, and its settings with their conditions."""

from __future__ import annotations

from itertools import product

import polars as pl

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import result


@result("models", "Models and their sizes", source="OMIBench, H.2; EMMA, table 6")
def tabulate_models(analysis: Analysis) -> pl.DataFrame:
    """Tabulate the attributes of the study's models by which results can be sliced.

    Args:
        analysis: The study's results.

    Returns:
        One row per model: `estimate` is its number of parameters in 10^9 (metric `parameters_b`),
        null if unknown; `label, group, provider, family, variant, base, weights` and
        `active_parameters_b` are columns.
    """
    return _mark_any(analysis, analysis.attributes.models, "model").with_columns(
        metric=pl.lit("parameters_b"), estimate="parameters_b"
    )


def _mark_any(analysis: Analysis, rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Add whether any number of a model, a setting or a cell depends on simulation."""
    marks = analysis.simulated_cells.group_by(by).agg(pl.col("simulated").any())
    return rows.join(marks, on=by, how="left", maintain_order="left")


@result("settings", "Settings, their inputs and samples")
def tabulate_settings(analysis: Analysis) -> pl.DataFrame:
    """Tabulate the attributes of the study's settings by which results can be sliced.

    Args:
        analysis: The study's results.

    Returns:
        One row per setting, with its `label`: `estimate` is its number of samples (metric
        `samples`); `prompt, images, without, perception, tools, aggregate, shots, budget` and
        `temperature` are columns, and `full` is whether it shows all of every item
        (`analyze.full_settings`). As for models, `simulated` is whether any of its numbers depends
        on simulation.
    """
    return _mark_any(analysis, analysis.attributes.settings, "setting").with_columns(
        metric=pl.lit("samples"),
        estimate=pl.col("samples").cast(pl.Float64),
        full=pl.col("setting").is_in(analysis.results.full_settings),
        label=pl.col("setting").replace(analysis.labels[1]),
    )


@result("printed-places", "Cells behind each table and figure of the paper")
def tabulate_places(analysis: Analysis) -> pl.DataFrame | None:
    """List the cells of `infer.printed` by table and figure.

    Args:
        analysis: The study's results.

    Returns:
        One row per table or figure of the paper (`value`, such as `table 2`) and available cell,
        without an estimate, in the order of the list. None if `infer.printed` is empty.
    """
    present = {(cell.model, cell.setting) for cell in analysis.results.study.cells}
    rows = [
        (*cell, place)
        for place, crossings in analysis.study.infer.printed.items()
        for crossing in crossings
        for cell in product(crossing.models, crossing.settings)
        if cell in present
    ]
    if not rows:
        return None
    frame = pl.DataFrame(rows, schema=["model", "setting", "value"], orient="row")
    places = frame.with_columns(slice=pl.lit("printed place"), metric=pl.lit("cell"))
    return _mark_any(analysis, places, "model", "setting")
