"""What is left of a month and of a study, and which new models fit into it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.reevaluate.conftest import TEMPLATE, watching

from omibench.params.study import Study
from omibench.schemas.problem import Question
from omibench.schemas.tables import ResponseRow, write_jsonl, write_parquet
from omibench.store.ledger import BudgetAccount, Ledger, format_month
from omibench.study.reevaluate.candidates import find_new_models
from omibench.study.reevaluate.changes import (
    MonthlyAllowance,
    choose_candidates,
    compute_allowance,
    find_cut_off,
    read_committed,
)

NOVEMBER = 1_794_000_000.0


def capped(folder: Path, monthly: float | None, total: float | None) -> Study:
    watch = {"kind": "endpoint", "match": ["new-*"], "model": TEMPLATE}
    return watching(
        study={"name": "s", "store": str(folder), "budget_usd": total},
        reevaluate={"watch": {"lab": watch}, "monthly_budget_usd": monthly},
    )


def spend(folder: Path, usd: float, now: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omibench.store.ledger.time.time", lambda: now)
    with Ledger(folder) as ledger:
        attempt = ledger.reserve(BudgetAccount("s", "m", 1e6, 60), usd)
        assert attempt is not None
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


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    write_jsonl(path, [Question(id=str(n), question=f"What is {n}?") for n in range(10)])
    return path


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
