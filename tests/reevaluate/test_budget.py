"""What is left of a month and of a study, and which new models fit into it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.reevaluate.conftest import TEMPLATE, watching

from omibench.params.study import Study
from omibench.schemas.tables import ResponseRow, write_parquet
from omibench.store.ledger import BudgetAccount, Ledger, format_month
from omibench.study.reevaluate.candidates import find_new_models
from omibench.study.reevaluate.changes import (
    MonthlyAllowance,
    choose_candidates,
    compute_allowance,
    find_cut_off,
    read_committed,
)
from omibench.study.reevaluate.costs import (
    COSTS,
    describe_growth,
    describe_month,
    read_costs,
    sum_costs,
    write_costs,
)

NOVEMBER = 1_794_000_000.0


def capped(folder: Path, monthly: float | None, total: float | None, **study: str) -> Study:
    watch = {"kind": "endpoint", "match": ["new-*"], "model": TEMPLATE}
    return watching(
        study={"name": "s", "store": str(folder), "budget_usd": total, **study},
        reevaluate={"watch": {"lab": watch}, "monthly_budget_usd": monthly},
    )


def spend(
    folder: Path, usd: float, now: float, patch: pytest.MonkeyPatch, model: str = "m", by: str = "s"
) -> None:
    patch.setattr("omibench.store.ledger.time.time", lambda: now)
    with Ledger(folder) as ledger:
        attempt = ledger.reserve(BudgetAccount(by, model, 1e6, 60), usd)
        ledger.settle(attempt.id, usd)


def test_without_a_budget_nothing_limits(tmp_path: Path) -> None:
    assert compute_allowance(capped(tmp_path, None, None), NOVEMBER)[:2] == (None, None)
    assert read_committed(capped(tmp_path, 1.0, None)) == 0


def test_a_new_month_begins_with_its_whole_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = capped(tmp_path, 10.0, None)
    spend(tmp_path, 4.0, NOVEMBER, monkeypatch)
    spend(tmp_path, 2.5, NOVEMBER, monkeypatch)
    left = compute_allowance(study, NOVEMBER)
    assert left.left_usd == pytest.approx(3.5)
    assert left.cap_usd == pytest.approx(10.0)
    assert left.reason == f"$3.50 of the $10.00 for {format_month(NOVEMBER)} are left"
    december = compute_allowance(study, NOVEMBER + 30 * 86400)
    assert december.left_usd == pytest.approx(10.0)
    assert december.cap_usd == pytest.approx(16.5), "what the study may have spent in all by then"


def test_the_smaller_of_month_and_study_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(tmp_path, 4.0, NOVEMBER, monkeypatch)
    left = compute_allowance(capped(tmp_path, 10.0, 5.0), NOVEMBER)
    assert left.left_usd == pytest.approx(1.0)
    assert left.cap_usd == pytest.approx(5.0)
    assert left.reason == "$1.00 of the study's $5.00 are left"
    assert compute_allowance(capped(tmp_path, 3.0, 5.0), NOVEMBER).left_usd == 0


def test_what_is_expected_must_fit_and_the_first_come_first(
    tmp_path: Path, questions: Path
) -> None:
    study = capped(tmp_path / "store", 1.0, None)
    found = find_new_models(study, {"lab": ["new-1", "new-2", "new-3"]})
    free = choose_candidates(study, found, questions, MonthlyAllowance(None, None, ""))
    assert [p.refused for p in free] == [None] * 3
    assert {p.to_buy for p in free} == {20}
    each = free[0].usd
    assert 0 < each < free[0].usd_most
    told = choose_candidates(
        study, found, questions, MonthlyAllowance(2.5 * each, 2.5 * each, "$9 are left")
    )
    assert [p.refused is None for p in told] == [True, True, False]
    why = told[2].refused or ""
    assert why.startswith("new-3: evaluating it is expected to cost $")
    assert "$9 are left, of which this poll takes all but $" in why
    assert "nothing was added" in why
    assert "\n" not in why


@pytest.mark.parametrize(
    ("outcomes", "stopped"),
    [
        (["answered", "provider_error"], False),  # no budget mends what an endpoint refuses
        (["answered", "budget_stop"], True),
    ],
)
def test_a_model_is_cut_off_when_a_budget_ended_one_of_its_cells(
    tmp_path: Path, outcomes: list[str], stopped: bool
) -> None:
    study = watching(study={"name": "s", "results": str(tmp_path)})
    found = find_new_models(study, {"lab": ["new-1", "new-2"]})
    for model in ("new-1", "old"):
        rows = [
            ResponseRow(id=str(n), index=0, key="k", outcome=outcome, text="")
            for n, outcome in enumerate(outcomes if model == "new-1" else ["budget_stop"])
        ]
        write_parquet(tmp_path / "infer" / model / "cot.parquet", rows, ResponseRow)
    cut = find_cut_off(study, found)
    assert list(cut) == ["new-1"] * stopped
    for line in cut.values():
        assert line.startswith("new-1: the budget ended before 1 of its requests")
        assert "\n" not in line


# The costs of a study by month and model.


DAY = 86400


def test_costs_are_those_of_the_ledger_by_month_and_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = capped(tmp_path / "store", 10.0, None, results=str(tmp_path / "results"))
    assert read_costs(study) == {}
    for model, usd, days in (("a", 1.0, 0), ("b", 2.0, 0), ("a", 0.25, 1), ("a", 4.0, 31)):
        spend(tmp_path / "store", usd, NOVEMBER + days * DAY, monkeypatch, model)
    spend(tmp_path / "store", 7.0, NOVEMBER + 31 * DAY, monkeypatch, "a", by="another")
    monkeypatch.undo()
    costs = read_costs(study)
    months = sorted({month for month, _ in costs})
    assert [round(usd, 6) for usd in costs.values()] == [1.25, 2.0, 4.0]
    assert sum_costs(study) == pytest.approx({"a": 5.25, "b": 2.0})
    assert describe_month(costs, months[0]) == f"$3.25 in {months[0]}: b $2.00, a $1.25"
    text = write_costs(study)
    assert (tmp_path / "results" / COSTS).read_text() == text
    assert "Monthly budget: $10.00." in text
    newest, oldest = text.index(f"| {months[1]} | all | $4.00 |"), text.index(f"| {months[0]} |")
    assert newest < oldest


def test_what_each_model_has_cost_in_between() -> None:
    grown = describe_growth({"a": 1.0, "c": 3.0}, {"a": 1.5, "b": 2.0, "c": 3.0 + 1e-9})
    assert grown == ["By model: $0.5 for `a`, $2.00 for `b`"]
    assert describe_growth({"a": 1.0}, {"a": 1.0}) == []
