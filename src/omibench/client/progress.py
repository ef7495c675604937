"""Progress of long tasks on standard error: rate, cost so far and time left."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from omibench.schemas.request import Response
from omibench.text.terminal import raw_stream

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
