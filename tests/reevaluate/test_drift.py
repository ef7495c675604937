"""The drift check asks the same problems again and compares pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.extras import require_extra

from model_server.handle import KEY_ENV, ServerHandle
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.stages.freeze import freeze_dataset
from omibench.stages.infer import infer_cell
from omibench.stages.score.stage import ScoreFiles, score_cell
from omibench.study.reevaluate.drift import (
    Drift,
    ask_again,
    list_changed,
    list_drift_models,
    read_drift,
    write_drift,
)

require_extra("stats", "scipy")
PROBLEMS, ASKED = 12, 10
CELL = Cell("m", "cot")


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"replies": {"How much": r"It is \boxed{C}"}}


@pytest.fixture
def study(tmp_path: Path, server: ServerHandle) -> Study:
    """A study whose model has answered all problems, each of them right."""
    (tmp_path / "own").mkdir()
    rows = [f"p{n},How much is {n}?,C,1 | 2 | {n} | 4" for n in range(PROBLEMS)]
    text = "\n".join(["id,question,answer,choices", *rows])
    (tmp_path / "own/problems.csv").write_text(text, "utf-8")
    model = {"provider": "openai", "id": "m", "base_url": server.openai_url, "key_env": KEY_ENV}
    results = tmp_path / "results"
    study = parse_study(
        {
            "study": {"name": "s", "store": str(tmp_path / "store"), "results": str(results)},
            "data": str(tmp_path / "own"), "benchmark": {"name": "folder"}, "models": {"m": model},
            "settings": {"cot": {"prompt": "cot"}},
            "infer": {"models": ["m"], "settings": ["cot"]}, "score": {"rules": ["robust"]},
            "reevaluate": {"drift": {"setting": "cot", "problems": ASKED}},
        },
        "test",
    )  # fmt: skip
    drift = study.reevaluate.drift
    assert list_drift_models(study, drift) == [], "a model without a scored cell has no first time"
    freeze_dataset(None, results / "freeze", study)
    responses = results / "infer/m/cot.parquet"
    infer_cell(results / "freeze/questions.jsonl", responses, study, CELL)
    files = ScoreFiles(responses, results / "freeze/answers.jsonl")
    score_cell(files, results / "score/m/cot.parquet", study)
    assert list_drift_models(study, drift) == ["m"]
    return study


def check(study: Study, month: str) -> Drift | None:
    return ask_again(study, study.reevaluate.drift, "m", month)


def test_the_same_problems_are_asked_again_each_month_and_once(
    study: Study, server: ServerHandle
) -> None:
    first = server.stats(contents=False)["paid"]
    assert first == PROBLEMS
    same = check(study, "2026-11")
    assert same == Drift("2026-11", "m", ASKED, 1.0, 1.0, 0, 0, 1.0)
    assert server.stats(contents=False)["paid"] == first + ASKED
    assert check(study, "2026-11") == same
    assert server.stats(contents=False)["paid"] == first + ASKED, "a repeated check sends nothing"

    server.configure(replies={"How much": r"It is \boxed{A}"})
    worse = check(study, "2026-12")
    assert worse[:7] == ("2026-12", "m", ASKED, 1.0, 0.0, 0, ASKED)
    assert worse.p == pytest.approx(2 * 0.5**ASKED)
    assert server.stats(contents=False)["paid"] == first + 2 * ASKED
    asked = [book["paid"] for book in server.stats()["contents"].values()]
    assert sorted(asked) == [1] * (PROBLEMS - ASKED) + [3] * ASKED, "they are the same problems"
    assert list(list_changed([same, worse], 0.01)) == [worse]
    assert "100 % at first, 0 % in 2026-12 on the same 10 problems" in str(worse)


def test_checks_are_kept_one_for_each_month_and_model(tmp_path: Path) -> None:
    assert read_drift(tmp_path) == []
    one = Drift("2026-11", "m", 5, 1.0, 0.8, 0, 1, 1.0)
    write_drift(tmp_path, [one])
    write_drift(tmp_path, [one._replace(month="2026-12"), one._replace(now=0.6, lost=2)])
    assert [(d.month, d.lost) for d in read_drift(tmp_path)] == [("2026-11", 2), ("2026-12", 1)]
