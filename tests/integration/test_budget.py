"""A budget holds over models, settings, processes and kills: the server counts what is paid."""

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

from model_server.handle import ServerHandle
from omibench.schemas.problem import Question
from omibench.schemas.tables import write_jsonl
from omibench.store.ledger import Ledger

CELLS = [(model, setting) for model in ("one", "two") for setting in ("cot", "direct")]
PROBLEMS = 80
PRICE = {"input": 2.0, "output": 10.0, "as_of": "2026-11-21"}
CAP = 0.3
UNPAID = {"rate_limit": 0.05, "server_error": 0.02}
PAID_AND_LOST = {"reset_mid": 0.02, "truncated_json": 0.02}


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"latency_s": 0.15, "answer_chars": 480, "seed": 3, "faults": UNPAID}


@pytest.fixture
def study(tmp_path: Path, server: ServerHandle) -> dict[str, Any]:
    questions = [
        Question(id=f"p{n:02}", question=f"How much is {n} + {n}?") for n in range(PROBLEMS)
    ]
    write_jsonl(tmp_path / "questions.jsonl", questions)
    model = {
        "provider": "openai", "base_url": server.openai_url, "key_env": "TEST_KEY", "price": PRICE,
        "limits": {"concurrency": 6, "timeout_s": 5, "attempts": 8},
    }  # fmt: skip
    decoding = {"max_tokens": 600}
    return {
        "study": {"name": "capped", "store": str(tmp_path / "store"), "budget_usd": CAP},
        "models": {name: {**model, "id": name} for name in ("one", "two")},
        "settings": {name: {"prompt": name, "decoding": decoding} for name in ("cot", "direct")},
        "infer": {"models": ["one", "two"], "settings": ["cot", "direct"]},
    }


def start(study: dict[str, Any], folder: Path, cell: tuple[str, str]) -> subprocess.Popen[str]:
    model, setting = cell
    out = folder / "results" / "infer" / model / f"{setting}.parquet"
    command = ["infer", str(folder / "questions.jsonl"), "--model", model, "--setting", setting]
    command += ["--out", str(out), "--params", json.dumps(study)]
    return subprocess.Popen(
        [sys.executable, "-m", "omibench", *command],
        env=os.environ | {"TEST_KEY": "sk-test"}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run_all(study: dict[str, Any], folder: Path) -> list[str]:
    running = [start(study, folder, cell) for cell in CELLS]
    said = [process.communicate(timeout=120)[1] for process in running]
    assert [process.returncode for process in running] == [0] * 4, said
    return said


def truly_spent(server: ServerHandle) -> float:
    stats = server.stats(contents=False)
    tokens = (stats["input_tokens"], stats["output_tokens"])
    return (tokens[0] * PRICE["input"] + tokens[1] * PRICE["output"]) / 1e6


def rows(folder: Path) -> pl.DataFrame:
    files = [folder / "results" / "infer" / m / f"{s}.parquet" for m, s in CELLS]
    return pl.concat([pl.read_parquet(file) for file in files])


def stored(folder: Path) -> int:
    return sum(len(f.read_bytes().splitlines()) for f in (folder / "store").glob("*/*.jsonl"))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_spending_never_passes_the_budget_whoever_is_killed(
    tmp_path: Path, server: ServerHandle, study: dict[str, Any]
) -> None:
    """Only kills lose answers here, so that the ledger must know of every one of them."""
    rng = random.Random(20261121)
    server.configure(latency_s=1.0)  # somebody sends for long enough to be killed while sending
    running = {cell: start(study, tmp_path, cell) for cell in CELLS}
    kills, ends = 0, time.monotonic() + 120
    while kills < 4 and time.monotonic() < ends:
        before = server.stats(contents=False)["paid"]
        time.sleep(rng.uniform(0.1, 0.6))
        if server.stats(contents=False)["paid"] == before:
            continue  # nobody sends: a kill would hit the start of a program
        cell = rng.choice(CELLS)
        running[cell].send_signal(signal.SIGKILL)
        running[cell].communicate()
        kills += running[cell].returncode == -signal.SIGKILL
        running[cell] = start(study, tmp_path, cell)
        assert truly_spent(server) <= CAP
    for process in running.values():
        process.communicate(timeout=120)
    said = run_all(study, tmp_path)
    spent = truly_spent(server)
    with Ledger(study["study"]["store"]) as ledger:
        spending = ledger.spending("capped")
    assert kills >= 3
    assert spent <= spending.spent + spending.unknown <= CAP
    found = rows(tmp_path)
    assert found.height == len(CELLS) * PROBLEMS
    assert set(found["outcome"]) == {"answered", "budget_stop"}
    assert found.filter(pl.col("outcome") == "budget_stop")["text"].to_list().count("") > 0
    assert found.filter(pl.col("outcome") == "answered").height == stored(tmp_path)
    line = next(text for text in said if "budget stop" in text)
    assert "completed responses are kept. Finishing the cell costs about $" in line
    assert f"The budget of ${CAP} allows no further request: $" in line
    assert "To go on, run the same command again" in line


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_larger_budget_finishes_what_a_smaller_one_began(
    tmp_path: Path, server: ServerHandle, study: dict[str, Any]
) -> None:
    server.configure(faults=UNPAID | PAID_AND_LOST)
    study["study"]["budget_usd"] = 0.05
    run_all(study, tmp_path)
    assert truly_spent(server) <= 0.05
    begun = stored(tmp_path)
    assert 0 < begun < len(CELLS) * PROBLEMS
    study["study"]["budget_usd"] = 20.0
    said = run_all(study, tmp_path)
    assert set(rows(tmp_path)["outcome"]) == {"answered"}
    assert not any("no answer" in text for text in said)
    delivered = server.stats(contents=False)["outcomes"]["ok"]
    assert delivered == stored(tmp_path) == len(CELLS) * PROBLEMS
