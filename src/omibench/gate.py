"""The gate of a budget: nothing is sent whose worst case the study's budget does not hold.

docs/planning.md says why spending never passes the budget, also when processes are killed, and
what a process that dies over and over can waste.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from omibench.cost.dollars import is_batch, is_paid, usd_text, worst_case
from omibench.errors import ModelError, ParamsError
from omibench.models.provider import Ticket
from omibench.params.blocks import MOST_USD
from omibench.params.model import Price, ServedModel
from omibench.request import Request
from omibench.stop import pause
from omibench.store.ledger import Account, Attempt, Ledger, Purse
from omibench.study import Study

BUDGET_ENV = "OMIBENCH_BUDGET_USD"
"""How Snakemake hands the budget to its jobs: a parameter of the rules would rerun them all."""
BRAKE_FROM = 0.1
"""Share of the budget, lost to attempts without a known outcome, from which on the brake holds."""
BRAKE_START = 0.02
"""Share of the budget that a process under the brake may risk before it has shown that it works."""
BATCH_LEASE_S = 3 * 86400.0
POLL_S = 0.25

log = logging.getLogger("omibench.gate")


class BudgetGate:
    """Admits the attempts of one model of a study; see `models.provider.Gate`.

    Threads may share it. After a round of sending, `again` says whether another may get further.
    """

    def __init__(self, ledger: Ledger, purse: Purse, model: ServedModel, price: Price) -> None:
        self.ledger = ledger
        self.purse = purse
        self._model = model
        self._price = price
        self._lock = Lock()
        self._held: dict[int, float] = {}
        self._proven = 0.0
        self._refused: float | None = None
        lost = ledger.account(purse.study).unknown
        self._braked = not purse.outlives and lost > BRAKE_FROM * purse.cap_usd

    def worst_case(self, requests: Sequence[Request]) -> float:
        """The most US dollars that one attempt at samples of one conversation can cost."""
        return worst_case(self._model, self._price, requests)

    def admit(self, requests: Sequence[Request]) -> Ticket | None:
        """Reserve the worst case of one attempt; None when it must not be sent now."""
        worst = self.worst_case(requests)
        with self._lock:
            attempt = None if self._too_bold(worst) else self.ledger.reserve(self.purse, worst)
            if attempt is None:
                self._refused = worst if self._refused is None else min(worst, self._refused)
                return None
            self._held[attempt.id] = attempt.worst_usd
            self._refused = None
        return Ticket(*attempt)

    def settle(self, ticket: Ticket, cost_usd: float | None) -> None:
        """The attempt is over. None: it may have been paid, and the worst case stays spent."""
        self.ledger.settle(ticket.id, cost_usd)
        with self._lock:
            self._held.pop(ticket.id, None)
            self._proven += ticket.worst_usd if cost_usd is not None else 0.0

    def give_back(self, ticket: Ticket) -> None:
        """The attempt was certainly not paid."""
        self.ledger.give_back(ticket.id)
        with self._lock:
            self._held.pop(ticket.id, None)

    def again(self) -> bool:
        """Whether what was refused may be sent now that nothing of ours is in flight.

        Waits while attempts of other processes are in flight whose reservations may still become
        cheaper. False when the budget is used up, and when nothing was refused.
        """
        worst, self._refused = self._refused, None
        while worst is not None:
            if self._fits(worst):
                return True
            others = self.account().reserved - sum(self._held.values())
            if others <= 1e-9:
                return False
            log.info("waiting for requests of other processes, which hold %.2f dollars", others)
            pause(POLL_S)
        return False

    def account(self) -> Account:
        """What the study has spent and reserved so far."""
        return self.ledger.account(self.purse.study)

    def close(self) -> None:
        """Nobody waits any more for what is still in flight: its outcome stays unknown."""
        while self._held and not self.purse.outlives:
            self.ledger.settle(self._held.popitem()[0], None)

    def _too_bold(self, worst: float) -> bool:
        held = sum(self._held.values())
        allowed = BRAKE_START * self.purse.cap_usd + self._proven
        return self._braked and held > 0 and held + worst > allowed

    def _fits(self, worst: float) -> bool:
        probe: Attempt | None = self.ledger.reserve(self.purse, worst)
        if probe is not None:
            self.ledger.give_back(probe.id)
        return probe is not None


def budget_of(study: Study) -> float | None:
    """The study's budget in US dollars, from its parameters or from Snakemake; None: no cap.

    Where both give one, the smaller holds: a scheduled run may be held to what is left of a month.
    Raises ParamsError when the environment variable is no amount.
    """
    text = os.environ.get(BUDGET_ENV, "")
    try:
        amount = float(text) if text else None
    except ValueError:
        amount = -1.0
    if amount is not None and not 0 <= amount <= MOST_USD:
        raise ParamsError(f"{BUDGET_ENV}: must be an amount of US dollars, got {text!r}")
    given = [usd for usd in (study.study.budget_usd, amount) if usd is not None]
    return min(given, default=None)


@contextmanager
def open_gate(study: Study, name: str) -> Iterator[BudgetGate | None]:
    """The gate of one of the study's models, or None when nothing limits what it spends.

    Raises ModelError for a model that costs dollars, under a budget, without a price.
    """
    cap, model = budget_of(study), study.models[name]
    if cap is None or not isinstance(model, ServedModel) or not is_paid(model):
        yield None
        return
    if model.price is None:
        raise ModelError(
            f"models.{name}: has no price, so the study's budget of {usd_text(cap)} cannot hold: "
            f"give models.{name}.price (zero for a server of your own) or remove study.budget_usd"
        )
    batch = is_batch(model)
    lease = BATCH_LEASE_S if batch else model.limits.timeout_s + 60
    with Ledger(study.study.store) as ledger:
        purse = Purse(study.study.name, name, cap, lease, batch)
        gate = BudgetGate(ledger, purse, model, model.price)
        try:
            yield gate
        finally:
            gate.close()
