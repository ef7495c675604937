"""The costs of a study by month and model."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.reevaluate.conftest import TEMPLATE, watching

from omibench.store.ledger import BudgetAccount, Ledger
from omibench.study.reevaluate.costs import (
    COSTS,
    describe_growth,
    describe_month,
    read_costs,
    sum_costs,
    write_costs,
)

NOVEMBER = 1_794_000_000.0
DAY = 86400


def test_costs_are_those_of_the_ledger_by_month_and_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = watching(
        study={"name": "s", "store": str(tmp_path / "store"), "results": str(tmp_path / "results")},
        reevaluate={
            "monthly_budget_usd": 10.0,
            "watch": {"lab": {"kind": "endpoint", "match": ["new-*"], "model": TEMPLATE}},
        },
    )
    assert read_costs(study) == {}
    with Ledger(tmp_path / "store") as ledger:
        for model, usd, days in (("a", 1.0, 0), ("b", 2.0, 0), ("a", 0.25, 1), ("a", 4.0, 31)):
            monkeypatch.setattr(
                "omibench.store.ledger.time.time", lambda d=days: NOVEMBER + d * DAY
            )
            attempt = ledger.reserve(BudgetAccount("s", model, 1e6, 60), usd)
            assert attempt is not None
            ledger.settle(attempt.id, usd)
        other = ledger.reserve(BudgetAccount("another", "a", 1e6, 60), 7.0)
        assert other is not None
        ledger.settle(other.id, 7.0)
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
