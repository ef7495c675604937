"""Cost of evaluating new models, and the remaining budget of the month."""

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
    """The remaining allowance: US dollars `left`, the limit that applies, and the resulting cap.

    `cap_usd` is the most that the study can have committed, as counted by the budget: `left_usd`
    more than now. Both are None without a limit.
    """

    left_usd: float | None
    cap_usd: float | None
    reason: str


class Priced(NamedTuple):
    """A candidate with its cost: requests to make, and US dollars expected and at most.

    `refused` is a one-line reason for not evaluating it now, or None.
    """

    candidate: ModelCandidate
    to_buy: int
    usd: float
    usd_most: float
    refused: str | None = None


def compute_allowance(study: Study, now: float) -> MonthlyAllowance:
    """Return what the study can still spend at a time (Unix time), by month and in total."""
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
    """Return the US dollars that the study has spent or reserved, from its ledger; else 0."""
    return read_account(study.study.store, study.study.name).committed_usd


def _read_spent(study: Study, month: str) -> float:
    if not (Path(study.study.store) / LEDGER).is_file():
        return 0.0
    with Ledger(study.study.store, write=False) as ledger:
        return ledger.sum_spending(study.study.name, month)


def choose_candidates(
    study: Study, candidates: Iterable[ModelCandidate], questions: Path, allowed: MonthlyAllowance
) -> list[Priced]:
    """Return the candidates with their cost, in order; refuse those that exceed the allowance.

    A candidate fits if its expected cost fits; while it runs, the budget keeps the worst case
    within the allowance. Raises as `plan_study`.
    """
    priced, left_usd = [], allowed.left_usd
    for candidate in candidates:
        rows = plan_study(replace_models(study, [candidate]), questions, papers=False).rows
        usd, usd_most, unknown = sum_dollars(rows)
        price = Priced(candidate, sum(row.to_buy for row in rows), usd, usd_most)
        refusal = _refusal(price, unknown, left_usd, allowed)
        priced.append(price._replace(refused=refusal))
        if left_usd is not None and refusal is None:
            left_usd -= usd
    return priced


def find_cut_off(study: Study, candidates: Iterable[ModelCandidate]) -> dict[str, str]:
    """Return the candidates whose evaluation the budget interrupted, with one line for each."""
    remarks = {}
    for candidate in candidates:
        cells = incomplete_cells(replace_models(study, [candidate]), ["budget_stop"])
        if cells:
            remarks[candidate.name] = (
                f"{candidate.name}: the budget ended before {sum(cells.values()):,} of its "
                "requests; responses so far are kept, and a later poll continues: raise "
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
        return f"{name}: {', '.join(unknown)} has no price, so no budget can be enforced; set one"
    if priced.usd > left_usd:
        is_part_used = left_usd != allowed.left_usd
        begun = f", of which this poll takes all but {usd_text(left_usd)}" if is_part_used else ""
        return (
            f"{name}: evaluating it is expected to cost {cost} (at most "
            f"{usd_text(priced.usd_most)}), but {allowed.reason}{begun}; nothing was added. Raise "
            "reevaluate.monthly_budget_usd or study.budget_usd, or wait for the next month"
        )
    return None
