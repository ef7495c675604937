"""The command `omibench review status`."""

from __future__ import annotations

from typing import Annotated

import typer

from omibench.cli.options import Params
from omibench.cli.review.options import ReviewFolder, find_review
from omibench.errors import EXIT_SOME_FAILED
from omibench.text.terminal import say, say_lines


def status(
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the progress of a review by kind of task and by reviewer.

    `hurried` counts decisions in less time than `review.shortest_seconds`.

    `review.reviewers` in the parameters decides when a task is settled. Exits with 3 if a decision
    is stale, a task is escalated or a line is bad. Writes nothing.

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
    from omibench.review_app.log.decisions import list_unrecorded

    path, rule = find_review(review, params)
    folder = read_review(path)
    for error in folder.errors:
        say(error, err=True)
    if count := len(list_unrecorded(folder.folder)):
        say(
            f"decisions logged by the application that are not counted yet: {count}; add them to "
            "decisions.jsonl with `omibench review export --live`",
            err=True,
        )
    report = summarize_review(folder.tasks, folder.decisions, rule.reviewers)
    shortest = rule.shortest_seconds
    people = measure_people(folder.tasks, folder.decisions, rule.reviewers, shortest)
    tests = (
        measure_calibration(folder.tasks, folder.decisions, rule.calibration, shortest)
        if rule.calibration
        else []
    )
    if as_json:
        say_lines(dump_progress(report, people, tests))
    else:
        say_lines(describe_progress(report, people))
        if tests:
            say_lines(f"\n{describe_calibration(tests)}")
    if report.stale or report.escalations or folder.errors:
        raise typer.Exit(EXIT_SOME_FAILED)
