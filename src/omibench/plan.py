"""What a study would ask, before anything is sent: requests by cell, and what the store holds."""

from __future__ import annotations

from pathlib import Path

from omibench.ask import to_buy
from omibench.infer.stage import provider_of, requests_of
from omibench.problem import Noun
from omibench.store.store import Store
from omibench.study import Cell, Study


class CellPlan(Noun):
    """One cell: its requests, those already answered, those to send and the images with them."""

    model: str
    setting: str
    requests: int
    stored: int
    to_buy: int
    images: int
    judge_requests: int = 0
    """Judgements that its responses need at most; some may be in the store already."""
    simulated: bool = False


class Plan(Noun):
    """Every cell of a study. Totals are sums over the cells."""

    study: str
    judge: str | None
    cells: list[CellPlan]

    def total(self, column: str) -> int:
        """The sum of a numeric column of `CellPlan`."""
        return sum(getattr(cell, column) for cell in self.cells)


def plan_study(study: Study, questions: Path) -> Plan:
    """Count the requests of every cell. Sends nothing and changes no response.

    Raises MissingInputError when the frozen dataset `questions` is not there yet.
    """
    with Store(study.study.store) as store:
        cells = [_cell(study, questions, cell, store) for cell in study.cells]
    return Plan(study=study.study.name, judge=study.score.judge, cells=cells)


def render(plan: Plan) -> str:
    """The plan as a table of plain text, totals in its last line."""
    head = ("model", "setting", "requests", "stored", "to buy", "images", "judge (at most)")
    columns = ("requests", "stored", "to_buy", "images", "judge_requests")
    rows = [
        (cell.model, cell.setting, *(f"{getattr(cell, column):,}" for column in columns))
        for cell in plan.cells
    ]
    rows.append(("all", "", *(f"{plan.total(column):,}" for column in columns)))
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = [
        "  ".join(
            text.ljust(width) if i < 2 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]
    rule = "-" * max(len(line) for line in lines)
    title = f"Plan of the study {plan.study!r}"
    judged = f"judge: {plan.judge}" if plan.judge else "no judge"
    note = "SIMULATED models cost nothing." if any(c.simulated for c in plan.cells) else ""
    body = [title, rule, lines[0], rule, *lines[1:-1], rule, lines[-1], rule, judged, note]
    return "\n".join(line for line in body if line)


def _cell(study: Study, questions: Path, cell: Cell, store: Store) -> CellPlan:
    provider = provider_of(study, cell.model)
    requests = requests_of(questions, study, cell, provider)
    missing = to_buy(requests, store.open_partition(provider.identity))
    return CellPlan(
        model=cell.model,
        setting=cell.setting,
        requests=len(requests),
        stored=len(requests) - len(missing),
        to_buy=len(missing),
        images=sum(len(request.conversation.images) for request in missing),
        judge_requests=len(requests) if study.score.judge else 0,
        simulated=provider.simulated,
    )
