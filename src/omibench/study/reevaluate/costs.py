"""The costs of a study by month and model, from its ledger."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from omibench.models.cost import usd_text
from omibench.params.study import Study
from omibench.schemas.tables import write_text
from omibench.store.ledger import LEDGER, Ledger

COSTS = Path("reevaluate/costs.md")
TINY_USD = 1e-6
"""Sums that differ by less are equal but for rounding."""
Costs = Mapping[tuple[str, str], float]
"""(month, model) -> US dollars."""


def read_costs(study: Study) -> Costs:
    """Return the US dollars of every month and model; empty without a ledger.

    A ledger exists only for spending under a budget.
    """
    if not (Path(study.study.store) / LEDGER).is_file():
        return {}
    with Ledger(study.study.store, write=False) as ledger:
        return ledger.spent_by_month(study.study.name)


def sum_costs(study: Study) -> dict[str, float]:
    """Return the US dollars that the study has spent on each model."""
    sums: dict[str, float] = {}
    for (_, model), usd in read_costs(study).items():
        sums[model] = sums.get(model, 0.0) + usd
    return sums


def format_costs(study: Study, costs: Costs) -> str:
    """Return the report of the costs as Markdown, the newest month first."""
    months = sorted({month for month, _ in costs}, reverse=True)
    limit = study.reevaluate.monthly_budget_usd
    lines = [f"# Costs of {study.study.title or study.study.name}", ""]
    lines.append(
        f"Monthly budget: {usd_text(limit)}." if limit is not None else "No monthly budget is set."
    )
    lines += ["", "| month (UTC) | model | US dollars |", "|---|---|---|"]
    for month in months:
        models = {model: usd for (m, model), usd in costs.items() if m == month}
        lines.append(f"| {month} | all | {usd_text(sum(models.values()))} |")
        lines += [f"| {month} | `{model}` | {usd_text(usd)} |" for model, usd in models.items()]
    return "\n".join([*lines, ""])


def describe_month(costs: Costs, month: str) -> str:
    """Return one line about a month: its sum, and the models by cost."""
    models = {model: usd for (m, model), usd in costs.items() if m == month}
    ranked = sorted(models.items(), key=lambda item: -item[1])
    parts = ", ".join(f"{model} {usd_text(usd)}" for model, usd in ranked)
    return f"{usd_text(sum(models.values()))} in {month}" + (f": {parts}" if parts else "")


def describe_growth(before: Mapping[str, float], after: Mapping[str, float]) -> list[str]:
    """Return one line on what each model has cost between two sums; none if nothing."""
    grown = {name: usd - before.get(name, 0.0) for name, usd in after.items()}
    parts = [f"{usd_text(usd)} for `{name}`" for name, usd in grown.items() if usd > TINY_USD]
    return [f"By model: {', '.join(parts)}"] if parts else []


def write_costs(study: Study) -> str:
    """Write the report into the results folder and return it."""
    text = format_costs(study, read_costs(study))
    write_text(Path(study.study.results) / COSTS, text)
    return text
