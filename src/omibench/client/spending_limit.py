"""Reservations of a budget: nothing is sent whose worst case the study's budget does not hold.

docs/planning.md says why spending never passes the budget, also when processes are killed, and
what a process that dies over and over can waste.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, RLock, Thread

from omibench.cost.dollars import usd_text, worst_case
from omibench.errors import ModelError, ParamsError, StoreError
from omibench.models.provider import Reservation
from omibench.models.traffic.stop import pause
from omibench.params.blocks import MOST_USD
from omibench.params.models.base import Price, ServedModel
from omibench.params.stage_params import AskingParams
from omibench.schemas.request import Request
from omibench.store.ledger.ledger import LEDGER, Account, Attempt, Ledger, Purse
from omibench.store.ledger.lost_attempts import STOPPED, Loss

BUDGET_ENV = "OMIBENCH_BUDGET_USD"
"""How Snakemake hands the budget to its jobs: a parameter of the rules would rerun them all."""
BRAKE_FROM = 0.1
"""Share of the budget, lost to attempts without a known outcome, from which on the brake holds."""
BRAKE_START = 0.02
"""Share of the budget that a process under the brake may risk before it has shown that it works."""
BATCH_LEASE_S = 3 * 86400.0
POLL_S = 0.25
BEAT_S = 2.0
"""Seconds between signs of life while attempts are in flight."""

log = logging.getLogger("omibench.client.spending_limit")


class StudyBudget:
    """Reserves the attempts of one model of a study; see `models.provider.Budget`.

    Threads may share it. After a round of sending, `has_room` says whether another may get further.
    The ledger is opened when the first attempt is to be sent: what the store answers needs none.
    """

    def __init__(self, folder: str | Path, purse: Purse, model: ServedModel, price: Price) -> None:
        self.folder = Path(folder)
        self.purse = purse
        self._model = model
        self._price = price
        self._lock = RLock()
        self._ledger: Ledger | None = None
        self._held: dict[int, float] = {}
        self._proven = 0.0
        self._admitted = self._answered = 0
        self._refused: float | None = None
        self._braked = False
        self._over = Event()

    @property
    def ledger(self) -> Ledger:
        """The store's ledger, opened when it is first needed. Raises StoreError."""
        with self._lock:
            if self._ledger is None:
                self._ledger = Ledger(self.folder)
                lost = self._ledger.account(self.purse.study).unknown
                cap = self.purse.cap_usd
                self._braked = not self.purse.outlives and lost > BRAKE_FROM * cap
                Thread(target=self._beat, args=(self._ledger,), daemon=True).start()
        return self._ledger

    def worst_case(self, requests: Sequence[Request]) -> float:
        """The most US dollars that one attempt at samples of one conversation can cost."""
        return worst_case(self._model, self._price, requests)

    def reserve(self, requests: Sequence[Request]) -> Reservation | None:
        """Reserve the worst case of one attempt; None when it must not be sent now."""
        worst = self.worst_case(requests)
        ledger = self.ledger
        with self._lock:
            attempt = None if self._is_too_bold(worst) else ledger.reserve(self.purse, worst)
            if attempt is None:
                self._refused = worst if self._refused is None else min(worst, self._refused)
                return None
            self._held[attempt.id] = attempt.worst_usd
            self._admitted += len(requests)
            self._refused = None
        return Reservation(*attempt)

    def settle(
        self, reservation: Reservation, cost_usd: float | None, reason: str | None = None
    ) -> None:
        """The attempt is over. None: it may have been paid, and is charged as a lost one."""
        self.ledger.settle(reservation.id, cost_usd, reason)
        with self._lock:
            self._held.pop(reservation.id, None)
            self._proven += reservation.worst_usd if cost_usd is not None else 0.0

    def release(self, reservation: Reservation) -> None:
        """The attempt was certainly not paid."""
        self.ledger.give_back(reservation.id)
        with self._lock:
            self._held.pop(reservation.id, None)

    def count_answer(self) -> None:
        """Hold a provider to its reservations: one more request was answered, and maybe paid.

        Raises:
            ModelError: More requests were answered than were admitted.
        """
        self._answered += 1
        # What a batch answers was admitted by the process that submitted it.
        if self._answered > self._admitted and not self.purse.outlives:
            raise ModelError(
                f"model {self.purse.model!r}: its provider {self._model.provider!r} has asked "
                "without a reservation of the study's budget: it must pass each attempt through "
                "the budget that `answer` is given, or derive from SequentialProvider, which does"
            )

    def has_room(self) -> bool:
        """Whether what was refused may be sent now that nothing of ours is in flight.

        Waits while attempts of other processes are in flight whose reservations may still become
        cheaper. False when the budget is used up, and when nothing was refused.
        """
        worst, self._refused = self._refused, None
        while worst is not None:
            if self._fits(worst):
                return True
            reserved_elsewhere = self.account().reserved - sum(self._held.values())
            if reserved_elsewhere <= 1e-9:
                return False
            log.info(
                "waiting for requests of other processes, which hold %.2f dollars",
                reserved_elsewhere,
            )
            pause(POLL_S)
        return False

    def account(self) -> Account:
        """What the study has spent and reserved so far; a store without a ledger: nothing."""
        if self._ledger is not None:
            return self._ledger.account(self.purse.study)
        return read_account(self.folder, self.purse.study)

    def losses(self) -> list[Loss]:
        """The study's attempts whose outcome was never learned."""
        return [] if self._ledger is None else self._ledger.list_losses(self.purse.study)

    def close(self) -> None:
        """Nobody waits any more for what is still in flight: its outcome stays unknown."""
        self._over.set()
        if self._ledger is None:
            return
        while self._held and not self.purse.outlives:
            self._ledger.settle(self._held.popitem()[0], None, STOPPED)
        self._ledger.close()

    def _beat(self, ledger: Ledger) -> None:
        """Signs of life, so that it is known when a process died that can say nothing any more."""
        while not self._over.wait(BEAT_S):
            with self._lock:
                if self._held and not self._over.is_set():
                    with suppress(StoreError):
                        ledger.beat()

    def _is_too_bold(self, worst: float) -> bool:
        reserved = sum(self._held.values())
        allowed = BRAKE_START * self.purse.cap_usd + self._proven
        return self._braked and reserved > 0 and reserved + worst > allowed

    def _fits(self, worst: float) -> bool:
        probe: Attempt | None = self.ledger.reserve(self.purse, worst)
        if probe is not None:
            self.ledger.give_back(probe.id)
        return probe is not None


def read_budget(study: AskingParams) -> float | None:
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
    caps = [usd for usd in (study.study.budget_usd, amount) if usd is not None]
    return min(caps, default=None)


@contextmanager
def open_budget(study: AskingParams, name: str) -> Iterator[StudyBudget | None]:
    """The budget of one of the study's models, or None when nothing limits what it spends.

    Raises ModelError for a model that costs dollars, under a budget, without a price.
    """
    cap, model = read_budget(study), study.models[name]
    if cap is None or not isinstance(model, ServedModel) or not model.is_paid:
        yield None
        return
    if model.price is None:
        raise ModelError(
            f"models.{name}: has no price, so the study's budget of {usd_text(cap)} cannot hold: "
            f"give models.{name}.price (zero for a server of your own) or remove study.budget_usd"
        )
    batch = model.is_batch
    lease = BATCH_LEASE_S if batch else model.limits.timeout_s + 60
    purse = Purse(study.study.name, name, cap, lease, batch)
    budget = StudyBudget(study.study.store, purse, model, model.price)
    try:
        yield budget
    finally:
        budget.close()


def read_account(store: str | Path, study: str) -> Account:
    """What a study has spent and reserved by the ledger of a store, which is only read.

    Nothing where there is no ledger. Raises StoreError when it cannot be read.
    """
    if not (Path(store) / LEDGER).is_file():
        return Account(0.0, 0.0, 0.0)
    with Ledger(store, write=False) as ledger:
        return ledger.account(study)
