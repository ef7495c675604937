"""Estimated scores of exam participants from cut-offs, compared with models on the same exams."""

from __future__ import annotations

import logging
from typing import Any

import polars as pl

from omibench.results.attributes import list_values
from omibench.results.grouped import estimate_groups
from omibench.results.load import JUDGE_RULES
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.people import estimate_score
from omibench.stages.analyze.results.accuracy import CELL
from omibench.stages.analyze.results.result import ESTIMATE, JOINT, result, write_estimate
from omibench.stages.analyze.user_files import CUTOFFS_KEY as KEY
from omibench.stages.analyze.user_files import read_cutoffs, read_or_warn

ESTIMATED, MODEL = "estimated people", "model"
_EXAM, _YEAR = "exam", "year"
_LOG = logging.getLogger("omibench")


@result(
    "people-estimates",
    "Scores of participants, estimated from cut-offs of exams",
    source="USNCO-V, figure 5",
)
def tabulate_estimates(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate estimated scores of participants and scores of models by exam and year.

    Answers of participants are not available: `analyze.people_cutoffs` gives the share of
    participants below a score, for the whole exam, including questions that are not in the dataset.

    Args:
        analysis: The study's results.

    Returns:
        Rows of `kind` `estimated people` (metric `accuracy`, with the number of `cutoffs` and the
        `method`; `n` is null), and rows of `kind` `model`: the accuracy of each cell on the items
        of that exam and year, and its `difference` from the estimate, which ignores the uncertainty
        of the estimate. None if the study has no cut-offs.

    Raises:
        MissingInputError: The file is missing.
        MissingExtraError: scipy is needed and not installed.
    """
    path = analysis.study.analyze.people_cutoffs
    if path is None:
        return None
    cutoffs = read_or_warn(lambda: read_cutoffs(path)) or {}
    rows: list[dict[str, Any]] = []
    for (exam, year), part in sorted(cutoffs.items()):
        estimate = estimate_score(part, analysis.confidence)
        if estimate is None:
            _LOG.warning(
                "%s: one cut-off of %s %d does not determine the mean; give two, or the one at 50 "
                "%%",
                KEY, exam, year,
            )  # fmt: skip
            continue
        rows.append(
            {
                _EXAM: exam,
                _YEAR: year,
                "kind": ESTIMATED,
                "metric": "accuracy",
                **write_estimate(estimate[:3]),
                "cutoffs": len(part),
                "method": estimate.method,
                "simulated": any(row.simulated for row in part),
            }
        )
    if not rows:
        return None
    people = pl.DataFrame(rows, schema_overrides={"low": pl.Float64, "high": pl.Float64})
    parts = [people, *_compare_models(analysis, people)]
    year_text = pl.col(_YEAR).cast(pl.String)
    joint = pl.concat_str(_EXAM, pl.lit(JOINT), year_text)
    has_exam = pl.col(_EXAM) != ""
    return pl.concat(parts, how="diagonal_relaxed").with_columns(
        slice=pl.when(has_exam).then(pl.lit(_EXAM + JOINT + _YEAR)).otherwise(pl.lit(_YEAR)),
        value=pl.when(has_exam).then(joint).otherwise(year_text),
    )


def _compare_models(analysis: Analysis, people: pl.DataFrame) -> list[pl.DataFrame]:
    """Return accuracies of cells by exam and year, and their differences from the estimates."""
    if _YEAR not in analysis.attributes.of_items:
        _LOG.warning("%s: problems have no attribute 'year', so models are not compared", KEY)
        return []
    items = list_values(analysis.items, "id", _YEAR).select(
        "id", pl.col(_YEAR).cast(pl.Int64, strict=False)
    )
    keys = [_YEAR]
    if _EXAM in analysis.attributes.of_items and people[_EXAM].ne("").any():
        items = items.join(list_values(analysis.items, "id", _EXAM), on="id")
        keys = [_EXAM, _YEAR]
    reference = people.select(
        *dict.fromkeys([_EXAM, *keys]), people="estimate", people_simulated="simulated"
    )
    is_judge = pl.col("rules").str.split("/").list.first() == JUDGE_RULES
    values = analysis.item_values.filter(~is_judge).join(items, on="id")
    estimates = estimate_groups(values, [*CELL, *keys], analysis.confidence).drop("n_eff")
    rows = analysis.mark_simulated(estimates.join(reference, on=keys, maintain_order="left"))
    accuracies = rows.with_columns(metric=pl.lit("accuracy"))
    differences = rows.with_columns(
        pl.col(ESTIMATE) - pl.col("people"),
        pl.col("simulated") | pl.col("people_simulated"),
        metric=pl.lit("difference"),
    )
    return [
        part.drop("people", "people_simulated").with_columns(kind=pl.lit(MODEL))
        for part in (accuracies, differences)
    ]
