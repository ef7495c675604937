"""A small study of files: two models, two settings, three questions; notes of runs as wanted."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Question
from omibench.schemas.tables import ResponseRow, VerdictRow, write_jsonl, write_parquet
from omibench.store.segments import read_process_start
from omibench.study.status.runs import FOLDER

Note = Callable[..., Path]
SETTINGS = ("cot", "direct")
MODELS = ("one", "two")
QUESTIONS = 3


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """The study, frozen; the folder of the test is the one to work in."""
    monkeypatch.chdir(tmp_path)
    rows = [Question(id=f"p{n}", question=f"How much is {n} + {n}?") for n in range(QUESTIONS)]
    write_jsonl("results/freeze/questions.jsonl", rows)
    return make_study()


def make_study(**blocks: Any) -> Study:
    """The study with blocks replaced."""
    model = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "key_env": "NO_KEY"}
    values: dict[str, Any] = {
        "study": {"name": "small", "results": "results", "store": "store"},
        "models": {name: {**model, "id": name} for name in MODELS},
        "settings": {name: {"prompt": name} for name in SETTINGS},
        "infer": {"models": list(MODELS), "settings": list(SETTINGS)},
    }
    return parse_study(values | blocks, "test")


def write_cell(
    model: str, setting: str, outcomes: Sequence[str], usd: float | None = 0.01, *,
    scored: bool = True,
) -> None:  # fmt: skip
    """The files of one cell, a response for each outcome."""
    rows = [
        ResponseRow(id=f"p{n}", index=0, key="0" * 64, outcome=outcome, text="", cost_usd=usd)
        for n, outcome in enumerate(outcomes)
    ]
    write_parquet(f"results/infer/{model}/{setting}.parquet", rows, ResponseRow)
    if scored:
        verdicts = [
            VerdictRow(id=r.id, index=0, key=r.key, rules="robust", version=1, method="box",
                       verdict=0.0, outcome="scored" if r.outcome == "answered" else r.outcome)
            for r in rows
        ]  # fmt: skip
        write_parquet(f"results/score/{model}/{setting}.parquet", verdicts, VerdictRow)


def note_run(
    jobs: dict[str, list[str]], *, end: str | None = None, alive: bool = True, age: float = 100.0,
    current: Sequence[str] = (), torn: str = "", command: Sequence[str] = ("snakemake", "all"),
) -> Path:  # fmt: skip
    """Notes of a run: `infer one/cot` -> its states in order, ten seconds apart."""
    began = time.time() - age
    listed, events = [], []
    for number, (name, states) in enumerate(jobs.items(), 1):
        stage, _, cell = name.partition(" ")
        model, _, setting = cell.partition("/")
        output = f"results/{stage}/{model}/{setting}.parquet" if cell else f"results/{stage}"
        listed.append(
            {"id": number, "stage": stage, "output": output, "model": model or None,
             "setting": setting or None, "log": f"logs/{stage}/{cell}.log"}
        )  # fmt: skip
        events += [
            {"time": began + 10 * (n + 1), "job": number, "state": state}
            for n, state in enumerate(states)
        ]
    if end:
        events.append({"time": began + 50, "end": end})
    pid = os.getpid()
    head = {
        "time": began, "pid": pid, "host": socket.gethostname(),
        "process": read_process_start(pid) if alive else "another", "command": list(command),
        "jobs": listed, "current": list(current),
    }  # fmt: skip
    folder = Path("results", FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"run-{len(list(folder.iterdir()))}.jsonl"
    lines = [json.dumps(line) for line in [head, *sorted(events, key=lambda e: e["time"])]]
    path.write_text("\n".join(lines) + "\n" + torn)
    return path
