"""The progress line counts dollars and failures."""

from __future__ import annotations

from contextlib import closing

import pytest

from omibench.models.client import ask as module
from omibench.models.client.ask import ProgressBar, track
from omibench.schemas.request import Outcome, Response


def test_it_counts_dollars_and_failures() -> None:
    with closing(ProgressBar(4)) as progress:
        assert progress.note() == ""
        outcomes: list[tuple[Outcome, float | None]] = [
            ("answered", 0.5), ("answered", 0.25), ("provider_error", None), ("answered", None)
        ]  # fmt: skip
        for outcome, cost in outcomes:
            progress.add(Response(text="", outcome=outcome, cost_usd=cost))
        assert progress.note() == "$0.7500, 1 without a response"


def test_a_list_is_counted_only_when_it_takes_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(track(["a", "b"], "cell")) == ["a", "b"]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(module, "QUIET_S", 0.0)
    monkeypatch.setattr(module, "LOG_EVERY_S", 0.0)
    assert list(track(["a", "b"], "cell")) == ["a", "b"]
    told = capsys.readouterr().err
    assert all(part in told for part in ("1/2", "2/2", "cell"))
