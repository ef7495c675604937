"""The verb `omibench plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import Override, Params, read_study


def plan(
    questions: Annotated[Path | None, typer.Argument(help="Frozen questions.")] = None,
    after: Annotated[
        bool, typer.Option("--after", help="Compare what was expected with what it took.")
    ] = False,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Of its rehearsal, as with --set simulated=true.")
    ] = False,
    synthetic: Annotated[
        bool,
        typer.Option("--synthetic", help="Over made-up questions, where none are frozen yet."),
    ] = False,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Say what a study will ask, cost and take, and what it could detect. Sends nothing.

    \b
    Example:
      omibench plan --params params.yaml
      omibench plan --params studies/omibench.yaml --synthetic
      omibench plan --params params.yaml --after
    """
    from omibench.plan import compare_study, plan_study, render, render_comparison

    study = read_study(params, [*(override or []), *(["simulated=true"] if simulated else [])])
    if synthetic:
        from omibench.rehearsal import made_up_questions

        with made_up_questions(study) as (like, made):
            typer.echo(f"Planned over made-up questions like those of {like}, with small pictures")
            typer.echo(render(plan_study(study, made)))
        return
    frozen = questions or Path(study.study.results) / "freeze" / "questions.jsonl"
    if after:
        typer.echo(render_comparison(compare_study(study, frozen)))
    else:
        typer.echo(render(plan_study(study, frozen)))
