"""A run killed at random moments: nothing bought is lost, only what was in flight is bought again.

Every sample has a seed, so the server gives it the same answer whenever it is asked, and the
tables of a killed and of an undisturbed run can be compared cell by cell.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from model_server.conftest import wait_until
from model_server.handle import ServerHandle, running_server
from models.apis import picture
from omibench.problem import Answer, Choice, Figure, Question
from omibench.tables import write_jsonl

SAMPLES = 4
IN_FLIGHT = 16
STOPPED_BY_USER = 130
CHOICES = [Choice(label=label, text=f"option {label}") for label in "ABCD"]
KNOWN_BY_CLOCK = ("latency_s",)
Kept = dict[str, tuple[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def process() -> Iterator[ServerHandle]:
    with running_server(
        latency_s=0.2, latency_sigma=0.5, letters=True, answer_chars=2000
    ) as handle:
        yield handle


@pytest.fixture
def server(process: ServerHandle) -> ServerHandle:
    process.reset()
    return process


class Runs:
    """Starts `omibench infer` for one cell: some questions with pictures, four samples each."""

    def __init__(self, server: ServerHandle, folder: Path, questions: int) -> None:
        self.folder, self.size = folder, questions * SAMPLES
        figures = [
            Figure(file=f"{i}.png", sha256=picture(folder, f"{i}.png").sha256) for i in range(7)
        ]
        asked, gold = [], []
        for n in range(questions):
            text, shown = f"Question {n:03}: [IMAGE0] or [IMAGE1]?", [n % 7, (n + 3) % 7]
            images = [figures[i] for i in shown]
            asked.append(Question(id=f"{n:03}", question=text, images=images, choices=CHOICES))
            answer = ["ABCD"[n % 4]]
            gold.append(Answer(id=f"{n:03}", answer=answer, answer_type="mcq", choices=CHOICES))
        write_jsonl(folder / "questions.jsonl", asked)
        write_jsonl(folder / "answers.jsonl", gold)
        self.model = {
            "provider": "openai", "id": "stub-model", "base_url": server.openai_url,
            "key_env": "TEST_KEY", "can": {"seed": True},
            "limits": {"concurrency": IN_FLIGHT, "timeout_s": 30},
        }  # fmt: skip

    def study(self, store: str) -> str:
        decoding = {"temperature": 0.6, "samples": SAMPLES, "max_tokens": 2000}
        study = {
            "study": {"name": "killed", "store": str(self.folder / store)},
            "models": {"m": self.model},
            "settings": {"cot": {"decoding": decoding}},
            "infer": {"models": ["m"], "settings": ["cot"]},
            "score": {"rules": ["omibench", "robust"]},
        }
        return json.dumps(study)

    def start(self, store: str = "store") -> subprocess.Popen[str]:
        out = self.folder / f"{store}.parquet"
        command = ["infer", str(self.folder / "questions.jsonl"), "--model", "m"]
        command += ["--setting", "cot", "--out", str(out), "--params", self.study(store)]
        return omibench(*command)

    def finish(self, store: str = "store") -> pl.DataFrame:
        """Run to the end; the responses as the table has them, without what a clock gave."""
        end(self.start(store))
        return pl.read_parquet(self.folder / f"{store}.parquet").drop(KNOWN_BY_CLOCK)

    def score(self, store: str = "store") -> pl.DataFrame:
        out = self.folder / f"{store}-scores.parquet"
        command = ["score", str(self.folder / f"{store}.parquet"), "--out", str(out)]
        command += ["--answers", str(self.folder / "answers.jsonl")]
        end(omibench(*command, "--params", self.study(store)))
        return pl.read_parquet(out)

    def kept(self, store: str = "store") -> Kept:
        """What the store's segments hold by key: problem and response; no key stands twice."""
        found: Kept = {}
        for segment in (self.folder / store).glob("*/*.jsonl"):
            for line in segment.read_bytes().splitlines(keepends=True):
                if not line.endswith(b"\n"):
                    continue  # torn by a kill
                row = json.loads(line)
                assert row["key"] not in found
                found[row["key"]] = (row["tags"]["problem"], row["response"])
        return found


def omibench(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "omibench", *command],
        env=os.environ | {"TEST_KEY": "sk-test"}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def end(process: subprocess.Popen[str]) -> None:
    said = process.communicate(timeout=150)[1]
    assert process.returncode == 0, said


def paid(server: ServerHandle) -> Counter[str]:
    """How often the server was paid for each problem, once it has nothing left to do."""
    wait_until(lambda: server.stats(contents=False)["concurrent"] == 0, 20)
    books: Counter[str] = Counter()
    for book in server.stats()["contents"].values():
        books[book["text"].partition("Question ")[2][:3]] += book["paid"]
    return books


def kill_at_random(
    server: ServerHandle, runs: Runs, moment: Callable[[], float], kills: int
) -> Counter[str]:
    """Kill so many runs while they send; how often each problem was in flight at a kill.

    A moment counts from the first request of a run. After each kill, all that was kept before is
    still there, and what was paid and not kept is no more than may be in flight at once.
    """
    kept: Kept = {}
    in_flight: Counter[str] = Counter()
    for _ in range(kills):
        sent = server.stats(contents=False)["requests"]
        process = runs.start()
        wait_until(lambda: server.stats(contents=False)["requests"] > sent, 60)  # noqa: B023
        time.sleep(moment())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "the run was over before its kill"
        before, kept = kept, runs.kept()
        assert before.items() <= kept.items(), "a kept answer was lost or changed"
        owed = paid(server)
        owed.subtract(Counter(problem for problem, _ in kept.values()))
        lost = owed - in_flight
        assert owed == in_flight + lost, "an answer was kept that was never paid"
        assert lost.total() <= IN_FLIGHT
        in_flight += lost
    return in_flight


def killed_and_undisturbed(
    server: ServerHandle, runs: Runs, moment: Callable[[], float], kills: int
) -> None:
    in_flight = kill_at_random(server, runs, moment, kills)
    assert 0 < in_flight.total() <= kills * IN_FLIGHT
    kept = runs.kept()
    assert 0 < len(kept) < runs.size
    rows = runs.finish()
    assert kept.items() <= runs.kept().items()
    assert len(runs.kept()) == runs.size
    stats = server.stats(contents=False)
    assert stats["distinct"] == runs.size
    assert stats["peak_concurrent"] <= IN_FLIGHT
    every = Counter({f"{n:03}": SAMPLES for n in range(runs.size // SAMPLES)})
    assert paid(server) == every + in_flight, "something else was bought twice"
    server.reset()
    undisturbed = runs.finish("undisturbed")
    assert server.stats(contents=False)["paid"] == runs.size
    assert rows.height == runs.size
    assert set(rows["outcome"]) == {"answered"}
    assert rows.group_by("id").agg(pl.col("text").n_unique())["text"].max() == SAMPLES
    assert rows.equals(undisturbed)


def test_killed_once(server: ServerHandle, tmp_path: Path) -> None:
    killed_and_undisturbed(server, Runs(server, tmp_path, 25), lambda: 0.4, 1)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_killed_at_twenty_random_moments_of_1000_requests(
    server: ServerHandle, tmp_path: Path
) -> None:
    runs, rng = Runs(server, tmp_path, 250), random.Random(20261121)
    killed_and_undisturbed(server, runs, lambda: rng.uniform(0.0, 0.8), 20)
    scores = runs.score()
    assert scores.equals(runs.score("undisturbed"))
    assert scores.height == 2 * runs.size
    assert 0 < scores.filter(pl.col("verdict") == 1.0).height < scores.height


def test_ctrl_c_stops_in_seconds_and_loses_nothing(server: ServerHandle, tmp_path: Path) -> None:
    runs = Runs(server, tmp_path, 150)
    process = runs.start()
    wait_until(lambda: server.stats(contents=False)["delivered"] >= 2 * IN_FLIGHT, 60)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    assert time.monotonic() - began < 5
    assert process.returncode == STOPPED_BY_USER, said
    assert said.splitlines()[-1] == "omibench: stopped; run the same command again to go on"
    assert "Traceback" not in said
    kept, bought = runs.kept(), paid(server).total()
    assert 2 * IN_FLIGHT <= len(kept) < runs.size
    in_flight = bought - len(kept)
    assert in_flight <= IN_FLIGHT
    assert runs.finish().height == runs.size
    assert kept.items() <= runs.kept().items()
    assert paid(server).total() == runs.size + in_flight
