"""A plan before the freeze: over the problems that are there, counted as a run asks them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests.plan.test_before_freeze import study as papers
from tests.stages.filter.conftest import draw, make

from command_line import call_main
from omibench.params.study import Study, parse_study
from omibench.stages.filter import filter_problems
from omibench.stages.freeze import freeze_dataset
from omibench.study.plan.questions import plan_questions
from omibench.study.plan.text import NARROW, render

__all__ = ["draw", "make", "papers"]
PRICE = {"input": 1.0, "output": 2.0, "as_of": "2026-01-01"}
DIRECT = "direct-with-a-name-too-long-for-half-of-a-line"
LONG = "a-model-whose-name-is-as-long-as-those-of-some-hubs-are"


@pytest.fixture
def values(tmp_path: Path) -> dict[str, Any]:
    """A study of two models on EMMA, whose three problems are in its data folder."""
    data = tmp_path / "data"
    data.mkdir()
    pl.DataFrame(
        {"pid": ["a", "b", "c"], "question": ["Which?", "What?", "Where?"],
         "options": [["1", "2"]] * 3, "answer": ["A"] * 3, "type": ["Multiple Choice"] * 3,
         "category": ["Counting"] * 3, "subject": ["Physics"] * 3}
    ).write_parquet(data / "physics.parquet")  # fmt: skip
    model = {
        "provider": "openai",
        "id": "x",
        "price": {"input": 1.0, "output": 2.0, "as_of": "2026-01-01"},
    }
    return {
        "study": {"name": "s", "results": f"{tmp_path}/results", "store": f"{tmp_path}/store"},
        "data": str(data), "benchmark": {"name": "emma"},
        "models": {"m": model, LONG: model | {"id": "y"}},
        "settings": {"cot": {}, DIRECT: {"prompt": "direct"}},
        "infer": {"models": ["m", LONG],
                  "settings": ["cot", DIRECT]},
    }  # fmt: skip


def test_problems_in_the_data_folder_are_planned_as_once_they_are_frozen(
    values: dict[str, Any], tmp_path: Path
) -> None:
    study = parse_study(values, "test")
    before = plan_questions(study)
    assert before.over == f"Counted over the 3 problems in {values['data']}, not frozen yet"
    assert not (tmp_path / "results").exists()
    freeze_dataset(None, tmp_path / "results/freeze", study)
    after = plan_questions(study)
    assert after.over == ""
    assert before.model_copy(update={"over": ""}) == after
    assert [row.to_buy for row in after.rows] == [3, 3, 3, 3]


def test_a_rehearsal_is_planned_before_its_answers_are_frozen(
    values: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(yaml.safe_dump(values))
    done = call_main("plan", "--simulated", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Counted over the 3 problems in" in done.stdout


def test_a_plan_fits_eighty_columns_and_keeps_every_name_and_number(
    values: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(values))
    narrow = call_main("plan", cwd=tmp_path).stdout.splitlines()
    assert max(map(len, narrow)) <= NARROW
    wide = call_main("plan", "--wide", cwd=tmp_path).stdout.splitlines()
    assert max(map(len, wide)) > NARROW
    assert LONG in narrow
    assert narrow.count(f"  {DIRECT}") == 2
    head = next(" ".join(line.split()) for line in narrow if "requests  stored" in line)
    assert head == "setting requests stored to buy expected at most time"
    assert sum(bool(re.search(r" 3 +0 +3 +\$", line)) for line in narrow) == 4
    total = next(line.split() for line in narrow if line.startswith("all "))
    assert total[1:4] == ["12", "0", "12"]


def test_the_latest_problems_of_papers_are_planned_and_named(papers: Study, tmp_path: Path) -> None:
    whole = papers.model_copy(
        update={"settings": parse_study({"settings": {"cot": {}}}, "x").settings,
                "infer": papers.infer.model_copy(update={"models": ["one"], "settings": ["cot"]})}
    )  # fmt: skip
    read = plan_questions(whole)
    assert read.over.startswith("Counted over the 3 problems that ocr read")
    assert "an upper bound" in read.over
    assert [row.requests for row in read.rows if row.setting == "cot"] == [3]
    results = tmp_path / "results"
    filter_problems(results / "ocr/problems.jsonl", results / "filter", papers)
    sifted = plan_questions(whole)
    kept = len((results / "filter/problems.jsonl").read_text().splitlines())
    assert sifted.over.startswith(f"Counted over the {kept} problems that filter kept")


def test_unread_papers_are_known_by_number_and_their_cells_estimated(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "sources.yaml").write_text(json.dumps(
        {"sources": [{"name": "a", "subject": "physics", "paper": "a.pdf"}]}
    ))  # fmt: skip
    model = {
        "provider": "openai",
        "id": "x",
        "price": {"input": 1.0, "output": 2.0, "as_of": "2026-01-01"},
    }
    study = parse_study(
        {"ocr": {"sources": str(tmp_path / "sources.yaml")}, "benchmark": {"like": "emma-mini"},
         "study": {"results": f"{tmp_path}/results", "store": f"{tmp_path}/store"},
         "models": {"m": model}, "settings": {"cot": {}},
         "infer": {"models": ["m"], "settings": ["cot"]}},
        "test",
    )  # fmt: skip
    plan = plan_questions(study)
    text = " ".join(render(plan).split())
    assert "Known: 1 paper without a problem yet, 1 cell. Estimated over 100 generated" in text
    assert "100 requests of the cells, $" in text
    assert not (tmp_path / "results").exists()


def test_papers_that_are_not_named_are_no_plan(tmp_path: Path) -> None:
    done = call_main("plan", "--params", json.dumps({"study": {"results": f"{tmp_path}/r"}}))
    assert done.returncode == 2
    assert "the dataset is not frozen yet; run `snakemake freeze_all" in done.stderr
