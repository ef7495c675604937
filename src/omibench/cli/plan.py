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


FrozenQuestions = Annotated[
    Path | None,
    typer.Argument(
        metavar="QUESTIONS",
        help="questions.jsonl of `omibench freeze`.  [made from the study]",
        show_default=False,
    ),
]
Simulated = Annotated[
    bool,
    typer.Option("--simulated", help="Plan the rehearsal with simulated models."),
]
Synthetic = Annotated[
    bool,
    typer.Option("--synthetic", help="Use generated questions even if the dataset is frozen."),
]
Wide = Annotated[
    bool, typer.Option("--wide", help="Print all columns, instead of those that fit 80.")
]
Probe = Annotated[
    bool,
    typer.Option(
        "--probe", help="Send one short request to each model, to test keys and addresses."
    ),
]


def plan(
    questions: FrozenQuestions = None,
    simulated: Simulated = False,
    synthetic: Synthetic = False,
    wide: Wide = False,
    limit: LimitTo = None,
    ids: Ids = None,
    sample: Sample = None,
    seed: Seed = None,
    probes: Probe = False,
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Estimate the requests, cost and time of a study, and the differences it can detect.

    Nothing is sent, except with --probe: one short request to each API model, which reports a wrong
    key, address or name within seconds. Its answer is discarded; its cost is entered in the ledger.

    Before the dataset is frozen, the first line says what is planned: the problems in `data` or,
    of papers, the latest ones; before a paper is read, an estimate for each 100 problems. If the
    data of a published benchmark are missing, generated questions of the same form. If models read
    pages or formulas, the papers are opened to count them.

    \b
    Example:
      omibench plan --params params.yaml
      omibench plan --wide
      omibench plan --probe
      omibench plan --params studies/omibench.yaml
      omibench plan --params studies/omibench.yaml --simulated
      omibench plan --params params.yaml --sample 50 --seed 1
    """
    from omibench.params.study import list_remarks
    from omibench.study.plan.build import plan_study
    from omibench.study.plan.probe import endpoint_lines
    from omibench.study.plan.questions import plan_questions
    from omibench.study.plan.text import render

    if questions and not questions.is_file():
        raise MissingInputError(
            f"{questions}: the file does not exist; give RESULTS/freeze/questions.jsonl"
        )
    pairs = [*(override or []), *(["simulated=true"] if simulated else [])]
    study = read_study(params, pairs, study=make_limit(limit, ids, sample, seed))
    files = [] if params.lstrip().startswith("{") else [params]
    for remark in list_remarks(study, files):
        say(f"omibench: {remark}", err=True)
    for line in [] if probes else endpoint_lines(study):
        say(f"omibench: {line}", err=True)
    failed = _probe(study) if probes else False
    if questions and not synthetic:
        say_lines(render(plan_study(study, questions), wide=wide))
    else:
        freeze = _freeze_command(params, simulated=simulated)
        built = plan_questions(study, synthetic=synthetic, freeze_command=freeze)
        say_lines(render(built, wide=wide))
    if failed:
        raise typer.Exit(EXIT_SOME_FAILED)


def _probe(study: Study) -> bool:
    """Probe the models of a study and print the outcomes; True if one cannot be reached."""
    from omibench.study.plan.probe import probe_cost, probe_lines, probe_study

    say(probe_cost(study))
    probed = probe_study(study)
    for line in probe_lines(probed):
        say(f"  {line}")
    return any(probed.values())


def _freeze_command(params: str, *, simulated: bool) -> str:
    """Return the command that freezes the dataset of a study."""
    file = "" if params == "params.yaml" or params.startswith("{") else f" --configfile {params}"
    return f"snakemake freeze_all --cores all{file}" + " --config simulated=true" * simulated
