"""What Prefect's pages show while a flow sends requests; and news of long outages."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import Any, cast
from uuid import UUID

from prefect.artifacts import create_progress_artifact, create_table_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import ArtifactUpdate

from omibench.flows.news import tell_failure
from omibench.models.api.failures import get_outage
from omibench.models.client.ask import read_budget
from omibench.models.cost import usd_text
from omibench.params.models.base import ApiModel
from omibench.params.study import Study
from omibench.study.reevaluate.costs import sum_costs
from omibench.study.sharding import Shard

EVERY_S = 10.0
LONG_OUTAGE_S = 600.0
"""The seconds after which an endpoint's outage is posted."""


class Progress:
    """The requests of a flow that are answered or failed, by model. Threads can share it."""

    def __init__(self, study: Study, shards: Iterable[Shard]) -> None:
        self._study, self._lock = study, Lock()
        self._total: Counter[str] = Counter()
        for shard in shards:
            self._total[shard.model] += shard.stop - shard.start
        self._done: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()

    def note_answered(self, shard: Shard, answered: int) -> None:
        """Note how many of a shard's requests are answered, all but those that a budget stopped."""
        with self._lock:
            self._done[shard.model] += answered

    def note_failed(self, shard: Shard) -> None:
        """Note that a shard has failed after all its retries."""
        with self._lock:
            self._failed[shard.model] += shard.stop - shard.start

    @property
    def percent(self) -> float:
        """The share of requests that are answered, in percent."""
        with self._lock:
            total = self._total.total()
            return 100.0 * self._done.total() / total if total else 100.0

    def rows(self) -> list[dict[str, Any]]:
        """Return the table: one row per model, and their sum."""
        spent = sum_costs(self._study)
        with self._lock:
            rows = [
                self._row(model, self._done[model], self._failed[model], total, spent.get(model))
                for model, total in self._total.items()
            ]
            sums = self._done.total(), self._failed.total(), self._total.total()
        if read_budget(self._study) is not None:
            rows.append(self._row("all of the study", *sums, sum(spent.values())))
        return rows

    def _row(
        self, model: str, done: int, failed: int, total: int, usd: float | None
    ) -> dict[str, Any]:
        counted = read_budget(self._study) is not None
        return {
            "model": model,
            "answered": f"{done:,} of {total:,}",
            "share": f"{100 * done / total:.0f} %" if total else "",
            "failed": failed,
            "spent": usd_text(usd or 0.0) if counted else "not counted: no budget is set",
        }


class OutageNews:
    """Posts each outage of the endpoints of some models once it is long.

    From then on, requests wait for an endpoint that has never answered, too: no person is there to
    start the flow again.
    """

    def __init__(self, study: Study, models: Iterable[str]) -> None:
        self._study = study
        self._outages = {
            name: get_outage((model.provider, model.base_url, model.id))
            for name in models
            if isinstance(model := study.models[name], ApiModel)
        }
        for outage in self._outages.values():
            outage.is_awaited = True
        self._posted: dict[str, float] = {}

    def check(self) -> None:
        """Post what is new."""
        for name, outage in self._outages.items():
            since = outage.since if outage.is_open else None
            if since is None or time.monotonic() - since < LONG_OUTAGE_S:
                continue
            if self._posted.get(name) != since:
                self._posted[name] = since
                minutes = (time.monotonic() - since) / 60
                text = f"{name}: its endpoint has been unavailable for {minutes:.0f} min"
                tell_failure(self._study, text, "outage")


@contextmanager
def repeat(call: Callable[[], object]) -> Iterator[None]:
    """Call it every `EVERY_S` seconds during the block, in a thread."""
    ended = Event()

    def watch() -> None:
        while not ended.wait(EVERY_S):
            with suppress(Exception):  # the server may be gone for a moment
                call()

    thread = Thread(target=watch, name="omibench progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(EVERY_S)


@contextmanager
def show_progress(study: Study, shards: Iterable[Shard]) -> Iterator[Progress]:
    """Keep a bar and a table on the run's pages up to date during the block."""
    progress = Progress(study, shards)
    bar = create_progress_artifact(0.0, key="requests", description="Requests with an answer")
    about = "Requests and US dollars by model"
    table = create_table_artifact(progress.rows(), key="progress", description=about)

    def update() -> None:
        # Prefect types these calls as if they always returned a coroutine.
        changed = {
            cast(UUID, bar): ArtifactUpdate(data=round(progress.percent, 1)),
            cast(UUID, table): ArtifactUpdate(data=json.dumps(progress.rows())),
        }
        with get_client(sync_client=True) as client:
            for artifact, update in changed.items():
                client.update_artifact(artifact, update)

    try:
        with repeat(update):
            yield progress
    finally:
        with suppress(Exception):
            update()
