"""The progress line counts dollars and failures."""

from __future__ import annotations

from omibench.progress import Progress
from omibench.request import Outcome, Response


def test_it_counts_dollars_and_failures() -> None:
    with Progress(4) as progress:
        assert progress.note() == ""
        outcomes: list[tuple[Outcome, float | None]] = [
            ("answered", 0.5), ("answered", 0.25), ("provider_error", None), ("answered", None)
        ]  # fmt: skip
        for outcome, cost in outcomes:
            progress.add(Response(text="", outcome=outcome, cost_usd=cost))
        assert progress.note() == "$0.7500, 1 without an answer"
