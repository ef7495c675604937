"""What several samples are worth under each way of choosing among them, by how many there are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from omibench.results.counted_samples import read_aggregates
from omibench.results.grouped import average_samples, estimate_groups
from omibench.results.load import JUDGE_RULES
from omibench.stages.analyze.results.item_slices import slice_items
from omibench.stages.analyze.results.result import result

if TYPE_CHECKING:
    import polars as pl

    from omibench.params.setting import Setting
    from omibench.stages.analyze.analysis import Analysis

METHODS: Final = ("majority", "best-of-n", "tournament", "pass")
"""Metrics of the stage `aggregate` that are ways of choosing; `pass` is what none can exceed."""
SINGLE = "single"
"""The one sample of a setting that draws no more: N = 1."""
_CELL = ["model", "setting", "rules"]
_KEYS = [*_CELL, "method", "k"]
_PLACE = ["slice", "value", *_KEYS]


@result(
    "methods",
    "Ways of choosing among N samples: majority, best of N, tournament, and Pass@N",
    source="EMMA, section 4.3 and tables 3 and 7",
)
def tabulate_methods(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the accuracy of each way of choosing among samples, in all and by slice.

    Args:
        analysis: The study's results.

    Returns:
        A row per cell with several samples, rule book, `method` and number of samples `k`
        (majority, best-of-n, tournament; `pass`: the chance that one of them is right, metric
        `pass@k`), with `judge`, the reward model that chose, and `marking`; and a row with the
        method `single` and k = 1 of each cell that shows the problems in the same way and draws
        one sample. Settings that choose among the same samples have one row of `pass` for each k
        of theirs, all under the setting that draws most of them. None where no cell was aggregated.
    """
    import polars as pl

    chosen = _read_choices(analysis)
    if chosen is None:
        return None
    values = pl.concat([_read_singles(analysis), chosen], how="diagonal_relaxed")
    clusters = analysis.items.select("id", "cluster")
    labels = slice_items(analysis).join(clusters, on="id", maintain_order="left")
    estimates = estimate_groups(
        labels.join(values, on="id", maintain_order="left_right"), _PLACE, analysis.confidence
    ).drop("n_eff")
    facts = values.group_by(_KEYS, maintain_order=True).agg(
        pl.col("judge").drop_nulls().first(), pl.col("by_stand_in").any()
    )
    table = estimates.join(facts, on=_KEYS, how="left", maintain_order="left")
    settings = analysis.results.study.settings
    marking = {
        name: setting.aggregate.marking
        for name, setting in settings.items()
        if setting.aggregate.how == "best-of-n"
    }
    accuracy = (
        pl.when(pl.col("rules") == JUDGE_RULES)
        .then(pl.lit("gptscore"))
        .otherwise(pl.lit("accuracy"))
    )
    return (
        analysis.mark_simulated(table)
        .with_columns(
            pl.col("simulated") | pl.col("by_stand_in"),
            metric=pl.when(pl.col("method") == "pass").then(pl.lit("pass@k")).otherwise(accuracy),
            marking=pl.when(pl.col("method") == "best-of-n")
            .then(pl.col("setting").replace_strict(marking, default="", return_dtype=pl.String))
            .otherwise(pl.lit("")),
        )
        .drop("by_stand_in")
    )


def describe_presentation(setting: Setting) -> str:
    """Describe how a setting shows a problem, whatever is drawn and chosen.

    Args:
        setting: Any setting.

    Returns:
        JSON text that settings share which ask the same question of the same conversation; which
        problems they ask is no part of it.
    """
    drawn = {"decoding", "aggregate", "label", "where"}
    return json.dumps(setting.model_dump(mode="json", exclude=drawn), sort_keys=True)


def _read_choices(analysis: Analysis) -> pl.DataFrame | None:
    """A row per problem, rule book, method and k of every aggregated cell, with its `verdict`."""
    import polars as pl

    study, frames = analysis.results.study, []
    ranked = sorted(
        study.aggregated_cells, key=lambda cell: -study.settings[cell.setting].decoding.samples
    )
    for cell in ranked:
        setting = study.settings[cell.setting]
        rows = read_aggregates(cell, analysis.folder / "aggregate")
        if rows is None:
            continue
        decoding = setting.decoding.model_dump(mode="json", exclude={"samples"})
        drawn = f"{describe_presentation(setting)}{json.dumps(decoding, sort_keys=True)}"
        frames.append(
            rows.filter(pl.col("metric").is_in(METHODS)).select(
                pl.lit(cell.model).alias("model"),
                pl.lit(cell.setting).alias("setting"),
                "rules",
                pl.col("metric").alias("method"),
                "k",
                "id",
                pl.col("value").alias("verdict"),
                "judge",
                pl.col("simulated").alias("by_stand_in"),
                pl.lit(f"{drawn}{json.dumps(setting.where, sort_keys=True)}").alias("drawn"),
            )
        )
    if not frames:
        return None
    # Settings that draw the same samples have the same chance; the one that draws most knows best.
    rows = pl.concat(frames)
    is_pass = pl.col("method") == "pass"
    first = pl.col("setting").first()
    kept = rows.filter(~is_pass | (pl.col("setting") == first.over("model", "drawn", "rules", "k")))
    leader = first.over("model", "drawn", "rules")
    return kept.with_columns(setting=pl.when(is_pass).then(leader).otherwise("setting")).drop(
        "drawn"
    )


def _read_singles(analysis: Analysis) -> pl.DataFrame:
    """The verdicts of cells that draw one sample in the way that others draw several."""
    import polars as pl

    study = analysis.results.study
    several = {
        (cell.model, describe_presentation(study.settings[cell.setting]))
        for cell in study.aggregated_cells
    }
    singles = [
        (cell.model, cell.setting)
        for cell in study.cells
        if study.settings[cell.setting].decoding.samples == 1
        and (cell.model, describe_presentation(study.settings[cell.setting])) in several
    ]
    cells = pl.DataFrame(singles, schema={"model": pl.String, "setting": pl.String}, orient="row")
    verdicts = analysis.results.counting_verdicts.join(
        cells, on=["model", "setting"], how="semi", maintain_order="left"
    ).filter(~pl.col("rules").str.contains("/", literal=True))
    return average_samples(verdicts, _CELL).select(
        *_CELL,
        "id",
        "verdict",
        method=pl.lit(SINGLE),
        k=pl.lit(1, pl.Int64),
        judge=pl.lit(None, pl.String),
        by_stand_in=pl.lit(value=False),
    )
