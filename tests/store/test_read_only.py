"""A store on a read-only disk answers what it holds, under a budget too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.store.filling import IDENTITY, fill

from omibench.models.client.ask import open_budget, read_spending
from omibench.params.study import parse_study
from omibench.store.ledger import LEDGER, BudgetAccount, Ledger
from omibench.store.store import Store

ASK = """
import sys
from omibench.models.client.ask import ask
from omibench.models.client.ask import read_spending, open_budget
from omibench.models.provider import NO_BUDGET
from omibench.store.store import Store
from omibench.params.study import parse_study
from tests.store.filling import IDENTITY, request

class Nobody:
    simulated, max_images, identity = False, None, IDENTITY
    def answer(self, requests, budget=NO_BUDGET):
        raise AssertionError("was asked")

price = {"input": 1.0, "output": 10.0, "as_of": "2026-11-21"}
model = {"provider": "openai", "id": "m", "key_env": "K", "price": price}
own = {"name": "s", "store": sys.argv[1], "budget_usd": 5.0}
study = parse_study({"study": own, "models": {"m": model}}, "test")
with open_budget(study, "m") as budget, Store(sys.argv[1]) as store:
    print([r.text for r in ask([request(n) for n in range(3)], Nobody(), store, budget)])
    print(budget.spending().spent, read_spending(sys.argv[1], "s").unknown)
"""


@pytest.mark.parametrize("with_ledger", [True, False])
def test_a_warm_run_writes_nothing(tmp_path: Path, root: Path, with_ledger: bool) -> None:
    store = tmp_path / "store"
    fill(store, range(3))
    if with_ledger:
        with Ledger(store) as ledger:
            paid, lost = (ledger.reserve(BudgetAccount("s", "m", 5.0, 60), 0.5) for _ in range(2))
            assert paid is not None
            assert lost is not None
            ledger.settle(paid.id, 0.25)
            ledger.settle(lost.id, None)
    before = {path: path.stat().st_mtime_ns for path in (store, *store.rglob("*"))}
    for path in (*store.rglob("*"), store):
        path.chmod(0o555 if path.is_dir() else 0o444)
    # Nobody is kept out by modes who is root: such a one runs it without that power.
    command = [sys.executable, "-c", ASK, str(store)]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", *command]
    paths = os.pathsep.join(str(root / name) for name in ("src", "tests"))
    done = subprocess.run(
        command, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    for path in (store, *store.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "['answer 0 é', 'answer 1 é', 'answer 2 é']",
        "0.25 0.5" if with_ledger else "0.0 0.0",
    ]
    assert {path: path.stat().st_mtime_ns for path in (store, *store.rglob("*"))} == before


def test_looking_at_a_ledger_changes_nothing(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        assert ledger.reserve(BudgetAccount("s", "m", 5.0, lease_s=-1), 0.5)
    data = (tmp_path / LEDGER).read_bytes()
    assert read_spending(tmp_path, "s") == (0, 0.5, 0)
    assert (tmp_path / LEDGER).read_bytes() == data


def test_a_gate_that_is_not_passed_makes_no_ledger(tmp_path: Path) -> None:
    price = {"input": 1.0, "output": 10.0, "as_of": "2026-11-21"}
    model = {"provider": "openai", "id": "m", "key_env": "K", "price": price}
    own = {"name": "s", "store": str(tmp_path), "budget_usd": 5.0}
    study = parse_study({"study": own, "models": {"m": model}}, "test")
    with open_budget(study, "m") as budget, Store(tmp_path) as store:
        store.open_partition(IDENTITY)
        assert budget is not None
        assert budget.has_room() is False
    assert list(tmp_path.iterdir()) == []
