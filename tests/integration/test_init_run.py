"""`omibench run` in a new study's folder: a wrong key, Ctrl-C, and an undisturbed run's end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from command_line import call_main
from model_server.handle import KEY_ENV, ServerHandle, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
QUESTIONS, IN_FLIGHT = 12, 4
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"latency_s": 0.05, "letters": True}


def make_study(folder: Path, server: ServerHandle, key_env: str) -> Path:
    """Write a study of two models by `omibench init`; `key_env` is that of the second."""
    assert call_main("init", folder, "--benchmark", "emma").returncode == 0
    (folder / "data").mkdir()
    pl.DataFrame(
        {
            "pid": [f"p{n}" for n in range(QUESTIONS)],
            "question": [f"Which of the balls is heavier in case {n}?" for n in range(QUESTIONS)],
            "options": [["1", "2"]] * QUESTIONS, "answer": ["A"] * QUESTIONS,
            "type": ["Multiple Choice"] * QUESTIONS, "category": ["Counting"] * QUESTIONS,
            "subject": ["Physics"] * QUESTIONS,
        }
    ).write_parquet(folder / "data/physics.parquet")  # fmt: skip
    block = {"provider": "openai", "base_url": server.openai_url,
             "limits": {"concurrency": IN_FLIGHT}}  # fmt: skip
    values = {
        "study": {"name": "s"}, "data": "data", "benchmark": {"name": "emma"},
        "models": {"m0": block | {"id": "x0", "key_env": KEY_ENV},
                   "m1": block | {"id": "x1", "key_env": key_env}},
        "settings": {"cot": {"prompt": "cot"}},
        "infer": {"models": ["m0", "m1"], "settings": ["cot"]}, "analyze": {"explorer": False},
    }  # fmt: skip
    (folder / "params.yaml").write_text(yaml.safe_dump(values))
    return folder


def start(study: Path, *targets: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [BIN / "omibench", "run", "--cores", "2", *targets], cwd=study, text=True,
        start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip


def read_results(study: Path) -> dict[str, Any]:
    """Return the responses and verdicts of each cell."""
    found: dict[str, Any] = {}
    for model in ("m0", "m1"):
        infer = pl.read_parquet(study / f"results/infer/{model}/cot.parquet")
        score = pl.read_parquet(study / f"results/score/{model}/cot.parquet")
        found[model] = (infer.select("id", "text", "outcome").rows(),
                        score.select("id", "rules", "verdict").rows())  # fmt: skip
    return found


def test_a_run_that_fails_and_is_stopped_ends_as_an_undisturbed_one(
    tmp_path: Path, server: ServerHandle
) -> None:
    study = make_study(tmp_path / "study", server, "ABSENT_KEY")
    process = start(study)
    said = process.communicate(timeout=300)[0]
    assert process.returncode == 3, said
    tail = said[said.index("1 job failed:") :].splitlines()
    assert tail[1].startswith("  infer m1/cot: the key ABSENT_KEY is missing: set")
    assert tail[3:5] == ["To retry failed jobs and continue:", "  omibench run --cores 2"]
    assert server.stats(contents=False)["paid"] == QUESTIONS  # the other model went on

    params = study / "params.yaml"
    params.write_text(params.read_text().replace("ABSENT_KEY", KEY_ENV))
    server.configure(latency_s=2.0)
    process = start(study)
    wait_until(lambda: server.stats(contents=False)["concurrent"] == IN_FLIGHT, 200)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=100)[0]
    assert process.returncode == 130, said
    wait_until(lambda: server.stats(contents=False)["concurrent"] == 0, 30)
    paid = server.stats(contents=False)["paid"]
    assert QUESTIONS < paid < 2 * QUESTIONS
    lines = [line for f in study.glob("store/*/*.jsonl") for line in f.read_bytes().splitlines()]
    assert len(lines) == paid  # Ctrl-C loses no reply

    server.configure(latency_s=0.05)
    process = start(study)
    said = process.communicate(timeout=300)[0]
    assert process.returncode == 0, said
    assert said.splitlines()[-1] == "report: results/analyze/report.html"
    assert server.stats(contents=False)["paid"] == 2 * QUESTIONS

    whole = make_study(tmp_path / "whole", server, KEY_ENV)
    process = start(whole, "--", "score_all")
    said = process.communicate(timeout=300)[0]
    assert process.returncode == 0, said
    assert server.stats(contents=False)["paid"] == 4 * QUESTIONS
    assert read_results(study) == read_results(whole)
