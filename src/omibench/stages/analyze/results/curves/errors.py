"""Shares of error types among failed responses, as classified by judges and annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.results.grouped import estimate_groups
from omibench.results.judgements import read_judgements
from omibench.schemas.marks import NO_ERROR
from omibench.stages.analyze.results.curves.points import frame_cells
from omibench.stages.analyze.results.result import result
from omibench.stages.analyze.results.tidy import JOINT
from omibench.stages.analyze.tables.error_labels import add_typed_failures, read_error_labels
from omibench.stages.analyze.tables.reasoning import JUDGE, PEOPLE

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

TYPE = "error_type"
_COLUMNS = ("id", "index", "error_type", "taxonomy", "simulated", "cluster")
_CELL = ("model", "setting", "by")


@result(
    "error-types",
    "Types of errors of failed responses",
    source="OMIBench, F.2 and figure 7; EMMA, section 5 and figure 5; MathReal, figure 6",
)
def tabulate_errors(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the shares of error types among classified failures.

    `judge.errors.draw` selects the failures: all of a cell, or 100 per model as in MathReal. Under
    a scorer with partial credit, a failure is an answer with no right part.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, `by` (`judge` or `people`), type and subject, and over all subjects: the
        metric `share`, averaged over the failures of a problem and then problems; `count` failures
        of the type among `classified` ones; `taxonomy`. Types without failures have rows of 0.
        Answers that a judge found right are excluded. None if no errors were classified.
    """
    import polars as pl

    labelled = _collect_types(analysis)
    if labelled is None:
        return None
    subjects = analysis.items.select("id", "subject")
    frames = [labelled.with_columns(subject=pl.lit("")), labelled.join(subjects, on="id")]
    errors = pl.concat(frame.select(sorted(frame.columns)) for frame in frames)
    by = [*_CELL, "subject"]
    types = errors.select("by", TYPE, "taxonomy").unique(maintain_order=True).sort("by", TYPE)
    problems = errors.join(types, on=["by", "taxonomy"], suffix="_asked", maintain_order="left")
    shares = (
        problems.with_columns(is_type=(pl.col(TYPE) == pl.col(f"{TYPE}_asked")).cast(pl.Float64))
        .drop(TYPE)
        .rename({f"{TYPE}_asked": TYPE})
        .group_by(*by, "taxonomy", TYPE, "id", "cluster", maintain_order=True)
        .agg(
            pl.col("is_type").mean(),
            pl.col("is_type").sum().alias("count"),
            pl.len().alias("classified"),
            pl.col("simulated").any(),
        )
    )
    keys = [*by, "taxonomy", TYPE]
    totals = shares.group_by(keys).agg(
        pl.col("count").sum().cast(pl.Int64),
        pl.col("classified").sum().cast(pl.Int64),
        pl.col("simulated").any(),
    )
    estimates = estimate_groups(shares, keys, analysis.confidence, "is_type").drop("n_eff")
    table = estimates.join(totals, on=keys, maintain_order="left")
    is_total = pl.col("subject") == ""
    labels = frame_cells(analysis).select("model", "setting", "label", "setting_label")
    return (
        table.join(labels, on=["model", "setting"], how="left", maintain_order="left")
        .with_columns(
            metric=pl.lit("share"),
            slice=pl.when(is_total).then(pl.lit(TYPE)).otherwise(pl.lit(f"subject{JOINT}{TYPE}")),
            value=pl.when(is_total)
            .then(TYPE)
            .otherwise(pl.concat_str("subject", TYPE, separator=JOINT)),
        )
        .sort(*_CELL, "subject", "estimate", descending=[False] * 4 + [True], maintain_order=True)
    )


def _collect_types(analysis: Analysis) -> pl.DataFrame | None:
    """Return a row per classified failure: its cell, classifier and type."""
    import polars as pl

    results = analysis.results
    labels = read_error_labels(results)
    judged = set(results.study.judged_cells) if results.study.judge.errors else set()
    parts = []
    for cell in results.study.cells:
        rows = read_judgements(results, analysis.folder / "judge", cell) if cell in judged else None
        frames: list[tuple[str, pl.DataFrame]] = []
        if rows is not None and results.study.judge.panels.get("error_type"):
            frames.append((JUDGE, rows.filter(instrument="error_type")))
        if cell in labels:
            frames.append((PEOPLE, add_typed_failures(labels[cell], rows)))
        parts += [
            frame.select(
                pl.lit(cell.model).alias("model"),
                pl.lit(cell.setting).alias("setting"),
                pl.lit(by).alias("by"),
                *_COLUMNS,
            )
            for by, frame in frames
        ]
    if not parts:
        return None
    types = pl.concat(parts).drop_nulls(TYPE).filter(pl.col(TYPE) != NO_ERROR)
    return None if types.is_empty() else types
