"""Accuracy of each method of selection among several samples, by number of samples."""

from __future__ import annotations

import json
from typing import Final

import polars as pl

from omibench.params.setting import Setting
from omibench.results.grouped import average_samples, estimate_groups
from omibench.results.study_files import StudyFiles
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL, name_metric
from omibench.stages.analyze.results.result import result
from omibench.stages.analyze.results.slices import slice_items

NO_METHODS: Final = ("first", "consistency")
"""The metrics of the stage `aggregate` that select nothing; of the others, `pass` is the upper
bound."""
SINGLE = "single"
"""The number of samples of a setting with one sample per problem."""
_KEYS = [*CELL, "method", "k"]
_PLACE = ["slice", "value", *_KEYS]


@result(
    "methods",
    "Selection among N samples: majority, best of N, tournament, and Pass@N",
    source="EMMA, section 4.3 and tables 3 and 7",
)
def tabulate_methods(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the accuracy of each selection method, overall and by slice.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell with several samples, scorer, `method` and number of samples `k` (majority,
        best-of-n, tournament, the rule of a plug-in; `pass`: the probability that at least one is
        right, metric `pass@k`), with `judge`, the reward model that selected, and `marking`. Cells
        with one sample per problem and the same presentation have a row with the method `single`
        and k = 1. Settings that select among the same samples share their rows of `pass`, under the
        setting with the most samples. None if no cell was aggregated.
    """
    chosen = _read_choices(analysis)
    if chosen is None:
        return None
    values = pl.concat([_read_singles(analysis), chosen], how="diagonal_relaxed")
    labels = analysis.add_clusters(slice_items(analysis))
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
    is_best = pl.when(method="best-of-n")
    return (
        analysis.mark_simulated(table)
        .with_columns(
            pl.col("simulated") | pl.col("by_stand_in"),
            metric=pl.when(method="pass").then(pl.lit("pass@k")).otherwise(name_metric("accuracy")),
            marking=is_best.then(
                pl.col("setting").replace_strict(marking, default="", return_dtype=pl.String)
            ).otherwise(pl.lit("")),
        )
        .drop("by_stand_in")
    )


def describe_presentation(setting: Setting) -> str:
    """Describe how a setting presents a problem, regardless of sampling and selection.

    Args:
        setting: Any setting.

    Returns:
        JSON text that is equal for settings with the same conversation. It does not depend on their
        problems.
    """
    drawn = {"decoding", "aggregate", "label", "where"}
    return json.dumps(setting.model_dump(mode="json", exclude=drawn), sort_keys=True)


def _read_choices(analysis: Analysis) -> pl.DataFrame | None:
    """Return a row per problem, scorer, method and k of every aggregated cell, with its
    `verdict`."""
    study, frames = analysis.results.study, []
    ranked = sorted(
        study.aggregated_cells, key=lambda cell: -study.settings[cell.setting].decoding.samples
    )
    for cell in ranked:
        setting = study.settings[cell.setting]
        rows = StudyFiles(analysis.folder).read_shares(cell)
        if rows is None:
            continue
        decoding = setting.decoding.model_dump(mode="json", exclude={"samples"})
        drawn = f"{describe_presentation(setting)}{json.dumps(decoding, sort_keys=True)}"
        frames.append(
            rows.filter(~pl.col("metric").is_in(NO_METHODS)).select(
                *CELL,
                "k",
                "id",
                "judge",
                method="metric",
                verdict="value",
                by_stand_in="simulated",
                drawn=pl.lit(f"{drawn}{json.dumps(setting.where, sort_keys=True)}"),
            )
        )
    if not frames:
        return None
    # Settings with the same samples have the same probability; the largest sample estimates it
    # best.
    rows = pl.concat(frames)
    is_pass = pl.col("method") == "pass"
    first = pl.col("setting").first()
    kept = rows.filter(~is_pass | (pl.col("setting") == first.over("model", "drawn", "rules", "k")))
    leader = first.over("model", "drawn", "rules")
    return kept.with_columns(setting=pl.when(is_pass).then(leader).otherwise("setting")).drop(
        "drawn"
    )


def _read_singles(analysis: Analysis) -> pl.DataFrame:
    """Return the verdicts of single-sample cells with the presentation of multi-sample cells."""
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
    return average_samples(verdicts, CELL).select(
        *CELL,
        "id",
        "verdict",
        method=pl.lit(SINGLE),
        k=pl.lit(1, pl.Int64),
        judge=pl.lit(None, pl.String),
        by_stand_in=pl.lit(value=False),
    )
