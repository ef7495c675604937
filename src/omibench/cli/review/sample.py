"""The command `omibench review sample`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import Params
from omibench.cli.review.options import ReviewFolder, find_review
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
        str | None, typer.Option(metavar="YYYY-Www", help="Tasks settled in this ISO week.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Tasks settled on or after this day (UTC).")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="Tasks settled on or before this day (UTC).")
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND[,...]", help="Only tasks of these kinds."),
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.0001, max=1, help="Share of the settled tasks of each kind.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
    calibration: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Draw a calibration set of N settled tasks instead of a sample.",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="With --calibration: name of the set.")
    ] = "calibration",
) -> None:
    """Draw settled tasks for a second judgement by senior reviewers, or a calibration set.

    The draw is stratified by type of problem, difficulty, and new or revised. A sampled task is a
    new task without the earlier decisions. The share that seniors overturn is the residual error
    rate of `omibench review agree`. A calibration set uses the results of settled tasks as gold
    decisions. The same draw again adds only missing tasks.

    \b
    Example:
      omibench review sample --week 2026-W47
      omibench review sample --since 2026-11-16 --until 2026-11-22 --kind item
      omibench review sample --calibration 30 --kind item
    """
    from omibench.review.folder import read_review
    from omibench.review.kinds import find_kind

    names = tuple(find_kind(kind).name for kind in kinds.split(",")) if kinds else ()
    folder, rule = find_review(review, params)
    record = read_review(folder)
    needed = rule.reviewers
    if calibration is not None:
        from omibench.review.sampling.calibration_sets import CalibrationPlan, draw_calibration

        if len(names) != 1 or week or since or until:
            raise ParamsError(
                "--calibration: draws from all settled tasks of one kind; give --kind KIND, and no "
                "--week, --since or --until"
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
    raise ParamsError("review sample: the period is missing; give --week, or --since and --until")


def _add_tasks(folder: Path, drawn: list[ReviewTask] | tuple[ReviewTask, ...]) -> None:
    """Append tasks to tasks.jsonl, which must not have bad lines."""
    from omibench.review_tasks.tasks_file import lock_tasks, read_present_tasks, write_tasks

    if drawn:
        with lock_tasks(folder):
            write_tasks(folder, [*read_present_tasks(folder), *drawn])
