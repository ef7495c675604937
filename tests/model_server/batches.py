"""Batches of requests, answered together some time after they were submitted."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from model_server.answers import answer
from model_server.asked import Api, Asked, Refused, uniform

if TYPE_CHECKING:
    from model_server.server import Server

Outcome = Literal["succeeded", "errored", "expired"]


@dataclass(frozen=True)
class Line:
    """One request of a batch, or why it is none."""

    custom_id: str
    asked: Asked | Refused


@dataclass(frozen=True)
class Result:
    """What became of a line: a body with its status, or nothing when it was never run."""

    custom_id: str
    outcome: Outcome
    status: int = 0
    body: dict[str, Any] = field(default_factory=dict)


@dataclass
class Batch:
    """`results` is None until the batch has ended. Times are Unix times."""

    id: str
    api: Api
    lines: Sequence[Line]
    details: dict[str, Any]
    created_at: float
    ended_at: float | None = None
    results: list[Result] | None = None

    @property
    def counts(self) -> Counter[str]:
        """Lines by outcome; all are `processing` until the batch has ended."""
        if self.results is None:
            return Counter(processing=len(self.lines))
        return Counter(result.outcome for result in self.results)

    @property
    def fingerprint(self) -> str:
        """Equal for two submissions of the same lines."""
        keys = [
            line.custom_id + (line.asked.key if isinstance(line.asked, Asked) else "")
            for line in self.lines
        ]
        return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:24]


class Batches:
    """All batches and uploaded files of a server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.all: dict[str, Batch] = {}
        self.files: dict[str, tuple[dict[str, Any], bytes]] = {}
        self.attempts = 0

    def submit(
        self, api: Api, prefix: str, lines: Sequence[Line], details: dict[str, Any]
    ) -> Batch:
        """Take a batch; it ends by itself after the configured time."""
        batch = Batch(f"{prefix}{len(self.all) + 1:06d}", api, lines, details, time.time())
        self.all[batch.id] = batch
        asyncio.get_running_loop().call_later(self._server.config.batch_s, self._finish, batch)
        return batch

    def finish(self) -> None:
        """End every open batch now, all lines done."""
        for batch in list(self.all.values()):
            self._finish(batch)

    def _finish(self, batch: Batch) -> None:
        if batch.results is not None or self._server.batches is not self:  # reset since
            return
        results = [self._run(batch.api, line) for line in batch.lines]
        # Providers promise no order, so the server keeps none.
        batch.results = sorted(results, key=lambda r: uniform("order", r.custom_id))
        batch.ended_at = time.time()

    def _run(self, api: Api, line: Line) -> Result:
        stats, config = self._server.stats, self._server.config
        if isinstance(line.asked, Refused):
            return Result(line.custom_id, "errored", line.asked.status, api.error(line.asked))
        asked, content = line.asked, stats.content(line.asked)
        attempt = content.attempts
        content.attempts += 1
        stats.batch_lines += 1
        u = uniform("batch", config.seed, asked.key, attempt)
        if any(part in asked.text for part in config.batch_bad):
            stats.outcome(content, "batch_error")
            refused = Refused(500, "api_error", "The server had an error processing your request.")
            return Result(line.custom_id, "errored", 500, api.error(refused))
        if u < config.batch_expires:
            stats.outcome(content, "batch_expired")
            return Result(line.custom_id, "expired")
        stats.outcome(content, "batch_ok")
        made = answer(asked, config)
        stats.pay(content, made, batch=True)
        stats.arrived(content, whole=True)
        serial = f"{asked.key}-{content.attempts}"
        body = api.render(asked, made, config, serial=serial, kind="ok")
        return Result(line.custom_id, "succeeded", 200, body)

    def report(self) -> list[dict[str, Any]]:
        """Every submission, oldest first."""
        return [
            {"id": batch.id, "lines": len(batch.lines), "fingerprint": batch.fingerprint}
            for batch in self.all.values()
        ]
