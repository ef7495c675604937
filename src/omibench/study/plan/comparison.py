"""After a run: the cost of each cell expected by the stated rules, next to the actual one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill

from omibench.models.cost import estimate, usd_text
from omibench.models.provider import group_calls
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.problem import FrozenModel
from omibench.store.store import Store
from omibench.study.plan.build import read_spent
from omibench.study.plan.plan import Spent, StudyView
from omibench.study.plan.text import choose_width, count, fit_table, pick_columns, table

HEAD = (
    "model", "setting", "responses", "input", "expected", "ratio", "output", "expected", "ratio",
    "dollars", "expected", "ratio",
)  # fmt: skip
_NARROW_COLUMNS = (0, 1, 2, *range(6, 12))


class Compared(FrozenModel):
    """The stored responses of one cell: counted and expected tokens and US dollars.

    If the provider did not count a value, it and its expectation are None, so that like is compared
    with like.
    """

    model: str
    setting: str
    responses: int
    input: float | None = None
    input_expected: float | None = None
    output: float | None = None
    output_expected: float | None = None
    usd: float | None = None
    usd_expected: float | None = None


class PlanComparison(FrozenModel):
    """Every cell of a study with responses, and the budget."""

    study: str
    cells: list[Compared]
    budget: Spent | None


def compare_study(study: Study, questions: Path) -> PlanComparison:
    """Compare each cell's stored responses with the expectation of the rules alone.

    Nothing is learned from the store here: this is the plan before the first answer. Raises as
    `plan_study` does.
    """
    with Store(study.study.store) as store:
        view = StudyView(study, questions, store)
        cells = [comparison for cell in study.cells if (comparison := _compare(view, cell))]
    return PlanComparison(study=study.study.name, cells=cells, budget=read_spent(study))


def _compare(view: StudyView, cell: Cell) -> Compared | None:
    pairs = view.find_stored(cell.model, view.list_turns(cell))
    if not pairs:
        return None
    model, provider = view.study.models[cell.model], view.open_provider(cell.model)
    expected = estimate(model, group_calls(provider, [request for request, _ in pairs]))
    usages = [response.usage for _, response in pairs]
    sent = _whole([usage.input_tokens for usage in usages])
    output = _whole([usage.output_tokens for usage in usages])
    usd = _whole([response.cost_usd for _, response in pairs])
    return Compared(
        model=cell.model,
        setting=cell.setting,
        responses=len(pairs),
        input=sent,
        input_expected=None if sent is None else expected.text + expected.images,
        output=output,
        output_expected=None if output is None else expected.output,
        usd=usd,
        usd_expected=None if usd is None else expected.usd,
    )


def _whole(values: Sequence[float | None]) -> float | None:
    """Return the sum, or None if a value is missing: a partial sum cannot be compared."""
    counted = [value for value in values if value is not None]
    return sum(counted) if len(counted) == len(values) else None


def render_comparison(comparison: PlanComparison, *, wide: bool = True) -> str:
    """Render the comparison as lines of text; the tokens of the input only if `wide`."""
    if not comparison.cells:
        return f"Study {comparison.study!r}: the store has no responses of it yet"
    width = choose_width(wide)
    rows = [_line(cell.model, cell.setting, cell) for cell in comparison.cells]
    total = _line("all", "", _total(comparison.cells))
    lines = [f"Study {comparison.study!r}: actual cost of its responses, and the expected one"]
    if wide:
        lines += table(HEAD, rows, total)
    else:
        head, total, *rows = (pick_columns(row, _NARROW_COLUMNS) for row in (HEAD, total, *rows))
        lines += fit_table(head, rows, total, width)
    if comparison.budget:
        b = comparison.budget
        budget = (
            f"Budget: {usd_text(b.cap_usd)}; {usd_text(b.spent_usd)} spent by all models and "
            f"judges, {usd_text(b.unknown_usd)} possibly billed, {usd_text(b.left_usd)} left"
        )
        lines.append(fill(budget, width, subsequent_indent="  "))
    return "\n".join(lines)


def _line(name: str, setting: str, cell: Compared) -> tuple[str, ...]:
    return (
        name, setting, f"{cell.responses:,}",
        *_pair(cell.input, cell.input_expected, count),
        *_pair(cell.output, cell.output_expected, count),
        *_pair(cell.usd, cell.usd_expected, usd_text),
    )  # fmt: skip


def _pair(
    actual: float | None, expected: float | None, show: Callable[[float], str]
) -> tuple[str, str, str]:
    if actual is None:
        return "unknown", "", ""
    if expected is None:
        return show(actual), "unknown", ""
    return show(actual), show(expected), f"{actual / expected:.2f}" if expected else ""


def _total(cells: Sequence[Compared]) -> Compared:
    """Return the sums over the cells that have both numbers."""
    sums = dict[str, float]()
    for name in ("input", "output", "usd"):
        pairs = [(getattr(cell, name), getattr(cell, f"{name}_expected")) for cell in cells]
        if known := [pair for pair in pairs if None not in pair]:
            sums[name], sums[f"{name}_expected"] = map(sum, zip(*known, strict=True))
    return Compared(
        model="all", setting="", responses=sum(cell.responses for cell in cells), **sums
    )
