"""From a study to its plan. Sends nothing and changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from omibench.ask import NOT_BOUGHT, to_buy
from omibench.cost.estimate import estimate
from omibench.cost.history import NO_HISTORY
from omibench.gate import budget_of
from omibench.models.calls import calls_of
from omibench.plan.desk import Desk, Step, steps_of
from omibench.plan.judge import judge_rows
from omibench.plan.power import DISCORDANT, detectable, effective_size
from omibench.plan.rows import Plan, Power, Row, Spent, facts_of
from omibench.plan.saliency import saliency_steps
from omibench.request import Outcome, Role
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
        rows: list[Row] = []
        helped: dict[tuple[str, Role], dict[str, Step]] = {}
        for cell in study.cells:
            paths = desk.paths(cell)
            steps = list(steps_of(paths))
            row = respondent_row(desk, cell, steps)
            rows += [row, *judge_rows(desk, cell, row)]
            if cell in study.salient_cells:
                looked = list(saliency_steps(desk, cell, paths))
                rows.append(asked_row(desk, cell.model, "scorer", looked, cell))
            for step in steps:
                if step.role != "respondent":
                    helped.setdefault((step.model, step.role), {})[step.key] = step
        for (model, role), found in helped.items():
            rows.append(asked_row(desk, model, role, list(found.values())))
        return Plan(
            study=study.study.name,
            rows=rows,
            power=_power(desk),
            budget=spent_of(study),
            incomplete=incomplete_cells(study),
            building=building_models(study),
        )


def building_models(study: Study) -> dict[str, list[str]]:
    """The models that stages before the freeze ask, by stage; none where nothing is built."""
    written = study.rationale
    named = {
        "filter": study.filter.models,
        "rationale": [n for n in (written.writer, written.labeller) if n],
    }
    made = study.benchmark.name == "papers"
    return {stage: list(dict.fromkeys(names)) for stage, names in named.items() if names and made}


def respondent_row(desk: Desk, cell: Cell, steps: Sequence[Step]) -> Row:
    """What a cell asks of its model."""
    own = [step for step in steps if step.role == "respondent"]
    return asked_row(desk, cell.model, "respondent", own, cell)


def asked_row(
    desk: Desk, name: str, role: Role, steps: Sequence[Step], cell: Cell | None = None
) -> Row:
    """What a model is asked in a role, in one cell or in all."""
    requests = [step.request for step in steps]
    missing = to_buy(requests, desk.partition(name))
    model, provider = desk.study.models[name], desk.provider(name)
    history = desk.history(name, requests) if missing else NO_HISTORY
    return Row(
        role=role,
        model=name,
        cell_model=cell.model if cell else "",
        setting=cell.setting if cell else "",
        requests=len(requests),
        stored=len(requests) - len(missing),
        to_buy=len(missing),
        estimated=sum(step.guessed for step in steps),
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
