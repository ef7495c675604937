"""What evaluating new models costs, and what is left of the month's budget for it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from omibench.client.spending_limit import read_account, read_budget
from omibench.cost.dollars import usd_text
from omibench.params.study import Study
from omibench.plan.build import incomplete_cells, plan_study
from omibench.plan.rows import sum_dollars
from omibench.reevaluate.candidates import ModelCandidate, replace_models
from omibench.store.ledger.ledger import LEDGER, Ledger, format_month


class MonthlyAllowance(NamedTuple):
    """What may still be spent: US dollars `left`, of which cap, and the study's total then.

    `cap_usd` is what the study may have committed at most, as the budget counts it: `left_usd` more
    than now. Both are None when nothing limits it.
    """

    left_usd: float | None
    cap_usd: float | None
    reason: str


class Priced(NamedTuple):
    """A candidate with what it asks: requests to buy, US dollars expected and at most.

    `refused` says in one line why it is not evaluated now; None when it is.
    """

    candidate: ModelCandidate
    to_buy: int
    usd: float
    usd_most: float
    refused: str | None = None


def compute_allowance(study: Study, now: float) -> MonthlyAllowance:
    """What the study may still spend at a moment (Unix time): of its month, and of its budget."""
    monthly, total = study.reevaluate.monthly_budget_usd, read_budget(study)
    if monthly is None and total is None:
        return MonthlyAllowance(None, None, "no budget is set")
    month = format_month(now)
    spent, committed_usd = _read_spent(study, month), read_committed(study)
    left_by_limit = {}
    if monthly is not None:
        left_by_limit[f"of the {usd_text(monthly)} for {month}"] = max(0.0, monthly - spent)
    if total is not None:
        left_by_limit[f"of the study's {usd_text(total)}"] = max(0.0, total - committed_usd)
    limit, left_usd = min(left_by_limit.items(), key=lambda pair: pair[1])
    return MonthlyAllowance(
        left_usd, committed_usd + left_usd, f"{usd_text(left_usd)} {limit} are left"
    )


def read_committed(study: Study) -> float:
    """US dollars that the study has spent or reserved, as its ledger knows; 0 without one."""
    return read_account(study.study.store, study.study.name).committed_usd


def _read_spent(study: Study, month: str) -> float:
    if not (Path(study.study.store) / LEDGER).is_file():
        return 0.0
    with Ledger(study.study.store, write=False) as ledger:
        return ledger.sum_spending(study.study.name, month)


def choose_candidates(
    study: Study, candidates: Iterable[ModelCandidate], questions: Path, allowed: MonthlyAllowance
) -> list[Priced]:
    """Each candidate with its price, in order; those that do not fit any more are refused.

    A candidate fits when what is expected of it fits; while it runs, the budget holds the worst
    case within the allowance. Raises as `plan_study` does.
    """
    priced, left_usd = [], allowed.left_usd
    for candidate in candidates:
        rows = plan_study(replace_models(study, [candidate]), questions).rows
        usd, usd_most, unknown = sum_dollars(rows)
        price = Priced(candidate, sum(row.to_buy for row in rows), usd, usd_most)
        refusal = _refusal(price, unknown, left_usd, allowed)
        priced.append(price._replace(refused=refusal))
        if left_usd is not None and refusal is None:
            left_usd -= usd
    return priced


def find_cut_off(study: Study, candidates: Iterable[ModelCandidate]) -> dict[str, str]:
    """The candidates whose evaluation a budget ended in the middle, and one line about each."""
    remarks = {}
    for candidate in candidates:
        cells = incomplete_cells(replace_models(study, [candidate]), ["budget_stop"])
        if cells:
            remarks[candidate.name] = (
                f"{candidate.name}: the budget ended before {sum(cells.values()):,} of its "
                "requests; what was bought is kept, and a look with more to spend goes on: raise "
                "reevaluate.monthly_budget_usd or study.budget_usd, or wait for the next month"
            )
    return remarks


def _refusal(
    priced: Priced, unknown: list[str], left_usd: float | None, allowed: MonthlyAllowance
) -> str | None:
    if left_usd is None:
        return None
    name, cost = priced.candidate.name, usd_text(priced.usd)
    if unknown:
        return f"{name}: {', '.join(unknown)} has no price, so no budget can hold: give it one"
    if priced.usd > left_usd:
        is_part_used = left_usd != allowed.left_usd
        begun = f", of which this poll takes all but {usd_text(left_usd)}" if is_part_used else ""
        return (
            f"{name}: evaluating it is expected to cost {cost} (at most "
            f"{usd_text(priced.usd_most)}), and {allowed.reason}{begun}; nothing was added. Raise "
            "reevaluate.monthly_budget_usd or study.budget_usd, or wait for the next month"
        )
    return None
