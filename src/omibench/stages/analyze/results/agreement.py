"""The agreement of reviewers of the dataset, and the remaining errors."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Final

import polars as pl

from omibench.params.review import TASKS
from omibench.review.agreement import measure_agreement
from omibench.review.agreement.text import RESIDUAL
from omibench.review.folder import read_review
from omibench.review.report import AgreementFigure
from omibench.review.sampling.strata import ResidualError, measure_residual_error
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import ESTIMATE, result, write_estimate

TASK: Final = "task"
"""The `slice` of all rows; its values are kinds of review tasks."""
_LOG = logging.getLogger("omibench")


@result(
    "agreement",
    "How far reviewers agree, and errors that remain in their settled work",
    source="OMIBench, A.4.3",
)
def tabulate_agreement(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the agreement of the reviewers of the study's dataset and responses.

    Args:
        analysis: The study's results.

    Returns:
        One row per kind of task (slice `task`), field and measure (`metric`), with `n` compared
        units in `clusters` tasks, read by `people`; `option` is an option of a multi-valued field,
        and `between` the two sides of Cohen's kappa. The metric `residual error rate` is the share
        of settled tasks that a senior would overturn, among the `n` that one judged again. An
        estimate is null if all readers gave the same value throughout, since agreement beyond
        chance is then undefined. None if `review.folder` has no tasks.

    Raises:
        FileFormatError: reviewers.yaml is invalid.
    """
    folder = analysis.study.review.folder
    if folder is None or not (Path(folder) / TASKS).is_file():
        return None
    record = read_review(Path(folder))
    for error in record.errors:
        _LOG.warning("%s; the row is left out", error)
    figures = measure_agreement(record.tasks, record.decisions, analysis.confidence)
    errors = measure_residual_error(
        record.tasks, record.decisions, analysis.confidence, analysis.study.review.reviewers
    )
    rows = [*map(_write_agreement, figures), *map(_write_error, errors)]
    types = dict.fromkeys(ESTIMATE, pl.Float64) | {"people": pl.Int64}
    return pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None) if rows else None


def _write_agreement(figure: AgreementFigure) -> dict[str, Any]:
    return {
        "slice": TASK,
        "value": figure.kind,
        "metric": figure.measure,
        **write_estimate((figure.value, figure.low, figure.high)),
        "n": figure.units,
        "clusters": figure.tasks,
        "simulated": figure.simulated,
        "field": figure.field,
        "option": figure.option,
        "between": figure.between,
        "people": figure.people,
    }


def _write_error(error: ResidualError) -> dict[str, Any]:
    return {
        "slice": TASK,
        "value": error.kind,
        "metric": RESIDUAL,
        **write_estimate((error.rate, error.low, error.high)),
        "n": error.judged,
        "clusters": error.judged,
        "simulated": error.simulated,
        **dict.fromkeys(("field", "option", "between"), ""),
        "people": None,
    }
