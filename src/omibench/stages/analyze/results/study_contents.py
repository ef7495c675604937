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
    marks = analysis.simulated_cells.group_by("model").agg(pl.col("simulated").any())
    return analysis.attributes.models.join(
        marks, on="model", how="left", maintain_order="left"
    ).with_columns(pl.lit("parameters_b").alias("metric"), pl.col("parameters_b").alias("estimate"))


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
    full = analysis.results.full_settings
    marks = analysis.simulated_cells.group_by("setting").agg(pl.col("simulated").any())
    return analysis.attributes.settings.join(
        marks, on="setting", how="left", maintain_order="left"
    ).with_columns(
        pl.lit("samples").alias("metric"),
        pl.col("samples").cast(pl.Float64).alias("estimate"),
        full=pl.col("setting").is_in(full),
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
    marks = analysis.simulated_cells.group_by("model", "setting").agg(pl.col("simulated").any())
    frame = pl.DataFrame(rows, schema=["model", "setting", "value"], orient="row")
    return frame.with_columns(
        pl.lit("printed place").alias("slice"), pl.lit("cell").alias("metric")
    ).join(marks, on=["model", "setting"], how="left", maintain_order="left")
