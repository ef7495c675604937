"""`simulated: true` in a parameter file: no command and no flow sends a request to a real model."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests.command_line import Ended, call_main
from tests.extras import require_extra
from tests.workflows_support import fill, study_folder

from model_server.handle import KEY_ENV, ServerHandle
from omibench.schemas.problem import Problem

pytestmark = pytest.mark.timeout(600)

CELL = ("--model", "m", "--setting", "vote")
RESULTS = "results-simulated"
FROZEN = f"{RESULTS}/freeze"
QUESTIONS, ANSWERS = f"{FROZEN}/questions.jsonl", f"{FROZEN}/answers.jsonl"
RESPONSES, VERDICTS = f"{RESULTS}/infer/m/vote.parquet", f"{RESULTS}/score/m/vote.parquet"
GOLD = ("--answers", ANSWERS, "--questions", QUESTIONS)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("freeze", "--out", FROZEN),
    ("plan",),
    ("fill", QUESTIONS, "--model", "m", "--out", "filled"),
    ("infer", QUESTIONS, *CELL, "--out", RESPONSES),
    ("score", RESPONSES, *GOLD, "--out", VERDICTS),
    ("score", "mine.jsonl", "--scorer", "robust", "--judge", "m", "--out", "mine.parquet"),
    ("score", "mine.jsonl", "--scorer", "mathreal", "--grader", "m", "--out", "g.parquet"),
    ("judge", RESPONSES, *GOLD, "--verdicts", VERDICTS, "--out", f"{RESULTS}/judge/m/vote.parquet"),
    ("aggregate", *CELL, "--out", f"{RESULTS}/aggregate/m/vote.parquet"),
    ("saliency", *CELL, "--out", f"{RESULTS}/saliency/m/vote.parquet"),
    ("certify", "--draw", "2", "--out", "sheet"),
    ("certify", "labels.csv", "--out", f"{RESULTS}/certify"),
    ("ocr-quality", "pairs.jsonl", "--judge", "m", "--out", "ocr.jsonl"),
    ("filter", "problems.jsonl", "--out", "filtered"),
    ("rationale", "problems.jsonl", "--out", "explained"),
    ("analyze", "--out", f"{RESULTS}/analyze"),
)  # fmt: skip


@pytest.fixture
def study(tmp_path: Path, root: Path, server: ServerHandle) -> Path:
    """A rehearsal with a model behind the counting server in every role."""
    folder = study_folder(tmp_path / "study", root, server.openai_url, problems=4)
    file = folder / "params.yaml"
    params: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    block = params["models"]["old-one"] | {"key_env": KEY_ENV}
    for model in (block, params["reevaluate"]["watch"]["lab"]["model"]):
        model["price"]["as_of"] = "2026-11-21"
    panel = {"judge": "m"}
    params |= {
        "simulated": True,
        "models": {"m": block},
        "settings": {
            "vote": {
                "prompt": "emma-cot",
                "decoding": {"max_tokens": 400, "samples": 2, "temperature": 1.0},
                "aggregate": {"how": "tournament", **panel},
            }
        },
        "infer": {"models": ["m"], "settings": ["vote"]},
        "score": {"scorers": ["robust"], **panel},
        "judge": {"quality": ["m"], "errors": "m"},
        "filter": {"difficulty": {"models": ["m"]}},
        "rationale": {"writer": "m"},
        "saliency": {"settings": ["vote"]},
    }
    file.write_text(yaml.safe_dump(params))
    row = {"id": "math_1", "prediction": "Hence \\boxed{C}.", "gold": ["C"], "answer_type": "mcq"}
    _write(folder / "mine.jsonl", row | {"choices": ["1", "2", "5", "no"]})
    _write(folder / "pairs.jsonl", {"id": "math_1", "reference": "1 + 1", "text": "1 + 2"})
    pl.DataFrame({"id": ["math_1"], "index": [0], "label": [1]}).write_csv(folder / "labels.csv")
    problem = Problem(
        id="math_1", question="1 + 1?", answer=["2"], source="a.pdf", source_sha256="0", number="1",
        pages=[1],
    )  # fmt: skip
    _write(folder / "problems.jsonl", problem.model_dump(mode="json"))
    return folder


def _write(file: Path, row: dict[str, Any]) -> None:
    file.write_text(json.dumps(row) + "\n")


def received(server: ServerHandle) -> dict[str, Any]:
    """Every counter of the server that a request of any kind raises."""
    stats = server.stats(contents=False)
    return {key: stats[key] for key in ("requests", "rejected", "calls", "paid", "batch_lines")}


NOTHING = {"requests": 0, "rejected": 0, "calls": {}, "paid": 0, "batch_lines": 0}


@pytest.mark.slow
def test_no_command_sends_a_request(study: Path, server: ServerHandle) -> None:
    ended: dict[tuple[str, ...], Ended] = {}
    for words in COMMANDS:
        ended[words] = call_main(*words, "--params", "params.yaml", cwd=study)
        assert received(server) == NOTHING, words
    failed = {words[:2]: done for words, done in ended.items() if done.returncode}
    assert not failed
    assert (study / RESULTS / "analyze/report.html").is_file()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("flow", ["evaluate", "reevaluate"])
def test_no_flow_sends_a_request(
    study: Path, server: ServerHandle, tmp_path_factory: pytest.TempPathFactory, flow: str
) -> None:
    require_extra("flows", "prefect")
    fill(flow, study, tmp_path_factory.mktemp("prefect"), server, "params.yaml")
    assert received(server) == NOTHING
    assert not (study / "results").exists()


@pytest.mark.slow
def test_a_study_is_read_in_one_place(root: Path) -> None:
    readers = {
        str(file.relative_to(root))
        for folder in ("src", "workflows")
        for file in (root / folder).rglob("*.py")
        if "parse_study_file" in _names(file)
    }
    assert readers == {
        "src/omibench/params/study.py",
        "src/omibench/study/plan/study_file.py",
        "src/omibench/study/reevaluate/candidates.py",  # checks the file that it has just changed
    }


def _names(file: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    imported = {alias.name for n in nodes if isinstance(n, ast.ImportFrom) for alias in n.names}
    defined = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    return imported | defined | {n.attr for n in nodes if isinstance(n, ast.Attribute)}
