"""Batches through the command line, killed at the worst moments: each is bought once, at half."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from model_server.handle import ServerHandle, wait_until
from omibench.schemas.problem import Question
from omibench.schemas.tables import write_jsonl
from omibench.store.ledger import Ledger

MAIN = """
from omibench.models.anthropic import AnthropicBatches
from omibench.models.api.provider import ApiProvider
from omibench.models.api.batch_run import PollInterval
from omibench.models.openai import OpenAIBatches

ApiProvider.poll_interval = PollInterval(
    first_s=0.05, growth=1.2, most_s=0.3, look_again_s=(0.0, 0.3)
)
for api in (AnthropicBatches, OpenAIBatches):
    api.shape = api.shape._replace(most_lines=5)
from omibench.cli.main import main
main()
"""
PROBLEMS = 12
PRICE = {"input": 2.0, "output": 10.0, "as_of": "2026-11-21"}
SLOW = (pytest.mark.slow, pytest.mark.long)
every_provider = pytest.mark.parametrize(
    "provider", ["openai", pytest.param("anthropic", marks=SLOW)]
)


class Cells:
    """Starts `omibench infer` for a model with `batch: true`."""

    def __init__(self, server: ServerHandle, folder: Path, provider: str) -> None:
        self.folder = folder
        questions = [Question(id=f"p{n:02}", question=f"What is {n}?") for n in range(PROBLEMS)]
        write_jsonl(folder / "questions.jsonl", questions)
        model = {
            "provider": provider, "id": "stub-model", "key_env": "TEST_KEY", "price": PRICE,
            "base_url": server.openai_url if provider == "openai" else server.anthropic_url,
            "batch": True, "limits": {"timeout_s": 60},
        }  # fmt: skip
        decoding = {"max_tokens": 600}
        self.study: dict[str, Any] = {
            "study": {"name": "halves", "store": str(folder / "store"), "budget_usd": 5.0},
            "models": {"m": model},
            "settings": {
                name: {"prompt": name, "decoding": decoding} for name in ("cot", "direct")
            },
            "infer": {"models": ["m"], "settings": ["cot", "direct"]},
        }

    def start(self, setting: str = "cot") -> subprocess.Popen[str]:
        command = ["infer", str(self.folder / "questions.jsonl"), "--model", "m"]
        command += ["--setting", setting, "--out", str(self.out(setting))]
        return subprocess.Popen(
            [sys.executable, "-c", MAIN, *command, "--params", json.dumps(self.study)],
            env=os.environ | {"TEST_KEY": "sk-test"}, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def finish(self, setting: str = "cot") -> pl.DataFrame:
        process = self.start(setting)
        said = process.communicate(timeout=100)[1]
        assert process.returncode == 0, said
        return pl.read_parquet(self.out(setting))

    def out(self, setting: str) -> Path:
        return self.folder / f"{setting}.parquet"


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def calls_of(server: ServerHandle) -> int:
    return sum(server.stats()["calls"].values())


def ended(running: list[subprocess.Popen[str]]) -> bool:
    """Whether none has anything left to ask: an earlier try may have collected every batch."""
    return all(process.poll() is not None for process in running)


def check_bought_once(server: ServerHandle, cells: Cells, requests: int, kills: int = 0) -> None:
    """Each request was paid once, through a batch, and the ledger knows the half price.

    A kill just between a reservation and its note leaves that one reservation behind.
    """
    stats = server.stats()
    contents = stats["contents"].values()
    assert [entry["paid"] for entry in contents] == [1] * requests
    assert [entry["batch_paid"] for entry in contents] == [1] * requests
    assert stats["batch_lines"] == requests
    prints = [batch["fingerprint"] for batch in stats["batches"]]
    assert len(set(prints)) == len(prints)
    dollars = (stats["input_tokens"] * 2.0 + stats["output_tokens"] * 10.0) / 1e6
    with Ledger(cells.study["study"]["store"]) as ledger:
        spending = ledger.spending("halves")
    assert spending.spent == pytest.approx(dollars / 2, rel=1e-4)
    assert spending.unknown + spending.reserved <= kills * 0.004


@pytest.mark.slow
@every_provider
@pytest.mark.timeout(150)
def test_killed_while_polling(server: ServerHandle, tmp_path: Path, provider: str) -> None:
    server.configure(batch_s=600)
    cells = Cells(server, tmp_path, provider)
    for _ in range(2):
        process = cells.start()
        wait_until(lambda: len(server.stats()["batches"]) == 3, 30)
        time.sleep(0.3)
        assert process.poll() is None
        kill(process)
    server.finish_batches()
    rows = cells.finish()
    assert set(rows["outcome"]) == {"answered"}
    check_bought_once(server, cells, PROBLEMS)
    assert [batch["lines"] for batch in server.stats()["batches"]] == [5, 5, 2]
    assert rows["cost_usd"].sum() == pytest.approx(
        (server.stats()["input_tokens"] * 2.0 + server.stats()["output_tokens"] * 10.0) / 2e6
    )
    calls = server.stats()["calls"]
    assert cells.finish()["text"].to_list() == rows["text"].to_list()
    assert server.stats()["calls"] == calls


@every_provider
@pytest.mark.parametrize(
    ("fate", "made"), [("hang_mid", 2), pytest.param("hang", 1, marks=pytest.mark.slow)]
)
@pytest.mark.timeout(150)
def test_killed_while_the_provider_takes_the_second_batch(
    server: ServerHandle, tmp_path: Path, provider: str, fate: str, made: int
) -> None:
    """Before it answers: it has made the batch, or never will."""
    server.configure(batch_s=600, batch_create=["ok", fate])
    cells = Cells(server, tmp_path, provider)
    process = cells.start()
    call = "batch_created" if provider == "openai" else "message_batch_created"
    wait_until(lambda: server.stats()["calls"].get(call) == 2, 30)
    time.sleep(0.2)
    kill(process)
    assert len(server.stats()["batches"]) == made
    server.finish_batches()
    server.configure(batch_s=0.2)
    assert set(cells.finish()["outcome"]) == {"answered"}
    assert [batch["lines"] for batch in server.stats()["batches"]] == [5, 5, 2]
    check_bought_once(server, cells, PROBLEMS)


@pytest.mark.slow
@pytest.mark.long
@every_provider
@pytest.mark.timeout(200)
def test_two_settings_at_once_killed_at_random(
    server: ServerHandle, tmp_path: Path, provider: str
) -> None:
    server.configure(batch_s=1.0)
    cells, rng = Cells(server, tmp_path, provider), random.Random(f"{provider} 20261121")
    for _ in range(3):
        running = [cells.start(setting) for setting in ("cot", "direct")]
        before = calls_of(server)
        wait_until(lambda: calls_of(server) > before or ended(running), 60)  # noqa: B023
        time.sleep(rng.uniform(0.0, 0.5))
        for process in running:
            kill(process)
    rows = [cells.finish(setting) for setting in ("cot", "direct")]
    assert all(set(found["outcome"]) == {"answered"} for found in rows)
    check_bought_once(server, cells, 2 * PROBLEMS, kills=6)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_budget_admits_line_by_line(server: ServerHandle, tmp_path: Path) -> None:
    cells = Cells(server, tmp_path, "openai")
    cells.study["study"]["budget_usd"] = 0.0036
    rows = cells.finish()
    stopped = rows.filter(pl.col("outcome") == "budget_stop")
    assert 0 < stopped.height < PROBLEMS
    stats = server.stats()
    assert stats["paid"] == PROBLEMS - stopped.height
    assert (stats["input_tokens"] * 2.0 + stats["output_tokens"] * 10.0) / 2e6 <= 0.0036
    cells.study["study"]["budget_usd"] = 5.0
    assert set(cells.finish()["outcome"]) == {"answered"}
    check_bought_once(server, cells, PROBLEMS)
