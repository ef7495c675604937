"""The command `omibench review assign`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import Params, check_names, show_study
from omibench.cli.review.options import Kinds, ReviewFolder, find_review, name_folder
from omibench.errors import ParamsError
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from omibench.review.sampling.weekly import Period
    from omibench.schemas.review import ReviewTask


KindNames = Annotated[list[str], typer.Argument(metavar="KIND", help="Kinds of tasks to create.")]
ResultsFolder = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Results folder.  [study.results]")
]
NewTasks = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Create at most N new tasks of each kind."),
]
DrawSeed = Annotated[int | None, typer.Option(min=0, help="Seed of all draws.  [study.seed]")]
Annotators = Annotated[
    list[str] | None,
    typer.Option("--to", metavar="NAME", help="Assign new tasks to this annotator; repeatable."),
]
ProblemRows = Annotated[
    Path | None,
    typer.Option(metavar="FILE.jsonl", help="problems.jsonl to use.  [that of the last stage]"),
]
SuspectedKeys = Annotated[
    bool,
    typer.Option(
        "--suspected-keys",
        help="New tasks only for problems whose key the report suspects: strong models agree "
        "on another answer.",
    ),
]
Photographs = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder of photographs, for the kinds photo_*."),
]
DrawnResponses = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Draw N responses of each model.  [100; rating: 200]"),
]
OnlyModels = Annotated[
    list[str] | None, typer.Option(help="Only responses of this model; repeatable.")
]
OnlySettings = Annotated[
    list[str] | None, typer.Option(help="Only responses under this setting; repeatable.")
]


def assign(
    kinds: KindNames,
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    results: ResultsFolder = None,
    limit: NewTasks = None,
    seed: DrawSeed = None,
    to: Annotators = None,
    problems: ProblemRows = None,
    suspected_keys: SuspectedKeys = False,
    photographs: Photographs = None,
    draw: DrawnResponses = None,
    model: OnlyModels = None,
    setting: OnlySettings = None,
) -> None:
    """Create review tasks from a study's results and assign them to annotators.

    Kinds on problems: page, translation, difficulty, rationale, label, item. On responses: steps,
    disagreement, rating. For human answers: baseline. On photographs: photo_screening,
    photo_conditions, photo_fields. Run it again after a change: tasks whose content changed are
    assigned again, the others stay.

    \b
    Example:
      omibench review assign rationale item
      omibench review assign item --limit 50 --to ann
      omibench review assign item --suspected-keys
      omibench review assign steps --draw 100 --model my-model
    """
    from omibench.review.contents import PROBLEM_KINDS
    from omibench.review.kinds import find_kind
    from omibench.review.tasks.assign import assign_tasks, describe_assignment
    from omibench.review.tasks.request import AssignOptions

    for kind in kinds:
        find_kind(kind)
        if suspected_keys and kind not in PROBLEM_KINDS:
            raise ParamsError(
                f"--suspected-keys: {kind!r} is not about a key; use one of the kinds "
                f"{', '.join(PROBLEM_KINDS)}"
            )
    study = show_study(params)
    folder = name_folder(review, study.review, params)
    check_names(study, model, setting)
    options = AssignOptions(
        limit=limit,
        seed=seed,
        only=tuple(to or ()),
        problems=problems,
        suspected_keys=suspected_keys,
        photographs=photographs,
        draw=draw,
        models=model,
        settings=setting,
    )
    for kind in dict.fromkeys(kinds):
        done = assign_tasks(kind, study, results or Path(study.study.results), folder, options)
        say_lines("\n".join(describe_assignment(done)))


# The command `omibench review sample`.


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
    kinds: Kinds = None,
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
        from omibench.review.sampling.weekly import CalibrationPlan, draw_calibration

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
    from omibench.review.sampling.weekly import read_period, read_week

    if week and not (since or until):
        return read_week(week)
    if since and until and not week:
        return read_period(since, until)
    raise ParamsError("review sample: the period is missing; give --week, or --since and --until")


def _add_tasks(folder: Path, drawn: list[ReviewTask] | tuple[ReviewTask, ...]) -> None:
    """Append tasks to tasks.jsonl, which must not have bad lines."""
    from omibench.review.tasks.drafts import lock_tasks, read_present_tasks, write_tasks

    if drawn:
        with lock_tasks(folder):
            write_tasks(folder, [*read_present_tasks(folder), *drawn])
