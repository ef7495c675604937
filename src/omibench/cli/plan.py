"""The verb `omibench plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import (
    Ids,
    LimitTo,
    Override,
    Params,
    Sample,
    Seed,
    make_limit,
    read_study,
)
from omibench.errors import EXIT_SOME_FAILED, MissingInputError
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from omibench.params.study import Study


def plan(
    questions: Annotated[Path | None, typer.Argument(help="Frozen questions.")] = None,
    after: Annotated[
        bool, typer.Option("--after", help="Compare what was expected with what it took.")
    ] = False,
    simulated: Annotated[
        bool,
        typer.Option("--simulated", help="Plan its rehearsal, by stand-ins that cost nothing."),
    ] = False,
    synthetic: Annotated[
        bool,
        typer.Option("--synthetic", help="Over made-up questions, also where others are there."),
    ] = False,
    limit: LimitTo = None,
    ids: Ids = None,
    sample: Sample = None,
    seed: Seed = None,
    probes: Annotated[
        bool,
        typer.Option("--probe", help="Ask each model once, in a few words: does it answer?"),
    ] = False,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Say what a study will ask, cost and take. Sends nothing.

    Also which differences it could detect.

    With --probe each model behind an API is asked once: a wrong key, address or name is told in
    seconds, for a small request each. No answer is kept; what it cost stands in the ledger.

    Where a published benchmark is not there yet, made-up questions of its shape stand for it, and
    the first line says so.

    \b
    Example:
      omibench plan --params params.yaml
      omibench plan --probe
      omibench plan --params studies/omibench.yaml
      omibench plan --params studies/omibench.yaml --simulated
      omibench plan --params params.yaml --after
      omibench plan --params params.yaml --sample 50 --seed 1
    """
    from omibench.params.checks.remarks import list_remarks
    from omibench.plan import compare_study, plan_study, render, render_comparison
    from omibench.plan.probing import endpoint_lines
    from omibench.plan.rehearsal import is_made_up, made_up_questions

    if questions and not questions.is_file():
        raise MissingInputError(
            f"{questions}: the file does not exist; frozen questions are "
            "RESULTS/freeze/questions.jsonl"
        )
    pairs = [*(override or []), *(["simulated=true"] if simulated else [])]
    study = read_study(params, pairs, study=make_limit(limit, ids, sample, seed))
    for remark in list_remarks(study):
        say(f"omibench: {params}: {remark}", err=True)
    for line in [] if after or probes else endpoint_lines(study):
        say(f"omibench: {line}", err=True)
    failed = _probe(study) if probes else False
    frozen = questions or Path(study.study.results) / "freeze" / "questions.jsonl"
    missing = not (questions or after or frozen.is_file())
    if synthetic or (missing and is_made_up(study)):
        with made_up_questions(study) as (like, questions_file):
            say(f"Planned over made-up questions like those of {like}, with small pictures")
            say_lines(render(plan_study(study, questions_file)))
    elif missing:
        raise MissingInputError(
            f"{frozen}: there is no frozen dataset yet; make it with "
            f"`{_freeze_command(params, simulated=simulated)}`"
        )
    elif after:
        say_lines(render_comparison(compare_study(study, frozen)))
    else:
        say_lines(render(plan_study(study, frozen)))
    if failed:
        raise typer.Exit(EXIT_SOME_FAILED)


def _probe(study: Study) -> bool:
    """Probe the models of a study and say what came of it; whether one cannot be asked."""
    from omibench.plan.probing import probe_cost, probe_lines, probe_study

    say(probe_cost(study))
    probed = probe_study(study)
    for line in probe_lines(probed):
        say(f"  {line}")
    return any(result.fault for result in probed)


def _freeze_command(params: str, *, simulated: bool) -> str:
    """The command that freezes the dataset of a study."""
    file = "" if params == "params.yaml" or params.startswith("{") else f" --configfile {params}"
    return f"snakemake freeze_all --cores all{file}" + " --config simulated=true" * simulated
