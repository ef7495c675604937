"""The command `omibench review agree`."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import Params
from omibench.cli.review.options import ReviewFolder, find_review
from omibench.errors import EXIT_SOME_FAILED
from omibench.text.terminal import say_lines


def agree(
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the figures as CSV.")
    ] = None,
    confidence: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Two-sided confidence level of the intervals.")
    ] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
) -> None:
    """Report agreement between reviewers, the residual error rate, and calibration results.

    Agreement is measured on the first, independent decisions of annotators and auditors. The
    residual error rate is estimated from samples that senior reviewers judged again. Exits with 3
    if the review files have bad lines.

    \b
    Example:
      omibench review agree
      omibench review agree --review sample/review --out agreement.csv
    """
    from omibench.files.csv_file import write_csv
    from omibench.params.review import CalibrationParams
    from omibench.review.agreement import measure_agreement
    from omibench.review.agreement.text import QualityReport, describe_quality, list_quality_rows
    from omibench.review.calibration import measure_calibration
    from omibench.review.folder import read_review
    from omibench.review.report import AgreementFigure
    from omibench.review.sampling.residual import measure_residual_error

    path, rule = find_review(review, params)
    folder = read_review(path)
    say_lines("\n".join(folder.errors), err=True)
    report = QualityReport(
        measure_agreement(folder.tasks, folder.decisions, confidence, seed),
        measure_residual_error(folder.tasks, folder.decisions, confidence, rule.reviewers),
        measure_calibration(
            folder.tasks,
            folder.decisions,
            rule.calibration or CalibrationParams(),
            rule.shortest_seconds,
        ),
        confidence,
    )
    say_lines(describe_quality(report))
    if out is not None:
        write_csv(out, list_quality_rows(report), [field.name for field in fields(AgreementFigure)])
    if folder.errors:
        raise typer.Exit(EXIT_SOME_FAILED)
