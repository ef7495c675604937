"""After a run: what was expected beside what it took."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.plan.test_build import keep, paid
from tests.stages.infer.conftest import Make, frozen_questions, study_maker

from omibench.schemas.request import Response
from omibench.study.plan.comparison import compare_study, render_comparison


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return frozen_questions(tmp_path)


@pytest.fixture
def study(tmp_path: Path) -> Make:
    return study_maker(tmp_path)


def response(**usage: int | None) -> Response:
    return Response.model_validate({"text": "x", "usage": usage, "cost_usd": 0.01})


def test_counts_stand_beside_what_the_rules_expected(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    one = paid(study, tmp_path, 1.0)
    keep(one, questions, "api", "cot", response(input_tokens=5000, output_tokens=500))
    found = compare_study(one, questions)
    (cell,) = found.cells
    assert (cell.responses, cell.input, cell.output) == (3, 15_000, 1500)
    assert cell.output_expected == 750
    assert cell.usd == pytest.approx(0.03)
    text = render_comparison(found)
    assert "2.00" in next(line for line in text.splitlines() if line.startswith("api"))
    assert "Budget: $1.00; $0.00 spent by all models and judges" in text


def test_what_was_not_counted_is_compared_with_nothing(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    one = paid(study, tmp_path)
    keep(one, questions, "api", "cot", response(input_tokens=None, output_tokens=500))
    (cell,) = compare_study(one, questions).cells
    assert (cell.input, cell.input_expected) == (None, None)
    assert cell.output_expected == 750
    assert "unknown" in render_comparison(compare_study(one, questions))


def test_before_the_first_answer_there_is_nothing_to_compare(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    text = render_comparison(compare_study(paid(study, tmp_path), questions))
    assert text == "Study 'test': the store has no responses of it yet"
