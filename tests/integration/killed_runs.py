"""`omibench infer` runs that tests kill or stop, and what the server was paid for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
from tests.models.apis import picture

from model_server.handle import ServerHandle, wait_until
from omibench.schemas.problem import Answer, Choice, Figure, Question
from omibench.schemas.tables import write_jsonl

SAMPLES = 4
IN_FLIGHT = 16
CHOICES = [Choice(label=label, text=f"option {label}") for label in "ABCD"]
KNOWN_BY_CLOCK = ("latency_s",)
Kept = dict[str, tuple[str, dict[str, Any]]]


class Runs:
    """Starts `omibench infer` for one cell: some questions with pictures, four samples each."""

    def __init__(self, server: ServerHandle, folder: Path, questions: int) -> None:
        self.folder, self.size = folder, questions * SAMPLES
        self.named: dict[str, Any] = {"name": "killed"}
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
        self.model: dict[str, Any] = {
            "provider": "openai", "id": "stub-model", "base_url": server.openai_url,
            "key_env": "TEST_KEY", "can": {"seed": True},
            "limits": {"concurrency": IN_FLIGHT, "timeout_s": 30},
        }  # fmt: skip

    def study(self, store: str) -> str:
        decoding = {"temperature": 0.6, "samples": SAMPLES, "max_tokens": 2000}
        study = {
            "study": self.named | {"store": str(self.folder / store)},
            "models": {"m": self.model},
            "settings": {"cot": {"decoding": decoding}},
            "infer": {"models": ["m"], "settings": ["cot"]},
            "score": {"scorers": ["omibench", "robust"]},
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
        command += ["--answers", str(self.folder / "answers.jsonl"), "--no-cache"]
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
