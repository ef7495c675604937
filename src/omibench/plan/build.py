"""From a study to its plan. Sends nothing and changes nothing."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from omibench.ask import NOT_BOUGHT, to_buy
from omibench.cost.estimate import estimate
from omibench.cost.history import NO_HISTORY
from omibench.gate import budget_of
from omibench.models.calls import calls_of
from omibench.plan.desk import Desk
from omibench.plan.judge import judge_rows
from omibench.plan.power import DISCORDANT, detectable, effective_size
from omibench.plan.rows import Plan, Power, Row, Spent, facts_of
from omibench.request import Outcome
from omibench.store.ledger import LEDGER, Ledger
from omibench.store.store import Store
from omibench.study import Cell, Study


def plan_study(study: Study, questions: Path) -> Plan:
    """Plan every cell of a study over the frozen questions: requests, tokens, dollars, hours.

    Raises MissingInputError when the frozen dataset `questions` is not there yet, and ModelError
    for a model that contradicts itself.
    """
    with Store(study.study.store) as store:
        desk = Desk(study, questions, store)
        rows = []
        for cell in study.cells:
            row = respondent_row(desk, cell)
            rows += [row, *judge_rows(desk, cell, row)]
        return Plan(
            study=study.study.name,
            rows=rows,
            power=_power(desk),
            budget=spent_of(study),
            incomplete=incomplete_cells(study),
        )


def respondent_row(desk: Desk, cell: Cell) -> Row:
    """What a cell asks of its model."""
    requests = desk.requests(cell)
    missing = to_buy(requests, desk.partition(cell.model))
    model, provider = desk.study.models[cell.model], desk.provider(cell.model)
    history = desk.history(cell.model, requests) if missing else NO_HISTORY
    return Row(
        role="respondent",
        model=cell.model,
        cell_model=cell.model,
        setting=cell.setting,
        requests=len(requests),
        stored=len(requests) - len(missing),
        to_buy=len(missing),
        shown=sum(len(request.conversation.images) for request in missing),
        estimate=estimate(model, calls_of(provider, missing), history),
        learned_from=history.responses,
        **facts_of(model, provider.simulated),
    )


def spent_of(study: Study) -> Spent | None:
    """The study's budget and what is gone of it; None without one."""
    cap = budget_of(study)
    if cap is None:
        return None
    if not (Path(study.study.store) / LEDGER).is_file():
        return Spent(cap_usd=cap, spent_usd=0.0, unknown_usd=0.0, reserved_usd=0.0)
    with Ledger(study.study.store) as ledger:
        spent, unknown, reserved = ledger.account(study.study.name)
    return Spent(cap_usd=cap, spent_usd=spent, unknown_usd=unknown, reserved_usd=reserved)


def _power(desk: Desk) -> Power | None:
    groups = [question.group for question in desk.asked.values()]
    if len(desk.study.cells) < 2 or not groups:
        return None
    effective = effective_size(groups)
    found = {share: detectable(effective, share) for share in DISCORDANT}
    return Power(
        problems=len(groups),
        effective=effective,
        difference={s: d if d <= 1 else None for s, d in found.items()},
    )


def incomplete_cells(study: Study, lacking: Collection[Outcome] = NOT_BOUGHT) -> dict[str, int]:
    """The files of cells that were written lacking answers, and how many each of them lacks.

    `lacking` are the outcomes that count.
    """
    import polars as pl

    found = {}
    for model, setting in study.cells:
        path = Path(study.study.results) / "infer" / model / f"{setting}.parquet"
        if path.is_file():
            outcomes = pl.read_parquet(path, columns=["outcome"])["outcome"]
            if count := int(outcomes.is_in(list(lacking)).sum()):
                found[path.as_posix()] = count
    return found
