"""Budget reservations: no request is sent unless the budget covers its worst-case cost.

docs/reference/budget.md explains why spending never exceeds the budget, even if processes are
killed, and how much a process that fails repeatedly can waste.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING

from omibench.errors import ModelError, ParamsError, StoreError
from omibench.models.api.stop import pause
from omibench.models.cost.estimate import usd_text, worst_case
from omibench.models.provider import Budget, Reservation
from omibench.params.blocks import MOST_USD
from omibench.params.models.base import Price, ServedModel
from omibench.schemas.request import Request
from omibench.store.files import check_space
from omibench.store.ledger import LEDGER, Attempt, BudgetAccount, Ledger, Spending
from omibench.store.lost_attempts import STOPPED, Loss

if TYPE_CHECKING:
    from omibench.params.study import Study


BUDGET_ENV = "OMIBENCH_BUDGET_USD"
"""Environment variable that passes the budget to Snakemake jobs; as a rule parameter it would rerun
them all.
"""
BREAKER_OPENS_AT = 0.1
"""Share of the budget lost to attempts with unknown outcome that opens the circuit breaker."""
BREAKER_ALLOWS = 0.02
"""Share of the budget that a process can risk with an open breaker before its first success."""
BATCH_LEASE_S = 3 * 86400.0
POLL_S = 0.25
BEAT_S = 2.0
"""Seconds between heartbeats while attempts are in flight."""

log = logging.getLogger("omibench.models.client.budget")


class SpaceBudget:
    """A budget that also refuses an attempt whose answer may not fit on the store's disk.

    Args:
        budget: The budget that decides about money.
        store: Folder of the store.
    """

    def __init__(self, budget: Budget, store: Path) -> None:
        self._budget, self._store = budget, store
        self._in_flight: list[tuple[Reservation, int]] = []  # with the number of requests

    def reserve(self, requests: Sequence[Request]) -> Reservation | None:
        """Reserve an attempt; see `Budget.reserve`.

        Raises:
            StoreError: If the disk is too full for the answers in flight and these.
        """
        in_flight = sum(size for _, size in self._in_flight)
        check_space(self._store, in_flight + len(requests), sending=True)
        reservation = self._budget.reserve(requests)
        if reservation is not None:
            self._in_flight.append((reservation, len(requests)))
        return reservation

    def settle(
        self, reservation: Reservation, cost_usd: float | None, reason: str | None = None
    ) -> None:
        """See `Budget.settle`."""
        self._end(reservation)
        self._budget.settle(reservation, cost_usd, reason)

    def release(self, reservation: Reservation) -> None:
        """See `Budget.release`."""
        self._end(reservation)
        self._budget.release(reservation)

    def _end(self, reservation: Reservation) -> None:
        # Without a cap all reservations are equal: any of them is one answer less in flight. None
        # is found for a batch of another process.
        found = next((entry for entry in self._in_flight if entry[0] == reservation), None)
        if found:
            self._in_flight.remove(found)


class StudyBudget:
    """Reserves the attempts of one model of a study; see `models.provider.Budget`.

    Threads can share it. After a round of sending, `has_room` is whether another round can send
    more. The ledger is opened before the first attempt; responses from the store do not need it.
    """

    def __init__(
        self, folder: str | Path, account: BudgetAccount, model: ServedModel, price: Price
    ) -> None:
        self.folder = Path(folder)
        self.account = account
        self._model = model
        self._price = price
        self._lock = RLock()
        self._ledger: Ledger | None = None
        self._held: dict[int, float] = {}
        self._proven = 0.0
        self._admitted = self._answered = 0
        self._refused: float | None = None
        self._is_breaker_open = False
        self._over = Event()

    @property
    def ledger(self) -> Ledger:
        """The store's ledger, opened on first use. Raises StoreError."""
        with self._lock:
            if self._ledger is None:
                self._ledger = Ledger(self.folder)
                lost = self._ledger.spending(self.account.study).unknown
                cap = self.account.cap_usd
                self._is_breaker_open = not self.account.outlives and lost > BREAKER_OPENS_AT * cap
                Thread(target=self._beat, args=(self._ledger,), daemon=True).start()
        return self._ledger

    def worst_case(self, requests: Sequence[Request]) -> float:
        """Return the maximum cost in US dollars of one attempt at samples of one conversation."""
        return worst_case(self._model, self._price, requests)

    def reserve(self, requests: Sequence[Request]) -> Reservation | None:
        """Reserve the worst case of one attempt; None if it cannot be sent now."""
        worst = self.worst_case(requests)
        ledger = self.ledger
        with self._lock:
            attempt = None if self._is_too_bold(worst) else ledger.reserve(self.account, worst)
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
        """End an attempt. None: it may be billed, and is charged as lost."""
        self.ledger.settle(reservation.id, cost_usd, reason)
        with self._lock:
            self._held.pop(reservation.id, None)
            self._proven += reservation.worst_usd if cost_usd is not None else 0.0

    def release(self, reservation: Reservation) -> None:
        """End an attempt that was certainly not billed."""
        self.ledger.give_back(reservation.id)
        with self._lock:
            self._held.pop(reservation.id, None)

    def count_answer(self) -> None:
        """Check a provider against its reservations after a response, which may be billed.

        Raises:
            ModelError: If the number of responses exceeds the number of admitted requests.
        """
        self._answered += 1
        # A batch's requests were admitted by the process that submitted it.
        if self._answered > self._admitted and not self.account.outlives:
            raise ModelError(
                f"model {self.account.model!r}: its provider {self._model.provider!r} sent a "
                "request without a reservation of the study's budget; it must pass each attempt "
                "through the budget argument of `answer`, or derive from SdkProvider, which "
                "does"
            )

    def has_room(self) -> bool:
        """Return whether refused requests can be sent now that none of ours is in flight.

        Waits while attempts of other processes are in flight whose reservations can still
        shrink. False if the budget is used up or nothing was refused.
        """
        worst, self._refused = self._refused, None
        while worst is not None:
            if self._fits(worst):
                return True
            reserved_elsewhere = self.spending().reserved - sum(self._held.values())
            if reserved_elsewhere <= 1e-9:
                return False
            log.info(
                "waiting for requests of other processes, which reserve %.2f dollars",
                reserved_elsewhere,
            )
            pause(POLL_S)
        return False

    def spending(self) -> Spending:
        """Return the study's spending and reservations so far; zero if the store has no ledger."""
        if self._ledger is not None:
            return self._ledger.spending(self.account.study)
        return read_spending(self.folder, self.account.study)

    def losses(self) -> list[Loss]:
        """Return the study's attempts with unknown outcome."""
        return [] if self._ledger is None else self._ledger.list_losses(self.account.study)

    def close(self) -> None:
        """Mark attempts in flight as abandoned: their outcome remains unknown."""
        self._over.set()
        if self._ledger is None:
            return
        while self._held and not self.account.outlives:
            self._ledger.settle(self._held.popitem()[0], None, STOPPED)
        self._ledger.close()

    def _beat(self, ledger: Ledger) -> None:
        """Write heartbeats, so that the death of a process is noticed."""
        while not self._over.wait(BEAT_S):
            with self._lock:
                if self._held and not self._over.is_set():
                    with suppress(StoreError):
                        ledger.beat()

    def _is_too_bold(self, worst: float) -> bool:
        reserved = sum(self._held.values())
        allowed = BREAKER_ALLOWS * self.account.cap_usd + self._proven
        return self._is_breaker_open and reserved > 0 and reserved + worst > allowed

    def _fits(self, worst: float) -> bool:
        probe: Attempt | None = self.ledger.reserve(self.account, worst)
        if probe is not None:
            self.ledger.give_back(probe.id)
        return probe is not None


def read_budget(study: Study) -> float | None:
    """Return the study's budget in US dollars, from its parameters or Snakemake; None if unlimited.

    If both give one, the smaller applies: a scheduled run can be limited to the rest of a month.
    Raises ParamsError if the environment variable is not an amount.
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
def open_budget(study: Study, name: str) -> Iterator[StudyBudget | None]:
    """Return the budget of one of the study's models; None if its spending is unlimited.

    Raises ModelError for a billed model without a price under a budget.
    """
    cap, model = read_budget(study), study.models[name]
    if cap is None or not model.is_paid:
        yield None
        return
    if not isinstance(model, ServedModel) or model.price is None:
        raise ModelError(
            f"models.{name}: has no price, so the study's budget of {usd_text(cap)} cannot be "
            f"kept; give models.{name}.price (zero for your own server) or remove "
            "study.budget_usd. A plug-in whose model costs nothing sets `is_free = True` in the "
            "class of its block"
        )
    batch = model.is_batch
    lease = BATCH_LEASE_S if batch else model.limits.timeout_s + 60
    account = BudgetAccount(study.study.name, name, cap, lease, batch)
    budget = StudyBudget(study.study.store, account, model, model.price)
    try:
        yield budget
    finally:
        budget.close()


def read_spending(store: str | Path, study: str) -> Spending:
    """Return the spending and reservations of a study from the ledger of a store, read-only.

    Zero if there is no ledger. Raises StoreError if it cannot be read.
    """
    if not (Path(store) / LEDGER).is_file():
        return Spending(0.0, 0.0, 0.0)
    with Ledger(store, write=False) as ledger:
        return ledger.spending(study)
