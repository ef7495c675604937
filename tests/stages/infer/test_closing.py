"""The line that closes a cell which lacks answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.stages.infer.conftest import Make

from omibench.models.client.ask import StudyBudget
from omibench.models.openai import OpenAIProvider
from omibench.models.provider import NO_BUDGET, Budget
from omibench.params.runtime import RUNTIME_ENV
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.request import Outcome, Request, Response, Usage
from omibench.stages.infer import infer_cell

USAGE = Usage(input_tokens=1000, output_tokens=100)
PRICE = {"input": 2.0, "output": 10.0, "as_of": "2026-11-21"}


def scripted(monkeypatch: pytest.MonkeyPatch, *outcomes: Outcome) -> None:
    """Replace what the endpoint answers: one outcome a request."""

    def answer(
        self: OpenAIProvider, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        for request, outcome in zip(requests, outcomes, strict=False):
            error = "HTTP 500: overloaded" if outcome == "provider_error" else None
            text, usage = ("x", USAGE) if outcome == "answered" else ("", Usage())
            yield request, Response(text=text, outcome=outcome, usage=usage, error=error)

    monkeypatch.setattr(OpenAIProvider, "answer", answer)
    monkeypatch.setattr(StudyBudget, "count_answer", lambda _: None)  # what is scripted costs none


def paid(study: Make, tmp_path: Path, **own: Any) -> Study:
    block = {"provider": "openai", "id": "gpt-4o", "price": PRICE, "image_tokens": "openai-tiles"}
    return study(
        study={"name": "test", "store": str(tmp_path / "store"), **own},
        models={"api": block},
        settings={"cot": {"decoding": {"max_tokens": 1000}}},
        infer={"models": ["api"], "settings": ["cot"], "failed_share": 0.9},
    )


@pytest.fixture
def close(
    tmp_path: Path,
    questions: Path,
    study: Make,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> Callable[..., str]:
    """Returns what a cell with these outcomes logs; its file is `api/cot.parquet`."""

    def run(*outcomes: Outcome, **own: Any) -> str:
        scripted(monkeypatch, *outcomes)
        with caplog.at_level(logging.WARNING, "omibench.stages.infer"):
            infer_cell(
                questions,
                tmp_path / "api/cot.parquet",
                paid(study, tmp_path, **own),
                Cell("api", "cot"),
            )
        return caplog.text

    return run


def test_a_whole_cell_closes_without_a_word(close: Callable[..., str]) -> None:
    assert close("answered", "refused", "empty") == ""


def test_a_stopped_cell_says_what_finishing_costs(
    close: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUNTIME_ENV, "{}")
    out = tmp_path / "api" / "cot.parquet"
    line = close("answered", "budget_stop", "budget_stop", budget_usd=1e-4)
    assert "omibench: api/cot: 2 of 3 requests (2 budget stop) have no answer" in line
    # Learned from the answer: 1000 tokens in and 100 out, twice.
    assert "Finishing the cell costs about $0.00596, at most $" in line
    assert (
        "The budget of $0.0001 allows no further request: $0.00 spent; with study.budget_usd: 0."
        in line
    )
    assert f"To go on, run `snakemake --cores all --forcerun {out}`" in line
    frame = pl.read_parquet(out)
    assert frame["outcome"].to_list() == ["answered", "budget_stop", "budget_stop"]
    assert frame["text"].to_list() == ["x", "", ""]


def test_errors_are_counted_and_the_first_is_told(
    close: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(RUNTIME_ENV, raising=False)
    line = close("provider_error", "answered", "provider_error")
    assert "2 of 3 requests (2 provider error; the first error: HTTP 500: overloaded)" in line
    assert "budget" not in line
    assert "To go on, run the same command again" in line
    assert "snakemake" not in line
