"""The command `omibench review assign`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import Params, check_names, show_study
from omibench.cli.review.options import ReviewFolder, name_folder
from omibench.text.terminal import say_lines


def assign(
    kinds: Annotated[list[str], typer.Argument(metavar="KIND", help="Kinds of tasks to create.")],
    review: ReviewFolder = None,
    params: Params = "params.yaml",
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Results folder.  [study.results]")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Create at most N new tasks of each kind."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of all draws.  [study.seed]")
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to", metavar="NAME", help="Assign new tasks to this annotator; repeatable."
        ),
    ] = None,
    problems: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="problems.jsonl to use.  [that of the last stage]"),
    ] = None,
    photographs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of photographs, for the kinds photo_*."),
    ] = None,
    draw: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Draw N responses of each model.  [100; rating: 200]"
        ),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="Only responses of this model; repeatable.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option(help="Only responses under this setting; repeatable.")
    ] = None,
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
      omibench review assign steps --draw 100 --model my-model
    """
    from omibench.review.kinds import find_kind
    from omibench.review_tasks.assign import assign_tasks, describe_assignment
    from omibench.review_tasks.request import AssignOptions

    for kind in kinds:
        find_kind(kind)
    study = show_study(params)
    folder = name_folder(review, study.review, params)
    check_names(study, model, setting)
    options = AssignOptions(
        limit=limit,
        seed=seed,
        only=tuple(to or ()),
        problems=problems,
        photographs=photographs,
        draw=draw,
        models=model,
        settings=setting,
    )
    for kind in dict.fromkeys(kinds):
        done = assign_tasks(kind, study, results or Path(study.study.results), folder, options)
        say_lines("\n".join(describe_assignment(done)))
