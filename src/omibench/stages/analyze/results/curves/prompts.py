"""Comparison of prompts: settings that differ in their wording alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.stages.analyze.results.comparisons.baselines import (
    mark_both_simulated,
    pair_with_baselines,
)
from omibench.stages.analyze.results.comparisons.differences import compare_slices, keep_scorers
from omibench.stages.analyze.results.curves.points import frame_cells
from omibench.stages.analyze.results.curves.series import list_prompts
from omibench.stages.analyze.results.result import result

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis


@result(
    "prompt-differences",
    "Prompts compared with the reference prompt, all else being equal",
    source="OMIBench, G.1, G.2 and figure 4a, b; USNCO-V, figure 3",
)
def tabulate_prompts(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the effect of changing the prompt, over the items of both settings.

    The baseline is `analyze.reference_setting` if it is among the compared settings, otherwise the
    first of them in `infer.settings`.

    Args:
        analysis: The study's results.

    Returns:
        One row per model, setting, scorer and measure: the metric `difference`, its accuracy
        (`score`) minus that under `baseline` (`baseline_score`), with the paired test and Holm's p
        over models and prompts; `prompt` and `baseline_prompt` are the names of the prompts. None
        if no two settings differ in their prompt alone.
    """
    import polars as pl

    study = analysis.results.study
    answered = {cell.setting for cell in study.cells}
    settings = {name: study.settings[name] for name in study.infer.settings if name in answered}
    baselines, rows = {}, []
    for prompts in list_prompts(settings):
        names = {setting: prompt for prompt, setting in prompts.items()}
        preferred = [name for name in study.analyze.reference_setting if name in names]
        reference = next(iter([*preferred, *names]))
        for name, prompt in names.items():
            if name != reference:
                baselines[name] = reference
                rows.append((name, prompt, names[reference]))
    values = pair_with_baselines(keep_scorers(analysis.item_values), "setting", baselines)
    whole = analysis.items.select("id", slice=pl.lit(""), value=pl.lit(""))
    tables = list(compare_slices(analysis, values, whole, "setting"))
    if not tables:
        return None
    facts = pl.DataFrame(
        rows,
        schema=dict.fromkeys(("setting", "prompt", "baseline_prompt"), pl.String),
        orient="row",
    )
    labels = frame_cells(analysis).select("model", "setting", "label", "setting_label")
    marked = mark_both_simulated(analysis, pl.concat(tables))
    return marked.join(facts, on="setting", how="left", maintain_order="left").join(
        labels, on=["model", "setting"], how="left", maintain_order="left"
    )
