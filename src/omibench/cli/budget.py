"""The commands of `omibench budget`: what a study has spent, and requests of unknown cost."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import AsJson, Override, Params, make_group, show_study
from omibench.errors import ParamsError
from omibench.text.terminal import printable, say, say_lines

if TYPE_CHECKING:
    from omibench.store.ledger import Loss, Settlement, Spending

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
    say_lines("\n".join(_describe_spending(name, cap, spending, losses, settled)))


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


def _describe_spending(
    name: str,
    cap: float | None,
    spending: Spending,
    losses: list[Loss],
    settled: list[Settlement],
) -> list[str]:
    from omibench.models.cost import usd_text

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
