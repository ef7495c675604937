"""The ledger: reserved before, settled after, never over the cap, whoever dies."""

from __future__ import annotations

import multiprocessing
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omibench.errors import StoreError
from omibench.store.ledger import BudgetAccount, Ledger, format_month
from omibench.store.segments import read_process_start

ACCOUNT = BudgetAccount("study", "model", cap_usd=1.0, lease_s=60)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path) as opened:
        yield opened


def test_an_attempt_is_reserved_then_settled(ledger: Ledger) -> None:
    attempt = ledger.reserve(ACCOUNT, 0.6)
    assert attempt is not None
    assert ledger.spending("study") == (0, 0, 0.6)
    ledger.settle(attempt.id, 0.25)
    assert ledger.spending("study") == (0.25, 0, 0)


def test_what_the_cap_does_not_hold_is_refused(ledger: Ledger) -> None:
    first = ledger.reserve(ACCOUNT, 0.6)
    assert first is not None
    assert ledger.reserve(ACCOUNT, 0.41) is None
    assert ledger.reserve(ACCOUNT, 0.4) is not None
    assert ledger.spending("study").committed_usd == pytest.approx(1.0)
    ledger.give_back(first.id)
    assert ledger.reserve(ACCOUNT, 0.6) is not None


def test_studies_have_budgets_of_their_own_and_models_share_one(ledger: Ledger) -> None:
    assert ledger.reserve(ACCOUNT, 0.9)
    assert ledger.reserve(ACCOUNT._replace(model="judge"), 0.2) is None
    assert ledger.reserve(ACCOUNT._replace(study="other"), 0.9)


def test_an_unknown_outcome_stays_charged_until_it_is_learned(ledger: Ledger) -> None:
    attempt = ledger.reserve(ACCOUNT, 0.6)
    assert attempt is not None
    ledger.settle(attempt.id, None)
    assert ledger.spending("study") == (0, 0.6, 0)
    assert ledger.reserve(ACCOUNT, 0.5) is None
    ledger.settle(attempt.id, 0.1)
    assert ledger.spending("study") == (0.1, 0, 0)


def test_nothing_is_settled_twice(ledger: Ledger) -> None:
    attempt = ledger.reserve(ACCOUNT, 0.6)
    assert attempt is not None
    ledger.settle(attempt.id, 0.1)
    with pytest.raises(ValueError, match="already settled or given back"):
        ledger.settle(attempt.id, 0.1)
    with pytest.raises(ValueError, match="already settled or given back"):
        ledger.give_back(attempt.id)
    assert ledger.spending("study").spent == 0.1


def test_a_model_that_costs_more_than_its_worst_case_is_reserved_dearer(ledger: Ledger) -> None:
    attempt = ledger.reserve(ACCOUNT, 0.1)
    assert attempt is not None
    ledger.settle(attempt.id, 0.2)
    again = ledger.reserve(ACCOUNT, 0.1)
    assert again is not None
    assert again.worst_usd == pytest.approx(0.2)
    ledger.settle(again.id, 0.15)
    third = ledger.reserve(ACCOUNT, 0.1)
    assert third is not None
    assert third.worst_usd == pytest.approx(0.2)


def test_a_lease_that_is_over_stays_charged(ledger: Ledger) -> None:
    assert ledger.reserve(ACCOUNT._replace(lease_s=-1), 0.6)
    assert ledger.spending("study") == (0, 0.6, 0)


def test_a_batch_outlives_its_process_and_is_settled_by_a_later_one(tmp_path: Path) -> None:
    with Ledger(tmp_path) as first:
        attempt = first.reserve(ACCOUNT._replace(outlives=True), 0.6)
    assert attempt is not None
    with Ledger(tmp_path) as later:
        assert later.spending("study") == (0, 0, 0.6)
        later.settle(attempt.id, 0.3)
        assert later.spending("study") == (0.3, 0, 0)


def test_the_dead_leave_their_reservations_charged(ledger: Ledger) -> None:
    code = (
        "import os, signal, sys; from omibench.store.ledger import Ledger, BudgetAccount\n"
        "account = BudgetAccount('study', 'model', 1.0, 60)\n"
        "assert Ledger(sys.argv[1]).reserve(account, 0.6); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(ledger.path.parent)], check=False)
    assert done.returncode == -9
    assert ledger.reserve(ACCOUNT, 0.5) is None
    assert ledger.spending("study") == (0, 0.6, 0)


def test_a_process_number_used_again_is_no_disguise() -> None:
    own = read_process_start(os.getpid())
    assert own is not None
    assert read_process_start(os.getpid()) == own
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    while read_process_start(child.pid) is not None:  # a zombie is dead too
        pass
    child.wait()
    assert read_process_start(child.pid) is None


def test_threads_share_a_ledger_and_never_pass_the_cap(ledger: Ledger) -> None:
    def buy(_: int) -> float:
        attempt = ledger.reserve(ACCOUNT, 0.07)
        if attempt is None:
            return 0.0
        ledger.settle(attempt.id, 0.05)
        return 0.05

    with ThreadPoolExecutor(8) as pool:
        paid = sum(pool.map(buy, range(60)))
    assert paid == pytest.approx(ledger.spending("study").spent)
    assert 0.9 <= paid <= 1.0


def spend(folder: str, seed: int) -> float:
    rng, paid = random.Random(seed), 0.0
    with Ledger(folder) as ledger:
        for _ in range(60):
            worst = rng.uniform(0.01, 0.05)
            attempt = ledger.reserve(ACCOUNT, worst)
            if attempt is not None:
                cost = worst * rng.random()
                ledger.settle(attempt.id, cost)
                paid += cost
    return paid


@pytest.mark.slow
def test_processes_share_one_cap(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        paid = sum(pool.starmap(spend, [(str(tmp_path), seed) for seed in range(3)]))
    with Ledger(tmp_path) as ledger:
        assert ledger.spending("study").spent == pytest.approx(paid)
    assert 0.9 < paid <= 1.0


Step = st.tuples(st.sampled_from(["reserve", "settle", "lose", "give"]), st.floats(0, 0.5))


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(Step, max_size=25))
def test_the_cap_holds_after_any_history(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, float]]
) -> None:
    flying: list[tuple[int, float]] = []
    with Ledger(tmp_path_factory.mktemp("ledger")) as ledger:
        for action, size in steps:
            if action == "reserve":
                attempt = ledger.reserve(ACCOUNT, size)
                flying += [attempt] if attempt else []
            elif flying:
                number, worst = flying.pop()
                if action == "give":
                    ledger.give_back(number)
                else:
                    ledger.settle(number, min(size, worst) if action == "settle" else None)
            assert ledger.spending("study").committed_usd <= 1.0 + 1e-9


def test_a_broken_ledger_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite3").write_bytes(b"no database at all, " * 100)
    with pytest.raises(StoreError, match=r"ledger\.sqlite3: the ledger cannot be opened"):
        Ledger(tmp_path)


def test_the_ledger_needs_no_shared_memory(ledger: Ledger) -> None:
    with sqlite3.connect(ledger.path) as file:
        assert file.execute("PRAGMA journal_mode").fetchone() != ("wal",)
    assert not ledger.path.with_name("ledger.sqlite3-shm").exists()


def test_a_month_counts_what_was_committed_since_it_began(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    october, november = 1_791_000_000.0, 1_794_000_000.0
    assert [format_month(october), format_month(november)] == ["2026-10", "2026-11"]
    account = ACCOUNT._replace(cap_usd=10.0, lease_s=1e9)
    monkeypatch.setattr("omibench.store.ledger.time.time", lambda: october)
    assert ledger.sum_spending("study", "2026-10") == 0, "no attempt was made yet"
    for cost in (0.5, None):
        attempt = ledger.reserve(account, 0.75)
        assert attempt is not None
        ledger.settle(attempt.id, cost)
    flying = ledger.reserve(account, 0.2)
    assert flying is not None
    assert ledger.sum_spending("study", "2026-10") == pytest.approx(1.45)
    monkeypatch.setattr("omibench.store.ledger.time.time", lambda: november)
    assert ledger.sum_spending("study", "2026-11") == 0
    attempt = ledger.reserve(account, 0.3)
    assert attempt is not None
    ledger.settle(attempt.id, 0.1)
    assert ledger.sum_spending("study", "2026-11") == pytest.approx(0.1 + 0.2), "in flight: in both"
    ledger.give_back(flying.id)
    assert ledger.sum_spending("study", "2026-11") == pytest.approx(0.1)
    assert ledger.sum_spending("other", "2026-11") == 0


def test_a_ledger_of_before_months_is_read_on(tmp_path: Path) -> None:
    with Ledger(tmp_path) as old:
        assert old.reserve(ACCOUNT, 0.25)
        old._file.execute("DROP TABLE month")
    with Ledger(tmp_path) as new:
        assert new.reserve(ACCOUNT, 0.25)
        assert new.spending("study").committed_usd == pytest.approx(0.5)
