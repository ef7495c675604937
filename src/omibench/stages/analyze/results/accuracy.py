"""The accuracy of each cell under each scorer: in total, by subject and by number of images; its
bounds and its correction for the judge's errors; and the outcomes of responses."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from omibench.papers.layouts import TOTAL
from omibench.params.setting import Cell
from omibench.results.attributes import IMAGE_COUNT, list_values
from omibench.results.grouped import average_samples, estimate_groups
from omibench.results.load import JUDGE_RULES
from omibench.results.slices import MEANS as METRICS
from omibench.results.slices import name_metric, sort_values
from omibench.schemas.verdict import FAILURES, RIGHT
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.certificates import correct_accuracy
from omibench.stages.analyze.results.result import ESTIMATE, result
from omibench.stages.analyze.results.within_subjects import (
    DIFFERENCES,
    MIN_PROBLEMS,
    add_differences,
)

__all__ = ["CELL", "METRICS", "MIN_PROBLEMS", "TOTAL", "name_metric", "tabulate_accuracy"]

CELL = ("model", "setting", "rules")
SUBJECT = "subject"
FAILURES_RIGHT, CORRECTED, CORRECTED_BY = "failures-right", "corrected", "corrected_by"
ANSWERED_RIGHT, ANSWERED_WRONG = "right", "wrong"
OUTCOMES = (ANSWERED_RIGHT, ANSWERED_WRONG, *FAILURES)


@result("accuracy", "Accuracy of every cell", source="OMIBench, section 4.1")
def tabulate_accuracy(analysis: Analysis) -> pl.DataFrame:
    """Tabulate the mean verdict over items of every cell under every scorer.

    The judge's is GPTScore (OMIBench, C.2); partial credit, eq. 6's ratio (OMIBench, C.1) and
    strict accuracy (MathReal, evaluation protocol) are included for scorers that define them.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, scorer and metric.
    """
    parts = estimate_metrics(analysis, analysis.item_values, CELL)
    return analysis.mark_simulated(pl.concat(sort_cells(analysis, part) for part in parts))


def estimate_metrics(
    analysis: Analysis, values: pl.DataFrame, by: Sequence[str]
) -> list[pl.DataFrame]:
    """Estimate each of `METRICS` in each group of `values`; a table for each."""
    return [
        estimate_groups(values, by, analysis.confidence, column).with_columns(
            metric=name_metric(metric)
        )
        for column, metric in METRICS.items()
    ]


@result("bounds", "Accuracy with responses without an answer counted as right")
def tabulate_bounds(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the accuracy of every cell with the responses without an answer counted as right.

    Counted as wrong, they give the accuracy itself.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell and scorer, overall and by subject, with the metric `failures-right`;
        `responses` counts samples, `failures` those without an answer. The estimate and `failures`
        are null if it is unknown which responses have no answer.
    """
    verdict, failed = pl.col("verdict"), pl.col("failed")
    verdicts = analysis.results.counting_verdicts.select(
        *CELL, "id", "cluster", "failed", subject=SUBJECT,
        right=pl.max_horizontal(verdict, failed.cast(pl.Float64)),
    )  # fmt: skip
    parts = []
    for slice_, value in (("", pl.lit("")), (SUBJECT, pl.col(SUBJECT))):
        rows = verdicts.with_columns(value=value)
        by = [*CELL, "value"]
        counts = rows.group_by(by, maintain_order=True).agg(
            responses=pl.len().cast(pl.Int64),
            failures=pl.when(failed.null_count() == 0).then(failed.sum().cast(pl.Int64)),
        )
        known = rows.join(counts.drop_nulls("failures"), on=by, how="semi", maintain_order="left")
        items = average_samples(known, by, ("right",))
        estimates = estimate_groups(items, by, analysis.confidence, "right").drop("n_eff")
        parts.append(
            counts.join(estimates, on=by, how="left", maintain_order="left").with_columns(
                slice=pl.lit(slice_), metric=pl.lit(FAILURES_RIGHT)
            )
        )
    return analysis.mark_simulated(pl.concat(parts))


@result("corrected", "GPTScore corrected for the errors of the judge")
def tabulate_corrected(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the GPTScore of every cell, corrected by the certificate of the judge.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell with the metric `corrected`, null if the error rates do not determine it;
        `corrected_by` names the labels of these rates (`certificates.CorrectedAccuracy`). None
        without a certificate.
    """
    results = analysis.results
    cells = analysis.item_values.filter(rules=JUDGE_RULES)["model", "setting"].unique(
        maintain_order=True
    )
    pairs = [(cell, correct_accuracy(results, cell)) for cell in results.cells]
    rows = [(*cell, *fixed) for cell, fixed in pairs if fixed is not None]
    if not rows:
        return None
    frame = pl.DataFrame(rows, ["model", "setting", *ESTIMATE, CORRECTED_BY], orient="row")
    judged = cells.join(frame, on=["model", "setting"], maintain_order="left")
    return analysis.mark_simulated(
        judged.with_columns(rules=pl.lit(JUDGE_RULES), metric=pl.lit(CORRECTED))
    )


@result("outcomes", "Outcomes of the responses of every cell")
def tabulate_outcomes(analysis: Analysis) -> pl.DataFrame:
    """Tabulate the responses of every cell by outcome under every scorer.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, scorer and outcome that occurs: `right` and `wrong` answers, and the
        outcomes without an answer; `estimate` is its share of the responses, `count` their number,
        `n` that of all responses.
    """
    verdict = pl.col("verdict")
    answered = (
        pl.when(verdict >= RIGHT).then(pl.lit(ANSWERED_RIGHT)).otherwise(pl.lit(ANSWERED_WRONG))
    )
    outcome = pl.col("outcome")
    value = pl.when(outcome == "scored").then(answered).otherwise(outcome)
    counts = (
        analysis.results.counting_verdicts.group_by(*CELL, value=value, maintain_order=True)
        .agg(count=pl.len().cast(pl.Int64))
        .with_columns(n=pl.col("count").sum().over(CELL))
        .with_columns(
            estimate=pl.col("count") / pl.col("n"), slice=pl.lit("outcome"), metric=pl.lit("share")
        )
    )
    return analysis.mark_simulated(sort_cells(analysis, counts, "value", OUTCOMES))


@result("accuracy-by-images", "Accuracy by number of images, also of all complete cells together")
def tabulate_images(analysis: Analysis) -> pl.DataFrame:
    """Tabulate the accuracy by number of images, of each cell, of each model and of all together.

    Settings that withhold part of an item would confound the effect of the number of images, so
    only `results.pooled_settings` are pooled. There an item's value is its mean over the cells,
    with equal weights.

    Args:
        analysis: The study's results.

    Returns:
        One row per scorer and number of images of each cell; of each model (`setting` empty); and
        of all (`model` and `setting` empty). The last two are not for single judges of a panel.
        `pooled`: whether the setting is one of those in the last two. The columns of
        `within_subjects.add_differences` compare each number with the fewest images.
    """
    results = analysis.results
    cells = analysis.slice(IMAGE_COUNT).filter(pl.col("metric").is_in(["accuracy", "gptscore"]))
    order = list_image_bins(analysis)
    numbered = analysis.item_values.join(_number_images(analysis), on="id", maintain_order="left")
    compared = add_differences(analysis, cells, numbered, CELL, "value")
    parts = [sort_cells(analysis, compared, "value", order)]
    for keys in (["model", "rules"], ["rules"]):
        items = pool_items(analysis, keys)
        means = estimate_groups(items, [*keys, "value"], analysis.confidence)
        estimates = add_differences(analysis, means, items, keys, "value")
        empty = [name for name in ("model", "setting") if name not in keys]
        named = estimates.with_columns(
            *(pl.lit("").alias(name) for name in empty),
            slice=pl.lit(IMAGE_COUNT), metric=name_metric("accuracy"),
        )  # fmt: skip
        marks = {rules: results.rests_on_simulation(rules) for rules in results.rules}
        marked = named.with_columns(simulated=pl.col("rules").replace_strict(marks))
        parts.append(sort_cells(analysis, marked, "value", order))
    columns = [
        *CELL, "slice", "value", "metric", *ESTIMATE, "n", "clusters", "simulated", *DIFFERENCES,
    ]  # fmt: skip
    is_pooled = pl.col("setting").is_in(["", *results.pooled_settings])
    return pl.concat(part.select(*columns, pooled=is_pooled) for part in parts)


def pool_items(analysis: Analysis, keys: Sequence[str]) -> pl.DataFrame:
    """Average each item over the cells of `results.pooled_settings`.

    Args:
        analysis: The study's results.
        keys: Columns that are not pooled: `rules`, and perhaps `model`.

    Returns:
        One row per group and item: `keys`, `id`, `verdict`, `cluster`, and `value`, its number of
        images.
    """
    pooled = select_pooled(analysis).join(_number_images(analysis), on="id", maintain_order="left")
    return pooled.group_by(*keys, "id", maintain_order=True).agg(
        pl.col("verdict").mean(), pl.col("cluster", "value").first()
    )


def select_pooled(analysis: Analysis) -> pl.DataFrame:
    """Return the values of items under the pooled settings, without single judges of a panel."""
    results = analysis.results
    return analysis.item_values.filter(
        pl.col("setting").is_in(results.pooled_settings), pl.col("rules").is_in(results.rules)
    )


def _number_images(analysis: Analysis) -> pl.DataFrame:
    """Return the number of images of each item, as `value`."""
    return list_values(analysis.items, "id", IMAGE_COUNT).rename({IMAGE_COUNT: "value"})


def frame_scores(analysis: Analysis) -> pl.DataFrame:
    """Put the results about the accuracy of a cell in one row.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, scorer (also single judges of a panel) and `subject`: the total, then
        subjects in alphabetical order. `estimate`, `low`, `high`, `n`, `clusters` and `n_eff` are
        those of the accuracy; `responses`, `failures` and `failures_right` those of `bounds`;
        `credit`, `ratio`, `strict` and `corrected` with their `_low` and `_high`, null where a
        scorer does not define them, and `corrected_by`. `simulated` is about the responses of the
        cell,
        `judge_simulated` about the judge.
    """
    results = analysis.results
    whole, bounds = analysis.rows("accuracy"), analysis.rows("bounds")
    parts = [
        table.with_columns(subject=pl.lit(TOTAL) if table is whole else pl.col("value"))
        for table in (whole, analysis.slice(SUBJECT))
    ]
    shared = [*CELL, "subject", "metric", *ESTIMATE, "n", "clusters", "n_eff"]
    rows = pl.concat(part.select(shared) for part in parts)
    keys = [*CELL, "subject"]
    is_accuracy = pl.col("metric").is_in(["accuracy", "gptscore"])
    table = rows.filter(is_accuracy).drop("metric").join(
        bounds.select(
            *CELL, "responses", "failures", failures_right="estimate",
            subject=pl.when(pl.col("slice") == "").then(pl.lit(TOTAL)).otherwise("value"),
        ),
        on=keys, how="left", maintain_order="left",
    )  # fmt: skip
    rows = rows.with_columns(pl.lit(None, pl.String).alias(CORRECTED_BY))
    corrected = analysis.find_rows(CORRECTED)
    if corrected is not None:
        rows = pl.concat([rows, corrected.with_columns(subject=pl.lit(TOTAL))], how="diagonal")
    for name in ("credit", "ratio", "strict", CORRECTED):
        columns = {name: "estimate", f"{name}_low": "low", f"{name}_high": "high"}
        if name == CORRECTED:
            columns[CORRECTED_BY] = CORRECTED_BY
        measured = rows.filter(metric=name).select(*keys, **columns)
        table = table.join(measured, on=keys, how="left", maintain_order="left")
    marked = table.with_columns(
        pl.Series("simulated", [results.simulated_cells[cell] for cell in cells_of(table)]),
        judge_simulated=pl.col("rules").is_in(
            [rules for rules in table["rules"].unique() if results.has_simulated_judge(rules)]
        ),
    )
    return sort_cells(analysis, marked, "subject", [TOTAL, *subjects(analysis)])


def cells_of(frame: pl.DataFrame) -> list[Cell]:
    """Return the cell of each row."""
    return [Cell(*row) for row in frame.select("model", "setting").iter_rows()]


def subjects(analysis: Analysis) -> list[str]:
    """Return the subjects of the dataset, in alphabetical order."""
    return sorted({answer.subject for answer in analysis.results.answers.values()})


def list_image_bins(analysis: Analysis) -> list[str]:
    """Return the numbers of images that problems have, fewest first: "2", "3", ..., "6+"."""
    return sort_values(list_values(analysis.items, "id", IMAGE_COUNT)[IMAGE_COUNT])


def sort_cells(
    analysis: Analysis, frame: pl.DataFrame, column: str = "", values: Sequence[str] = ()
) -> pl.DataFrame:
    """Sort rows by cell in the study's order, by scorer, and by the given values of a column."""
    results = analysis.results
    cells = {tuple(cell): place for place, cell in enumerate(results.cells)}
    models = {cell.model: place for place, cell in reversed([*enumerate(results.cells)])}
    rules = {name: place for place, name in enumerate([*results.rules, *results.votes])}
    names = frame[column] if column else [""] * frame.height
    ranks = {value: place for place, value in enumerate(values)}
    places = [
        (cells.get((model, setting), models.get(model, 0)), rules[scorer], ranks.get(value, 0))
        for model, setting, scorer, value in zip(*(frame[n] for n in CELL), names, strict=True)
    ]
    return frame[sorted(range(frame.height), key=places.__getitem__)]
