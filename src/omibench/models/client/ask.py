"""Queries to the models of a study, from the store or the provider, and their progress."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from omibench.errors import ImageCountError, MissingInputError, ModelError, PassingError
from omibench.models.api.stop import pause
from omibench.models.client.budget import SpaceBudget, StudyBudget, open_budget
from omibench.models.drawn import bound_pictures
from omibench.models.provider import NO_BUDGET, CountsAnswers, Provider, takes_images
from omibench.models.registry import open_provider
from omibench.schemas.request import NOT_BOUGHT, Request, Response
from omibench.store.files import check_space
from omibench.store.partition import Partition
from omibench.store.store import CLAIMS, Store, claim
from omibench.text.terminal import raw_stream

if TYPE_CHECKING:
    from omibench.params.study import Study


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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # losing the terminal must not lose a response
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
        with ProgressBar(len(waiting)) as progress:
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
