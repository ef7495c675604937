"""What the server received, sent and would have billed."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from model_server.answers import Answer
from model_server.asked import Asked

PREVIEW = 400


@dataclass
class Content:
    """One distinct request: all that a model sees is equal.

    `paid` counts each 200 that a provider bills, whether or not its body reached the client whole
    (`delivered`). `batch_paid` of them came through a batch.
    """

    model: str
    text: str
    images: list[str]
    n: int
    attempts: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    paid: int = 0
    delivered: int = 0
    batch_paid: int = 0


@dataclass
class Stats:
    """Totals since the start or the last reset; times are Unix times."""

    requests: int = 0
    rejected: int = 0
    """Turned down before they were read as a request: no key, bad form, unknown parameter."""
    batch_lines: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    paid: int = 0
    delivered: int = 0
    samples: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    concurrent: int = 0
    peak_concurrent: int = 0
    started_at: float | None = None
    finished_at: float | None = None
    contents: dict[str, Content] = field(default_factory=dict)

    def enter(self) -> None:
        """A generation request arrives."""
        self.concurrent += 1
        self.peak_concurrent = max(self.peak_concurrent, self.concurrent)

    def leave(self) -> None:
        """A generation request is over, however it ended."""
        self.concurrent -= 1
        self.finished_at = time.time()

    def content(self, asked: Asked) -> Content:
        """The entry of a request, made when it is new."""
        found = self.contents.get(asked.key)
        if found is None:
            images = [image.sha256 for image in asked.images]
            found = Content(asked.model, asked.text[:PREVIEW], images, asked.n)
            self.contents[asked.key] = found
        return found

    def attempt(self, asked: Asked) -> tuple[Content, int, int]:
        """Count an attempt: its entry, its number and its place among all arrivals (from 0)."""
        content = self.content(asked)
        arrival, attempt = self.requests, content.attempts
        self.requests += 1
        content.attempts += 1
        self.started_at = self.started_at or time.time()
        return content, attempt, arrival

    def outcome(self, content: Content, kind: str) -> None:
        """What an attempt met."""
        content.outcomes[kind] += 1
        self.outcomes[kind] += 1

    def pay(self, content: Content, answer: Answer, *, batch: bool = False) -> None:
        """An answer is billed."""
        content.paid += 1
        content.batch_paid += batch
        self.paid += 1
        self.samples += len(answer.choices)
        self.input_tokens += answer.input
        self.output_tokens += answer.output

    def arrived(self, content: Content, whole: bool) -> None:
        """A billed answer was handed over whole, or was not."""
        content.delivered += whole
        self.delivered += whole

    def report(self, *, contents: bool) -> dict[str, Any]:
        """As JSON; the entries of single requests only when asked for."""
        totals = {k: v for k, v in vars(self).items() if k != "contents"}
        totals["distinct"] = len(self.contents)
        if contents:
            totals["contents"] = {key: vars(entry) for key, entry in self.contents.items()}
        return totals
