"""Reservations of a budget: what passes, what is kept, and what a study's models are held to."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests import asks

from omibench.errors import ParamsError
from omibench.models.client.ask import StudyBudget, ask, open_budget, read_budget
from omibench.models.cost import worst_case
from omibench.models.provider import NO_BUDGET, Budget
from omibench.params.models.providers import OpenAIModel
from omibench.params.study import Study, parse_study
from omibench.schemas.request import (
    Request,
    Response,
)
from omibench.store.ledger import BudgetAccount, Ledger
from omibench.store.store import Store

PRICE = {"input": 1.0, "output": 10.0, "as_of": "2026-11-21"}
BLOCK: dict[str, Any] = {"provider": "openai", "id": "m", "key_env": "NO_KEY", "price": PRICE}
MODEL = OpenAIModel.model_validate(BLOCK)


def request(text: str = "abc", index: int = 0) -> Request:
    return asks.ask(text, index=index, problem=text, max_tokens=1000)


WORST = worst_case(MODEL, MODEL.price, [request()]) if MODEL.price else 0.0


def limit_to(folder: Path, cap: float) -> StudyBudget:
    assert MODEL.price is not None
    return StudyBudget(folder, BudgetAccount("study", "m", cap, 60), MODEL, MODEL.price)


class Sender:
    """A paid model: each answer costs a fifth of its worst case; `width` are in flight at once."""

    identity = {"provider": "sender", "id": "one"}
    simulated = False
    max_images = None

    def __init__(self, width: int = 4, lost: frozenset[str] = frozenset()) -> None:
        self.width, self.lost = width, lost
        self.paid = 0.0
        self.sent: list[str] = []

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        waiting, stopped = list(requests), False
        while waiting and not stopped:
            flying = []
            while waiting and len(flying) < self.width:
                ticket = budget.reserve([waiting[0]])
                if ticket is None:
                    stopped = True
                    break
                flying.append((waiting.pop(0), ticket))
            for asked, ticket in flying:
                self.sent.append(asked.tags.problem)
                self.paid += ticket.worst_usd / 5
                lost = asked.tags.problem in self.lost
                budget.settle(ticket, None if lost else ticket.worst_usd / 5)
                outcome = "provider_error" if lost else "answered"
                yield asked, Response(text="" if lost else "x", outcome=outcome)
        for asked in waiting:
            yield asked, Response(text="", outcome="budget_stop")


def outcomes(folder: Path, sender: Sender, budget: StudyBudget, count: int) -> list[str]:
    with Store(folder) as store:
        found = ask([request(f"{n:03}") for n in range(count)], sender, store, budget)
    return [response.outcome for response in found]


def test_the_worst_case_is_all_tokens_of_all_samples() -> None:
    price = MODEL.price
    assert price is not None
    one = worst_case(MODEL, price, [request("déjà vu")])
    assert one == pytest.approx((9 + 128 + 32 + 1000 * 10) / 1e6)
    two = worst_case(MODEL, price, [request("déjà vu"), request("déjà vu", index=1)])
    assert two - one == pytest.approx(1000 * 10 / 1e6)
    batch = OpenAIModel.model_validate({**BLOCK, "batch": True})
    assert worst_case(batch, price, [request("déjà vu")]) == pytest.approx(one / 2)


def test_reservations_of_one_process_do_not_end_its_run(tmp_path: Path) -> None:
    """Two worst cases fill the budget; what was sent costs a fifth, so eight answers fit."""
    budget, sender = limit_to(tmp_path, 2 * WORST), Sender()
    found = outcomes(tmp_path, sender, budget, 20)
    assert found.count("answered") == len(sender.sent) == 6
    assert found == ["answered"] * 6 + ["budget_stop"] * 14
    assert sender.paid == pytest.approx(budget.spending().spent)
    assert budget.spending().spent + WORST > 2 * WORST


def test_what_was_bought_is_kept_and_a_larger_budget_goes_on(tmp_path: Path) -> None:
    outcomes(tmp_path, Sender(), limit_to(tmp_path, 2 * WORST), 20)
    sender = Sender()
    found = outcomes(tmp_path, sender, limit_to(tmp_path, 100 * WORST), 20)
    assert set(found) == {"answered"}
    assert sender.sent == [f"{n:03}" for n in range(6, 20)]


def test_lost_answers_stay_charged(tmp_path: Path) -> None:
    budget = limit_to(tmp_path, 100 * WORST)
    outcomes(tmp_path, Sender(lost=frozenset({"003"})), budget, 5)
    assert budget.spending().unknown == pytest.approx(WORST, rel=1e-6)


def test_it_waits_for_others_whose_reservations_may_become_cheaper(tmp_path: Path) -> None:
    other = limit_to(tmp_path, 1.5 * WORST)
    ticket = other.reserve([request()])
    assert ticket is not None
    budget, sender = limit_to(tmp_path, 1.5 * WORST), Sender()
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.extend(outcomes(tmp_path, sender, budget, 1)))
    thread.start()
    time.sleep(0.4)
    assert thread.is_alive()
    other.settle(ticket, WORST / 10)
    thread.join(10)
    assert found == ["answered"]


def test_it_does_not_wait_for_the_dead(tmp_path: Path) -> None:
    over = BudgetAccount("study", "m", 1.5 * WORST, lease_s=-1)
    assert Ledger(tmp_path).reserve(over, WORST)
    assert outcomes(tmp_path, Sender(), limit_to(tmp_path, 1.5 * WORST), 1) == ["budget_stop"]


def in_flight(budget: StudyBudget, most: int = 50) -> int:
    """How many attempts the budget lets into flight before the first one ends."""
    return sum(budget.reserve([request()]) is not None for _ in range(most))


def test_a_process_that_dies_over_and_over_wastes_little(tmp_path: Path) -> None:
    cap = 100 * WORST
    assert in_flight(limit_to(tmp_path, cap)) == 50
    crashes = []
    for _ in range(10):
        with Ledger(tmp_path) as ledger:
            for number in held(ledger):
                ledger.settle(number, None)  # as `spending` does for a dead process
        crashes.append(in_flight(limit_to(tmp_path, cap)))
    assert crashes == [2] * 10


def test_the_circuit_breaker_closes_as_answers_come_in(tmp_path: Path) -> None:
    cap = 100 * WORST
    in_flight(limit_to(tmp_path, cap), 20)
    with Ledger(tmp_path) as ledger:
        for number in held(ledger):
            ledger.settle(number, None)
    budget = limit_to(tmp_path, cap)
    widths = []
    for _ in range(4):
        tickets = [t for _ in range(20) if (t := budget.reserve([request()]))]
        widths.append(len(tickets))
        for ticket in tickets:
            budget.settle(ticket, 0.0)
    assert widths[0] == 2
    assert all(1.7 * a <= b <= 2 * a for a, b in pairwise(widths)), widths


def held(ledger: Ledger) -> list[int]:
    rows = ledger._file.execute("SELECT id FROM attempt WHERE unknown=0").fetchall()
    return [number for (number,) in rows]


def study(tmp_path: Path, budget: float | None = 5.0, **model: Any) -> Study:
    own: dict[str, Any] = {"name": "s", "store": str(tmp_path / "store")}
    own |= {} if budget is None else {"budget_usd": budget}
    block = {k: v for k, v in {**BLOCK, **model}.items() if v is not None}
    return parse_study({"study": own, "models": {"m": block}}, "test")


def test_a_priced_model_under_a_budget_gets_a_gate(tmp_path: Path) -> None:
    with open_budget(study(tmp_path), "m") as budget:
        assert budget is not None
        assert budget.account == BudgetAccount("s", "m", 5.0, 660.0, False)
        assert budget.reserve([request()]) is not None
    with Ledger(tmp_path / "store") as ledger:
        assert ledger.spending("s").unknown == pytest.approx(WORST, rel=1e-6)


def test_a_batch_stays_reserved_when_its_process_ends(tmp_path: Path) -> None:
    with open_budget(study(tmp_path, batch=True), "m") as budget:
        assert budget is not None
        assert budget.reserve([request()]) is not None
    with Ledger(tmp_path / "store") as ledger:
        assert ledger.spending("s").reserved == pytest.approx(WORST / 2, rel=1e-6)


def test_snakemake_hands_the_budget_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = study(tmp_path, budget=None)
    monkeypatch.setenv("OMIBENCH_BUDGET_USD", "2.5")
    assert read_budget(bare) == 2.5
    assert read_budget(study(tmp_path)) == 2.5, "of two budgets the smaller holds"
    monkeypatch.setenv("OMIBENCH_BUDGET_USD", "10")
    assert read_budget(study(tmp_path)) == 5.0
    for wrong in ("much", "-1", "nan", "inf", "1e300"):
        monkeypatch.setenv("OMIBENCH_BUDGET_USD", wrong)
        with pytest.raises(ParamsError, match="must be an amount of US dollars"):
            read_budget(bare)
