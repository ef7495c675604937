"""Queries to the models of a study, from the store or the provider, within the budget."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from omibench.errors import (
    ImageCountError,
    MissingInputError,
    ModelError,
    ParamsError,
    PassingError,
    StoreError,
)
from omibench.models.api.stop import pause
from omibench.models.cost import usd_text, worst_case
from omibench.models.drawn import bound_pictures
from omibench.models.provider import (
    NO_BUDGET,
    Budget,
    CountsAnswers,
    Provider,
    Reservation,
    takes_images,
)
from omibench.models.registry import open_provider
from omibench.params.blocks import MOST_USD
from omibench.params.models.base import Price, ServedModel
from omibench.schemas.request import NOT_BOUGHT, Request, Response
from omibench.store.ledger import LEDGER, STOPPED, Attempt, BudgetAccount, Ledger, Loss, Spending
from omibench.store.segments import check_space
from omibench.store.store import CLAIMS, Partition, Store, claim
from omibench.text.terminal import raw_stream

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

    def reserve(self, requests: Sequence[Request]) -> Reservation | None:
        """Reserve the worst case of one attempt; None if it cannot be sent now."""
        worst = worst_case(self._model, self._price, requests)
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
        """Return the study's spending and reservations so far; see `read_spending`."""
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

    Without a ledger nothing was spent or reserved. Raises StoreError if it cannot be read.
    """
    if not (Path(store) / LEDGER).is_file():
        return Spending(0.0, 0.0, 0.0)
    with Ledger(store, write=False) as ledger:
        return ledger.spending(study)


# Queries to the models of a study, from the store or the provider, and their progress.

QUIET_S = 2.0
"""Shorter tasks show no bar."""
LOG_EVERY_S = 30.0
"""Interval between lines in a log file; on a terminal the bar is updated."""
Item = TypeVar("Item")


def track(items: Sequence[Item], unit: str) -> Iterator[Item]:
    """Yield the items, with a progress bar after `QUIET_S` seconds."""
    with _bar(len(items), unit) as bar:
        for item in items:
            yield item
            bar.update()


def _bar(total: int, unit: str) -> Any:
    from tqdm import tqdm

    live = sys.stderr.isatty()
    return tqdm(
        total=total,
        unit=unit,
        delay=QUIET_S,
        mininterval=0.2 if live else LOG_EVERY_S,
        ascii=not live,
        file=raw_stream(sys.stderr),
    )


class ProgressBar:
    """A progress bar over sent requests, with dollars and failures."""

    def __init__(self, total: int) -> None:
        self._cost: float | None = None
        self._failed = 0
        self._bar = _bar(total, "request")

    def close(self) -> None:
        """End the bar: losing the terminal must not lose a response."""
        with suppress(OSError):
            self._bar.close()

    def add(self, response: Response) -> None:
        """Count one response."""
        if response.cost_usd:
            self._cost = (self._cost or 0.0) + response.cost_usd
        self._failed += response.outcome in ("provider_error", "budget_stop")
        self._bar.set_postfix_str(self.note(), refresh=False)
        with suppress(OSError):
            self._bar.update()

    def note(self) -> str:
        """Text after the bar: dollars so far, if any, and failures."""
        cost = f"${self._cost:,.4f}" if self._cost is not None else ""
        failed = f"{self._failed} without a response" if self._failed else ""
        return ", ".join(part for part in (cost, failed) if part)


# Queries to models: requests in, responses out, from the store or from the provider.
#
# Every role uses this module (design, section 5). A request whose key is in the store is never
# sent again, a request that another process is sending is awaited, and a response is in the store
# before it is returned.

SYNC_EVERY = 256
LOOK_AGAIN_S = 0.5
"""Seconds between checks for responses requested by another process."""
log = logging.getLogger("omibench.models.client.ask")
_STRICT: ContextVar[bool] = ContextVar("strictly", default=False)


@dataclass(frozen=True)
class Asker:
    """One model of a study, opened with the study's store."""

    provider: Provider
    store: Store
    budget: StudyBudget | None = None

    def __call__(self, requests: Sequence[Request]) -> list[Response]:
        """Return the response to each request in order; see `ask_with_keys`."""
        return [response for _, response in self.ask_with_keys(requests)]

    def ask_with_keys(self, requests: Sequence[Request]) -> list[tuple[str, Response]]:
        """Return the key and the response of each request in order.

        Requests beyond the budget return `budget_stop`. Raises ImageCountError if a request has
        more images than the model accepts, and ModelError or MissingInputError if its images do not
        match the conversation. In these cases nothing was sent.
        """
        provider, store = self.provider, self.store
        partition = store.open_partition(provider.identity)
        keys = [partition.key(request) for request in requests]
        responses = _get_stored(dict.fromkeys(keys), partition)
        missing = {k: r for k, r in zip(keys, requests, strict=True) if k not in responses}
        if missing:
            check_space(store.folder, len(missing))
        check_images(list(missing.values()), provider, store)
        while missing:
            with claim(store.folder / CLAIMS / partition.folder.name, missing) as claimed:
                # Responses that another process stored between check and claim are found here.
                partition.refresh()
                responses |= _get_stored(missing, partition)
                purchases = {
                    k: r for k, r in missing.items() if k in claimed and k not in responses
                }
                if purchases and isinstance(provider, CountsAnswers):
                    outcomes = [response.outcome for response in responses.values()]
                    provider.stored_answers = sum(o not in NOT_BOUGHT for o in outcomes)
                if purchases:
                    responses |= self._buy(purchases, partition)
            missing = {k: r for k, r in missing.items() if k not in responses}
            if missing and not claimed:
                log.info("%d requests are in progress in another process; waiting", len(missing))
                pause(LOOK_AGAIN_S)
        pairs = [(key, responses[key]) for key in keys]
        if _STRICT.get():
            check_answered(requests, [response for _, response in pairs])
        return pairs

    def _buy(self, missing: dict[str, Request], partition: Partition) -> dict[str, Response]:
        bought: dict[str, Response] = {}
        waiting = missing
        try:
            while waiting:
                self._send(waiting, partition, bought)
                # Reservations are worst cases: after settling, more requests can fit.
                stopped = {k for k, response in bought.items() if response.outcome == "budget_stop"}
                waiting = {k: request for k, request in waiting.items() if k in stopped}
                if self.budget is None or (waiting and not self.budget.has_room()):
                    break
        finally:
            partition.sync()
        if len(bought) < len(missing):
            first = next(request for key, request in missing.items() if key not in bought)
            raise ModelError(
                f"{len(missing) - len(bought)} of {len(missing)} requests got no response, the "
                f"first for {first.tags.problem!r}; run the command again, responses so far are "
                "kept"
            )
        return bought

    def _send(
        self, waiting: dict[str, Request], partition: Partition, bought: dict[str, Response]
    ) -> None:
        """Send requests once, and add the responses to `bought`, those with an answer stored."""
        key_of = {id(request): key for key, request in waiting.items()}
        budget = SpaceBudget(self.budget or NO_BUDGET, self.store.folder)
        answers = self.provider.answer(list(waiting.values()), budget)
        with closing(ProgressBar(len(waiting))) as progress:
            for count, (request, response) in enumerate(answers, 1):
                progress.add(response)
                key = key_of.get(id(request)) or partition.key(request)
                if key not in waiting:
                    raise ModelError(
                        f"a provider returned a response for {request.tags.problem!r} without a "
                        "request"
                    )
                sound = bound_pictures(response, str(self.provider.identity.get("id", "")))
                kept = self.store.images.with_drawn(sound)
                bought[key] = self.store.images.locate_drawn(kept)
                if kept.outcome not in NOT_BOUGHT:
                    partition.append(key, request, kept)
                    if self.budget is not None:
                        self.budget.count_answer()
                if count % SYNC_EVERY == 0:
                    partition.sync()


@contextmanager
def open_asker(study: Study, model: str) -> Iterator[Asker]:
    """Open one of the study's models with the study's store, and close the store afterwards.

    A model with a price is called within the study's budget, if any. Raises ModelError or
    MissingInputError if a dependency of the model is missing.
    """
    with open_budget(study, model) as budget, Store(study.study.store) as store:
        batches = store.folder / "batches"
        provider = open_provider(model, study.models[model], study.data, batches)
        yield Asker(provider, store, budget)


def ask(
    requests: Sequence[Request],
    provider: Provider,
    store: Store,
    budget: StudyBudget | None = None,
) -> list[Response]:
    """Return the response to each request in order; raises as `Asker.ask_with_keys` does."""
    return Asker(provider, store, budget)(requests)


@contextmanager
def strictly() -> Iterator[None]:
    """Within this context, transient failures of requests are an error: see `check_answered`."""
    token = _STRICT.set(True)
    try:
        yield
    finally:
        _STRICT.reset(token)


def _get_stored(keys: Iterable[str], partition: Partition) -> dict[str, Response]:
    return {key: response for key in keys if (response := partition.get(key))}


def check_answered(requests: Sequence[Request], responses: Sequence[Response]) -> None:
    """Raise PassingError if requests failed transiently after all their attempts.

    Responses received so far are kept. Permanent failures are outcomes like others, with a warning.
    """
    pairs = zip(requests, responses, strict=True)
    failed = [(q, r) for q, r in pairs if r.outcome == "provider_error"]
    if not failed:
        return
    request, response = failed[0]
    under = f" under {request.tags.setting!r}" if request.tags.setting else ""
    line = (
        f"{len(failed)} of {len(requests)} requests failed, the first for "
        f"{request.tags.problem!r}{under}: {response.error or response.finish_reason}"
    )
    if any(response.passing for _, response in failed):
        raise PassingError(line)
    log.warning("%s", line)


def check_images(requests: Sequence[Request], provider: Provider, store: Store) -> None:
    """Check that every image exists, has the expected hash and can be sent; keep a copy."""
    for request in requests:
        if not takes_images(provider, request):
            image_count = len(request.conversation.images)
            raise ImageCountError(
                f"problem {request.tags.problem!r}: the conversation has {image_count} images, but "
                f"the model accepts {provider.max_images} per request and none is dropped; "
                "choose a setting that shows fewer"
            )
    absent = {i.absent: r for r in requests for i in r.conversation.images if i.absent}
    if absent:
        name, request = next(iter(absent.items()))
        raise MissingInputError(
            f"{len(absent):,} pictures to be shown are missing, the first is {name} of "
            f"problem {request.tags.problem!r}; add them to the benchmark's folder (`data`) and "
            "freeze again; nothing was sent"
        )
    store.images.keep_all(image for r in requests for image in r.conversation.images)


def refuse_unanswered(
    stage: str, model: str, asked: int, gaps: Sequence[tuple[Request, Response]]
) -> None:
    """Stop a stage whose result would be wrong without some replies.

    Args:
        stage: The stage, for the message.
        model: The model.
        asked: The number of requests to the model.
        gaps: The requests without an answer, with their responses.

    Raises:
        ModelError: There are gaps. PassingError if a retry may succeed.
    """
    if not gaps:
        return
    request, response = gaps[0]
    stopped = response.outcome == "budget_stop"
    reason = "the budget is used up" if stopped else response.error or "provider error"
    remedy = "raise study.budget_usd and run again" if stopped else "run again"
    error = PassingError if any(reply.passing for _, reply in gaps) else ModelError
    raise error(
        f"{stage}: {len(gaps)} of {asked} requests to {model} ({request.tags.role}) have no "
        f"answer, the first is for {request.tags.problem!r}: {reason}; completed replies are "
        f"kept; {remedy}"
    )
