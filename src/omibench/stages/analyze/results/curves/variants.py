"""Thinking models compared with instruct models of the same family and size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from omibench.results.slices import label_items
from omibench.stages.analyze.results.comparisons.baselines import (
    mark_both_simulated,
    pair_with_baselines,
)
from omibench.stages.analyze.results.comparisons.differences import compare_slices, keep_scorers
from omibench.stages.analyze.results.result import result

if TYPE_CHECKING:
    import polars as pl

    from omibench.params.models.registry import Model
    from omibench.stages.analyze.analysis import Analysis

THINKING, INSTRUCT = "thinking", "instruct"


def pair_variants(models: Mapping[str, Model]) -> Iterator[tuple[str, str]]:
    """Pair the thinking model with the instruct model of the same family and size.

    Args:
        models: Models by name; their blocks give `family`, `variant` and parameters.

    Yields:
        The names of a thinking model and of its instruct model, in the order of `models`. Of
        several instruct models of one size the first is the baseline.
    """
    instruct: dict[tuple[object, ...], str] = {}
    for name, model in models.items():
        if model.family and model.variant == INSTRUCT:
            instruct.setdefault(_describe_size(model), name)
    for name, model in models.items():
        if model.family and model.variant == THINKING and _describe_size(model) in instruct:
            yield name, instruct[_describe_size(model)]


@result(
    "thinking-gains",
    "Thinking models compared with instruct models of the same family and size",
    source="OMIBench, G.3, table 4 and figure 4c",
)
def tabulate_variants(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the gain from thinking, over the items that both models answered.

    Args:
        analysis: The study's results.

    Returns:
        One row per pair, setting, scorer, measure and subject, and over all: the metric
        `difference`, thinking (`model`, `score`) minus instruct (`baseline`, `baseline_score`),
        with the paired test and Holm's p over the pairs; `series` (the models' family),
        `parameters_b` and both labels. None if no family has both variants of a size.
    """
    import polars as pl

    study = analysis.results.study
    answered = {cell.model for cell in study.cells}
    models = {name: model for name, model in study.models.items() if name in answered}
    pairs = dict(pair_variants(models))
    if not pairs:
        return None
    values = pair_with_baselines(keep_scorers(analysis.item_values), "model", pairs)
    whole = analysis.items.select("id", slice=pl.lit(""), value=pl.lit(""))
    labels = pl.concat([whole, label_items(analysis.items, "subject")])
    tables = list(compare_slices(analysis, values, labels, "model"))
    if not tables:
        return None
    facts = pl.DataFrame(
        [
            (
                name,
                analysis.results.label(name),
                analysis.results.label(baseline),
                models[name].family,
                models[name].parameters_b,
            )
            for name, baseline in pairs.items()
        ],
        schema={
            **dict.fromkeys(("model", "label", "baseline_label", "series"), pl.String),
            "parameters_b": pl.Float64,
        },
        orient="row",
    )
    marked = mark_both_simulated(analysis, pl.concat(tables))
    return marked.join(facts, on="model", how="left", maintain_order="left")


def _describe_size(model: Model) -> tuple[object, ...]:
    return model.family, model.parameters_b, model.active_parameters_b or model.parameters_b
