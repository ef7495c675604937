"""The command `omibench plan`."""

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
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="QUESTIONS",
            help="questions.jsonl of `omibench freeze`.  [made from the study]",
            show_default=False,
        ),
    ] = None,
    after: Annotated[
        bool, typer.Option("--after", help="Compare the plan with what the run took.")
    ] = False,
    simulated: Annotated[
        bool,
        typer.Option("--simulated", help="Plan the rehearsal with simulated models."),
    ] = False,
    synthetic: Annotated[
        bool,
        typer.Option("--synthetic", help="Use generated questions even if the dataset is frozen."),
    ] = False,
    limit: LimitTo = None,
    ids: Ids = None,
    sample: Sample = None,
    seed: Seed = None,
    probes: Annotated[
        bool,
        typer.Option(
            "--probe", help="Send one short request to each model, to test keys and addresses."
        ),
    ] = False,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Estimate the requests, cost and time of a study, and the differences it can detect.

    Nothing is sent, except with --probe: one short request to each API model, which reports a wrong
    key, address or name within seconds. Its answer is discarded; its cost is entered in the ledger.

    Before the dataset is frozen, only models that read, filter and annotate problems are planned.
    If models read pages or formulas, the papers are opened to count them.

    If the data of a published benchmark are missing, the plan uses generated questions of the same
    form, and the first line says so.

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
    from omibench.plan.after import compare_study, render_comparison
    from omibench.plan.build import plan_study
    from omibench.plan.building import names_building_models
    from omibench.plan.probing import endpoint_lines
    from omibench.plan.rehearsal import is_made_up, made_up_questions
    from omibench.plan.text import render

    if questions and not questions.is_file():
        raise MissingInputError(
            f"{questions}: the file does not exist; give RESULTS/freeze/questions.jsonl"
        )
    pairs = [*(override or []), *(["simulated=true"] if simulated else [])]
    study = read_study(params, pairs, study=make_limit(limit, ids, sample, seed))
    files = [] if params.lstrip().startswith("{") else [params]
    for remark in list_remarks(study, files):
        say(f"omibench: {remark}", err=True)
    for line in [] if after or probes else endpoint_lines(study):
        say(f"omibench: {line}", err=True)
    failed = _probe(study) if probes else False
    frozen = questions or Path(study.study.results) / "freeze" / "questions.jsonl"
    missing = not (questions or after or frozen.is_file())
    if synthetic or (missing and is_made_up(study)):
        with made_up_questions(study) as (like, questions_file):
            say(f"Planned over generated questions like those of {like}, with small pictures")
            say_lines(render(plan_study(study, questions_file)))
    elif missing and not names_building_models(study):
        raise MissingInputError(
            f"{frozen}: the dataset is not frozen yet; run "
            f"`{_freeze_command(params, simulated=simulated)}`"
        )
    elif after:
        say_lines(render_comparison(compare_study(study, frozen)))
    else:
        say_lines(render(plan_study(study, frozen)))
    if failed:
        raise typer.Exit(EXIT_SOME_FAILED)


def _probe(study: Study) -> bool:
    """Probe the models of a study and print the outcomes; True if one cannot be reached."""
    from omibench.plan.probing import probe_cost, probe_lines, probe_study

    say(probe_cost(study))
    probed = probe_study(study)
    for line in probe_lines(probed):
        say(f"  {line}")
    return any(result.fault for result in probed)


def _freeze_command(params: str, *, simulated: bool) -> str:
    """Return the command that freezes the dataset of a study."""
    file = "" if params == "params.yaml" or params.startswith("{") else f" --configfile {params}"
    return f"snakemake freeze_all --cores all{file}" + " --config simulated=true" * simulated
