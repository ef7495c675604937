"""A partial run asks a part, says so, and buys nothing that a later whole run buys again."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.stages.infer.conftest import Make

from omibench.errors import ParamsError
from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.params.study_params import Limit
from omibench.stages.infer import infer_cell
from omibench.stages.infer.stage import count_tasks
from omibench.study.plan.build import plan_study
from omibench.study.plan.text import render

CELL = Cell("sim", "cot")


def limited_to(study: Study, limit: Limit | None) -> Study:
    return study.model_copy(update={"study": study.study.model_copy(update={"limit": limit})})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The problems that the model is really asked, one entry a request."""
    seen: list[str] = []
    answer = SimulatedProvider.answer

    def noting(self, requests, *more):  # type: ignore[no-untyped-def]
        seen.extend(request.tags.problem for request in requests)
        return answer(self, requests, *more)

    monkeypatch.setattr(SimulatedProvider, "answer", noting)
    return seen


def test_from_a_part_to_the_whole_buys_the_rest_alone(
    tmp_path: Path, questions: Path, study: Make, asked: list[str]
) -> None:
    out, whole = tmp_path / "cell.parquet", study()
    part = limited_to(whole, Limit(n=2))
    assert count_tasks(questions, part, CELL) == 2
    assert infer_cell(questions, out, part, CELL) == 2
    assert pl.read_parquet(out)["id"].to_list() == asked == ["p0", "p1"]
    assert infer_cell(questions, out, whole, CELL) == 3
    assert asked == ["p0", "p1", "p2"]
    keys = pl.read_parquet(out)["key"].to_list()
    assert infer_cell(questions, out, limited_to(whole, Limit(ids=["p2"])), CELL) == 1
    assert pl.read_parquet(out)["key"].to_list() == keys[2:]
    assert len(asked) == 3


def test_an_id_that_no_problem_has_is_named_before_anything_is_asked(
    tmp_path: Path, questions: Path, study: Make, asked: list[str]
) -> None:
    part = limited_to(study(), Limit(ids=["p0", "q1"]))
    with pytest.raises(
        ParamsError, match="'q1' is not a problem of the dataset; known: p0, p1, p2"
    ):
        infer_cell(questions, tmp_path / "o.parquet", part, CELL)
    assert asked == []


def test_a_plan_of_a_part_counts_it_and_says_so(questions: Path, study: Make) -> None:
    plain = study(infer={"models": ["sim"], "settings": ["cot", "first"]})
    plan = plan_study(limited_to(plain, Limit(sample=2, seed=3)), questions)
    assert [row.requests for row in plan.list_rows("respondent")] == [2, 2]
    assert plan.power is not None
    assert plan.power.problems == 2
    first = render(plan).splitlines()[0]
    assert first.startswith("[PARTIAL RUN, 2 of 3 problems (a sample of 2, seed 3)] Plan of")
    whole = plan_study(limited_to(plain, Limit(n=3)), questions)
    assert whole == plan_study(plain, questions)
    assert "PARTIAL" not in render(whole)
