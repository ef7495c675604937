"""The verb `omibench review sample`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import Params
from omibench.cli.review.options import ReviewFolder, find_review_folder, read_review_params
from omibench.errors import ParamsError
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from pathlib import Path

    from omibench.review.sampling.periods import Period
    from omibench.schemas.review import ReviewTask


def sample(
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    week: Annotated[
        str | None, typer.Option(metavar="YYYY-Www", help="What was settled in this week.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="What was settled from this day on,")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="up to and including this day (UTC).")
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND[,...]", help="Tasks of these kinds alone."),
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.0001, max=1, help="Of the settled tasks of each kind.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    calibration: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Draw a calibration set of N settled tasks instead."),
    ] = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Of the calibration set.")
    ] = "calibration",
) -> None:
    """Draw settled tasks that seniors judge again, or a calibration set.

    The draw is proportional to type of problem, difficulty, and whether an item is new or revised.
    A sample is a new task: who decides on it sees no earlier decision. What seniors overturn is the
    residual error rate of `omibench review agree`. A calibration set has the results of settled
    tasks as gold decisions. Run again, the same draw adds what is missing.

    \b
    Example:
      omibench review sample --week 2026-W47
      omibench review sample --since 2026-11-16 --until 2026-11-22 --kind item
      omibench review sample --calibration 30 --kind item
    """
    from omibench.review.folder import read_review
    from omibench.review.kinds import find_kind

    names = tuple(find_kind(kind).name for kind in kinds.split(",")) if kinds else ()
    folder = find_review_folder(review, params)
    record = read_review(folder)
    needed = read_review_params(params).reviewers
    if calibration is not None:
        from omibench.review.sampling.calibration_sets import CalibrationPlan, draw_calibration

        if len(names) != 1 or week or since or until:
            raise ParamsError(
                "--calibration: is drawn from all settled tasks of one kind: name it with --kind, "
                "and no time"
            )
        plan = CalibrationPlan(names[0], calibration, name, seed)
        drawn = draw_calibration(record.tasks, record.decisions, plan, needed)
        _add_tasks(folder, drawn)
        say(f"{len(drawn)} calibration tasks of {names[0]} in the set {name}")
        return
    from omibench.review.sampling.weekly import SamplePlan, describe_draw, draw_samples

    sample_plan = SamplePlan(_read_period(week, since, until), share, seed, names)
    draw = draw_samples(record.tasks, record.decisions, sample_plan, record.reviewers, needed)
    _add_tasks(folder, draw.tasks)
    say_lines(describe_draw(draw))


def _read_period(week: str | None, since: str | None, until: str | None) -> Period:
    from omibench.review.sampling.periods import read_period, read_week

    if week and not (since or until):
        return read_week(week)
    if since and until and not week:
        return read_period(since, until)
    raise ParamsError("review sample: say when work was settled: --week, or --since and --until")


def _add_tasks(folder: Path, drawn: list[ReviewTask] | tuple[ReviewTask, ...]) -> None:
    """Put tasks behind those of tasks.jsonl, which must have no bad line."""
    from omibench.review_tasks.tasks_file import lock_tasks, read_present_tasks, write_tasks

    if drawn:
        with lock_tasks(folder):
            write_tasks(folder, [*read_present_tasks(folder), *drawn])
