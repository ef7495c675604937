"""The command `omibench plan`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import (
    AsJson,
    Ids,
    LimitTo,
    Override,
    Params,
    Sample,
    Seed,
    make_group,
    make_limit,
    read_study,
    show_study,
)
from omibench.errors import EXIT_SOME_FAILED, MissingInputError, ParamsError, SomeFailedError
from omibench.text.terminal import count_noun, say, say_lines

if TYPE_CHECKING:
    from omibench.params.study import Study
    from omibench.store.ledger import Loss, Settlement, Spending


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
    return any(result.fault for result in probed)


def _freeze_command(params: str, *, simulated: bool) -> str:
    """Return the command that freezes the dataset of a study."""
    file = "" if params == "params.yaml" or params.startswith("{") else f" --configfile {params}"
    return f"snakemake freeze_all --cores all{file}" + " --config simulated=true" * simulated


# `omibench budget`: show what a study has spent, and settle requests whose cost is unknown.

budget_app = make_group(
    "budget", "Show what a study has spent, and settle requests whose cost is unknown."
)


@budget_app.command()
def show(
    params: Params = "params.yaml",
    override: Override = None,
    as_json: AsJson = False,
) -> None:
    """Show what a study has spent, and what it is charged for lost requests and why.

    \b
    Example:
      omibench budget show
      omibench budget show --params studies/omibench.yaml --json
    """
    from omibench.models.client.ask import read_budget
    from omibench.store.ledger import LEDGER, Ledger, Spending

    study = show_study(params, override)
    cap, name = read_budget(study), study.study.name
    spending, losses, settled = Spending(0.0, 0.0, 0.0), [], []
    if (Path(study.study.store) / LEDGER).is_file():
        with Ledger(study.study.store, write=False) as ledger:
            spending = ledger.spending(name)
            losses, settled = ledger.list_losses(name), ledger.settlements(name)
    if as_json:
        document = {
            "study": name,
            "budget_usd": cap,
            **spending._asdict(),
            "lost": [loss._asdict() for loss in losses],
            "settled": [settlement._asdict() for settlement in settled],
        }
        say_lines(json.dumps(document, indent=2))
        return
    say_lines("\n".join(_lines(name, cap, spending, losses, settled)))


@budget_app.command()
def settle(
    usd: Annotated[
        float | None, typer.Option(help="Amount your provider billed for all lost requests.")
    ] = None,
    usage: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Usage or cost export from OpenAI or Anthropic."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="With --usd: only the requests of this model.")
    ] = None,
    note: Annotated[str, typer.Option(help="With --usd: a remark stored with the amount.")] = "",
    params: Params = "params.yaml",
    override: Override = None,
) -> None:
    """Enter the real cost of lost requests, which are charged at an upper bound until then.

    Give the amount, or your provider's export of whole days (JSON or CSV), which is compared with
    the study's known spending on those days.

    \b
    Example:
      omibench budget settle --usd 0.07 --note "bill of 2026-11-22"
      omibench budget settle --usage completions_usage_2026-11-22.csv
    """
    from omibench.models.client.usage import settle_by_usage, settle_stated
    from omibench.models.cost import usd_text
    from omibench.text.terminal import printable

    if (usd is None) == (usage is None):
        raise ParamsError("budget settle: give either --usd AMOUNT or --usage FILE")
    study = show_study(params, override)
    settlement = (
        settle_stated(study, usd, note, model)
        if usd is not None
        else settle_by_usage(study, usage or Path())
    )
    say(
        f"{study.study.name}: {settlement.attempts:,} lost requests, charged "
        f"{usd_text(settlement.charged)} until now, are settled at {usd_text(settlement.usd)} "
        f"({printable(settlement.source)})"
    )


def _lines(
    name: str,
    cap: float | None,
    spending: Spending,
    losses: list[Loss],
    settled: list[Settlement],
) -> list[str]:
    import time

    from omibench.models.cost import usd_text
    from omibench.text.terminal import printable

    budget = "no budget is set"
    if cap is not None:
        left_usd = usd_text(max(0.0, cap - spending.committed_usd))
        budget = f"{left_usd} of its budget of {usd_text(cap)} left"
    lines = [
        f"{printable(name)}: {usd_text(spending.spent)} spent, {usd_text(spending.unknown)} "
        f"charged for requests of unknown cost, {usd_text(spending.reserved)} reserved for "
        f"requests in flight; {budget}"
    ]
    lines += [
        f"  {printable(loss.model)}: {loss.attempts:,} requests charged {usd_text(loss.charged)}, "
        f"at most {usd_text(loss.at_most)}: {printable(loss.why)}"
        for loss in losses
    ]
    lines += [
        f"  settled {time.strftime('%Y-%m-%d', time.gmtime(settlement.at))}: "
        f"{settlement.attempts:,} requests at {usd_text(settlement.usd)}, charged "
        f"{usd_text(settlement.charged)} before: {printable(settlement.source)}"
        for settlement in settled
    ]
    if losses:
        lines.append(
            "Enter their real cost with `omibench budget settle --usd AMOUNT` or `--usage FILE`"
        )
    return lines


# The command `omibench status`.

EVERY_S = 5.0


def status(
    watch: Annotated[bool, typer.Option("--watch", help="Refresh until the run ends.")] = False,
    every: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0.2, help="With --watch: seconds between two updates."),
    ] = EVERY_S,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an HTML page.")
    ] = None,
    as_json: AsJson = False,
    params: Params = "params.yaml",
    override: Override = None,
    lacking: Annotated[
        bool,
        typer.Option(
            "--lacking", help="Print the files of cells with missing responses, one per line."
        ),
    ] = False,
) -> None:
    """Show the progress of a study and its failures.

    Shows jobs, requests, dollars and the time left. Writes nothing and can run at any time. With
    --watch, it ends with the run and exits with 3 if jobs failed.

    \b
    Example:
      omibench status
      omibench status --params studies/emma_recorded.yaml --watch --html status.html
    """
    from omibench.files.outputs import output_file
    from omibench.study.status.reader import Looker
    from omibench.study.status.text import render, write_page
    from omibench.study.status.text import watch as watch_run

    if watch and (as_json or lacking):
        raise ParamsError("status: --watch cannot be combined with --json or --lacking")
    study = show_study(params, override)
    html = output_file(html, study.study.store, "--html") if html else None
    looker = Looker(study, params, override or [])
    snapshot = watch_run(looker, every, html) if watch else looker.look()
    looker.close()
    if watch:
        if snapshot.failures:
            raise SomeFailedError(f"status: {count_noun(len(snapshot.failures), 'job')} failed")
        return
    if html is not None:
        write_page(html, snapshot, None)
    if as_json:
        say_lines(snapshot.model_dump_json(indent=2))
    elif lacking:
        for path in snapshot.lacking:
            say(path)
    else:
        say_lines(render(snapshot))
