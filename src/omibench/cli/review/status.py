"""The verb `omibench review status`."""

from __future__ import annotations

from typing import Annotated

import typer

from omibench.cli.options import Params
from omibench.cli.review.options import ReviewFolder, find_calibration, find_review_folder
from omibench.errors import EXIT_SOME_FAILED
from omibench.text.terminal import say, say_lines


def status(
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Say how far a review has come: by kind of task and by person.

    Only reads. Exits with 3 where a decision is stale, a task is escalated or a line is bad.

    \b
    Example:
      omibench review status
      omibench review status --review sample/review --json
    """
    from omibench.review.agreement.text import describe_calibration
    from omibench.review.calibration import measure_calibration
    from omibench.review.folder import read_review
    from omibench.review.progress import describe_progress, dump_progress, measure_people
    from omibench.review.report import summarize_review

    folder = read_review(find_review_folder(review, params))
    for error in folder.errors:
        say(error, err=True)
    report = summarize_review(folder.tasks, folder.decisions)
    people = measure_people(folder.tasks, folder.decisions)
    say_lines(dump_progress(report, people) if as_json else describe_progress(report, people))
    rule = find_calibration(params)
    if rule is not None and not as_json:
        say_lines(describe_calibration(measure_calibration(folder.tasks, folder.decisions, rule)))
    if report.stale or report.escalations or folder.errors:
        raise typer.Exit(EXIT_SOME_FAILED)
