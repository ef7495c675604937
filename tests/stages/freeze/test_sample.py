"""The sample as it is frozen: reviewed, complete, and without gold among its questions."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from omibench.params.study import Study, parse_study
from omibench.review.apply import load_decisions
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import read_jsonl
from omibench.stages.filter import filter_problems
from omibench.stages.freeze import freeze_dataset

pytestmark = pytest.mark.slow
DISTINCTIVE = re.compile(r"[\d.]{3,}\s*\S|\w{12}|[=^/]")
"""Golds that would not stand in a statement by accident, as `5` or `TRUE` may."""


@pytest.fixture(scope="module")
def frozen(sample_papers: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The frozen sample, its solutions as its papers have them."""
    folder = tmp_path_factory.mktemp("sample")
    filter_problems(sample_papers / "problems.jsonl", folder / "filter", Study())
    study = parse_study({"review": {"decisions": str(root / "sample/review.yaml")}}, "test")
    freeze_dataset(folder / "filter/problems.jsonl", folder / "freeze", study)
    return folder / "freeze"


def test_no_gold_and_no_solution_stands_in_the_questions(frozen: Path) -> None:
    answers = {answer.id: answer for answer in read_jsonl(frozen / "answers.jsonl", Answer)}
    checked = 0
    for line in (frozen / "questions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        row.pop("choices")
        shown, answer = json.dumps(row, ensure_ascii=False), answers[row["id"]]
        for gold in filter(DISTINCTIVE.search, answer.answer):
            assert gold not in shown, row["id"]
            checked += 1
        for sentence in re.split(r"(?<=\.)\s+", answer.solution or ""):
            assert len(sentence) < 30 or sentence not in shown, row["id"]
            checked += len(sentence) >= 30
    assert checked > 50


def test_decisions_on_the_sample_are_obeyed(frozen: Path, root: Path) -> None:
    decisions = load_decisions(root / "sample/review.yaml")
    questions = {
        question.id: question for question in read_jsonl(frozen / "questions.jsonl", Question)
    }
    assert {decision.decision for decision in decisions} == {"keep", "drop", "edit"}
    for decision in decisions:
        assert (decision.problem in questions) == (decision.decision != "drop")
        if decision.edit and decision.edit.subject:
            assert questions[decision.problem].subject == decision.edit.subject


def test_six_problems_of_each_subject_are_left_in_the_order_of_their_papers(frozen: Path) -> None:
    questions = read_jsonl(frozen / "questions.jsonl", Question)
    subjects = Counter(question.subject for question in questions)
    assert set(subjects) == {"biology", "chemistry", "mathematics", "physics"}
    assert min(subjects.values()) >= 6
    ids = [question.id for question in questions if question.source == "physics"]
    assert ids == sorted(ids, key=lambda id_: int(id_.rpartition("-")[2]))
    assert "physics-10" in ids
