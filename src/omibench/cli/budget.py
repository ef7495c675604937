"""`omibench budget`: show what a study has spent, and settle requests whose cost is unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.help import make_group
from omibench.cli.options import Override, Params, show_study
from omibench.errors import ParamsError
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from omibench.store.ledger.ledger import Account, Settlement
    from omibench.store.ledger.lost_attempts import Loss

budget_app = make_group(
    "budget", "Show what a study has spent, and settle requests whose cost is unknown."
)


@budget_app.command()
def show(
    params: Params = "params.yaml",
    override: Override = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a study has spent, and what it is charged for lost requests and why.

    \b
    Example:
      omibench budget show
      omibench budget show --params studies/omibench.yaml --json
    """
    from omibench.client.spending_limit import read_budget
    from omibench.store.ledger.ledger import LEDGER, Account, Ledger

    study = show_study(params, override)
    cap, name = read_budget(study), study.study.name
    account, losses, settled = Account(0.0, 0.0, 0.0), [], []
    if (Path(study.study.store) / LEDGER).is_file():
        with Ledger(study.study.store, write=False) as ledger:
            account = ledger.account(name)
            losses, settled = ledger.list_losses(name), ledger.settlements(name)
    if as_json:
        document = {
            "study": name,
            "budget_usd": cap,
            **account._asdict(),
            "lost": [loss._asdict() for loss in losses],
            "settled": [settlement._asdict() for settlement in settled],
        }
        say_lines(json.dumps(document, indent=2))
        return
    say_lines("\n".join(_lines(name, cap, account, losses, settled)))


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
    from omibench.client.settle import settle_by_usage, settle_stated
    from omibench.cost.dollars import usd_text
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
    account: Account,
    losses: list[Loss],
    settled: list[Settlement],
) -> list[str]:
    import time

    from omibench.cost.dollars import usd_text
    from omibench.text.terminal import printable

    budget = "no budget is set"
    if cap is not None:
        left_usd = usd_text(max(0.0, cap - account.committed_usd))
        budget = f"{left_usd} of its budget of {usd_text(cap)} left"
    lines = [
        f"{printable(name)}: {usd_text(account.spent)} spent, {usd_text(account.unknown)} charged "
        f"for requests of unknown cost, {usd_text(account.reserved)} reserved for requests in "
        f"flight; {budget}"
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
