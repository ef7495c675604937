"""Accuracy by the year of the exam, with the number of questions of each year."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.results.grouped import estimate_groups
from omibench.stages.analyze.results.accuracy import CELL, name_metric
from omibench.stages.analyze.results.curves.points import frame_cells
from omibench.stages.analyze.results.curves.shots import EXAM
from omibench.stages.analyze.results.result import result
from omibench.stages.analyze.results.tidy import JOINT

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

YEAR = "year"
QUESTIONS = "questions"
"""The metric of rows with the number of questions of a year."""


@result(
    "accuracy-by-year",
    "Accuracy and number of questions by year of the exam",
    source='USNCO-V, "Surpassing Human Average: Model Accuracy by Year" and figure 5',
)
def tabulate_years(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate accuracies by the attribute `year` of items, and by `exam` if known.

    With several runs, counts of right answers are averages and not whole numbers, as in the paper.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, scorer and year, and one per year whose `metric` is `questions` and whose
        `estimate` is their number in the dataset; `year` is the year as a number, `exam` the exam
        (empty if items have none). None if items have no year or all the same.
    """
    import polars as pl

    items = _date_items(analysis.items)
    if items is None:
        return None
    by = ["exam", "year"]
    values = analysis.item_values.join(
        items.select("id", *by), on="id", how="inner", maintain_order="left"
    )
    estimates = estimate_groups(values, [*CELL, *by], analysis.confidence).drop("n_eff")
    marked = analysis.mark_simulated(estimates.with_columns(metric=name_metric("accuracy")))
    labels = frame_cells(analysis).select("model", "setting", "label", "setting_label")
    accuracies = marked.join(labels, on=["model", "setting"], how="left", maintain_order="left")
    questions = items.group_by(by, maintain_order=True).agg(
        pl.len().cast(pl.Float64).alias("estimate"),
        pl.len().cast(pl.Int64).alias("n"),
        pl.col("cluster").n_unique().cast(pl.Int64).alias("clusters"),
    )
    counts = questions.with_columns(
        metric=pl.lit(QUESTIONS), simulated=pl.lit(analysis.results.has_synthetic_problems)
    )
    has_exams = items["exam"].n_unique() > 1
    year = pl.col("year").cast(pl.String)
    joint = pl.concat_str("exam", pl.lit(JOINT), year)
    table = pl.concat([accuracies, counts], how="diagonal").with_columns(
        slice=pl.lit(EXAM + JOINT + YEAR if has_exams else YEAR), value=joint if has_exams else year
    )
    return table.sort("model", "setting", "rules", "exam", "year", nulls_last=True)


def _date_items(items: pl.DataFrame) -> pl.DataFrame | None:
    """Return the items that have a year, with `year` as a number and `exam`; None if fewer than two
    years."""
    import polars as pl

    if YEAR not in items.columns or items[YEAR].dtype != pl.String:
        return None
    has_exam = EXAM in items.columns and items[EXAM].dtype == pl.String
    exam = pl.col(EXAM).fill_null("") if has_exam else pl.lit("")
    dated = items.select(
        "id", "cluster", exam.alias("exam"), pl.col(YEAR).cast(pl.Int64, strict=False).alias("year")
    ).drop_nulls("year")
    return dated.sort("exam", "year") if dated["year"].n_unique() > 1 else None
