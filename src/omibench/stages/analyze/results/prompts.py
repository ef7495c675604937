"""Accuracy over settings that differ only in the wording of their instruction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from omibench.results.slices import name_metric
from omibench.results.statistics.prompts import FEWEST_PROMPTS, estimate_prompt_spread
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import result, write_estimate

if TYPE_CHECKING:  # results do not depend on the other blocks of a study
    from omibench.params.study import Study

_WORDING = {"prompt", "prompts", "label"}
"""Fields of a setting that determine its wording alone."""


@result("prompts", "Accuracy over several prompts, and the interval of another one")
def tabulate_prompts(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate each model's accuracy over prompts as a random factor.

    Settings belong together if they differ only in `prompt`, `prompts` and `label`. Items count
    that have a verdict under all prompts of a model.

    Args:
        analysis: The study's results.

    Returns:
        One row per model, scorer and settings that belong together (`value`, joined by commas):
        `estimate`, `low` and `high` of the mean over prompts, `sd` between prompts, `new_low` and
        `new_high` of the accuracy under one more prompt (`estimate_prompt_spread`), `lowest` and
        `highest` accuracy of the `prompts` that were asked. None without three such settings.
    """
    rows = [
        row
        for settings in group_settings(analysis.study)
        for part in analysis.item_values.filter(pl.col("setting").is_in(settings)).partition_by(
            "model", "rules", maintain_order=True
        )
        for row in _describe(analysis, part, settings)
    ]
    return pl.DataFrame(rows).with_columns(metric=name_metric("accuracy")) if rows else None


def group_settings(study: Study) -> list[list[str]]:
    """Return the names of settings that differ only in wording, three or more together."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, setting in study.settings.items():
        if any(cell.setting == name for cell in study.cells):
            groups[setting.model_dump_json(exclude=_WORDING)].append(name)
    return [names for names in groups.values() if len(names) >= FEWEST_PROMPTS]


def _describe(
    analysis: Analysis, part: pl.DataFrame, settings: list[str]
) -> Iterator[dict[str, Any]]:
    """Describe one model and scorer, if it has enough of the settings."""
    wide = part.pivot("setting", index=["id", "cluster"], values="verdict").drop_nulls()
    asked = [name for name in settings if name in wide.columns]
    if len(asked) < FEWEST_PROMPTS or wide.is_empty():
        return
    values = wide.select(asked).to_numpy().T
    spread = estimate_prompt_spread(values, wide["cluster"].to_list(), analysis.confidence)
    accuracies = values.mean(axis=1)
    (mark,) = analysis.mark_simulated(part).select(pl.col("simulated").any()).row(0)
    yield {
        **part.select("model", "rules").row(0, named=True),
        "slice": "settings", "value": ", ".join(asked),
        **write_estimate(spread), "sd": spread.sd,
        "new_low": spread.new_lo, "new_high": spread.new_hi,
        "lowest": float(accuracies.min()), "highest": float(accuracies.max()),
        "prompts": len(asked), "n": wide.height, "clusters": wide["cluster"].n_unique(),
        "simulated": mark,
    }  # fmt: skip
