"""The plan counts what would be asked, and asks nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from infer.conftest import Make, frozen_questions, study_maker
from omibench.errors import MissingInputError
from omibench.infer import infer_cell
from omibench.plan import plan_study, render
from omibench.study import Cell


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return frozen_questions(tmp_path)


@pytest.fixture
def study(tmp_path: Path) -> Make:
    return study_maker(tmp_path)


def counts(study: Make, questions: Path, **blocks: object) -> list[tuple[int, ...]]:
    plan = plan_study(study(**blocks), questions)
    return [(c.requests, c.stored, c.to_buy, c.images, c.judge_requests) for c in plan.cells]


def test_a_plan_counts_and_leaves_no_trace(tmp_path: Path, questions: Path, study: Make) -> None:
    assert counts(study, questions) == [(3, 0, 3, 6, 0), (3, 0, 3, 3, 0), (9, 0, 9, 18, 0)]
    assert not (tmp_path / "store").exists()


def test_what_the_store_holds_is_not_bought_again(
    tmp_path: Path, questions: Path, study: Make
) -> None:  # fmt: skip
    infer_cell(questions, tmp_path / "o.parquet", study(), Cell("sim", "cot"))
    fewer = {"many": {"prompt": "direct", "decoding": {"samples": 2, "temperature": 0.6}}}
    settings = {"cot": {}, "first": {"images": "first"}}
    infer_cell(
        questions,
        tmp_path / "o.parquet",
        study(settings={**settings, **fewer}),
        Cell("sim", "many"),
    )
    assert counts(study, questions) == [(3, 3, 0, 0, 0), (3, 0, 3, 3, 0), (9, 6, 3, 6, 0)]


def test_every_response_may_need_a_judgement(questions: Path, study: Make) -> None:
    found = counts(study, questions, score={"judge": "sim"})
    assert [row[-1] for row in found] == [3, 3, 9]


def test_the_table_ends_in_totals(questions: Path, study: Make) -> None:
    text = render(plan_study(study(), questions))
    rows = [line.split() for line in text.splitlines()]
    assert ["sim", "first", "3", "0", "3", "3", "0"] in rows
    assert ["all", "15", "0", "15", "27", "0"] in rows
    assert "SIMULATED" in text


def test_without_a_frozen_dataset_the_command_is_named(tmp_path: Path, study: Make) -> None:
    with pytest.raises(MissingInputError, match="no frozen dataset yet; make it with"):
        plan_study(study(), tmp_path / "questions.jsonl")
