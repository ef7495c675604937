"""Filling buys what the cells need, once, and says so when it could not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.stages.infer.conftest import Make
from tests.stages.infer.pictured import pictured_questions, pictured_study

from omibench.errors import PassingError
from omibench.graph.job_hash import slice_study
from omibench.models.provider import NO_BUDGET, Budget
from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.setting import Cell
from omibench.params.study import Study, list_settings
from omibench.schemas.request import Request, Response
from omibench.stages.infer.stage import count_tasks, fill_helper, fill_model, fill_store, infer_cell


def test_one_call_fills_every_setting_of_a_model(
    tmp_path: Path, questions: Path, study: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = study()
    settings = list(whole.settings)
    calls: list[int] = []
    answer = SimulatedProvider.answer

    def counted(
        self: SimulatedProvider, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        calls.append(len(requests))
        return answer(self, requests, budget)

    monkeypatch.setattr(SimulatedProvider, "answer", counted)
    model = whole.infer.models[0]
    wanted = sum(count_tasks(questions, whole, Cell(model, s)) for s in settings)
    assert fill_model(questions, whole, model, settings) == wanted
    assert len(calls) == 1
    for setting in settings:
        infer_cell(questions, tmp_path / f"{setting}.parquet", whole, Cell(model, setting))
    assert len(calls) == 1
    assert fill_store(questions, whole, Cell(model, settings[0]), slice(0, 1)) == 1


@pytest.mark.parametrize("passing", [True, False])
def test_a_failed_request_is_an_error_where_a_retry_can_mend_it(
    questions: Path,
    study: Make,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    passing: bool,
) -> None:
    def down(
        self: SimulatedProvider, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        for request in requests:
            error = "503 overloaded"
            yield (
                request,
                Response(text="", outcome="provider_error", error=error, passing=passing),
            )

    whole = study()
    monkeypatch.setattr(SimulatedProvider, "answer", down)
    said = r"requests failed, the first for .* 503 overloaded"
    model, settings = whole.infer.models[0], list(whole.settings)
    if passing:
        with pytest.raises(PassingError, match=said):
            fill_model(questions, whole, model, settings)
    else:
        assert fill_model(questions, whole, model, settings) > 0
        assert "requests failed, the first for" in caplog.text


def test_a_helper_is_asked_ahead_all_that_it_says_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, questions = pictured_study(tmp_path), pictured_questions(tmp_path)
    asked: list[tuple[str, int]] = []
    answer = SimulatedProvider.answer

    def counted(
        self: SimulatedProvider, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        asked.append((requests[0].tags.role, len(requests)))
        return answer(self, requests, budget)

    monkeypatch.setattr(SimulatedProvider, "answer", counted)
    settings = list_settings(whole, "help", "eyes")
    assert settings == ["words", "again"]
    part = Study.model_validate(slice_study(whole, "help", Cell("eyes", "")))
    assert (set(part.models), set(part.settings)) == ({"eyes"}, set(settings))
    part = part.model_copy(update={"study": whole.study})
    assert fill_helper(questions, part, "eyes", settings) == 6
    assert asked == [("captioner", 6)]
    for setting in settings:
        fill_store(questions, whole, Cell("a", setting), slice(None))
    assert [role for role, _ in asked] == ["captioner", "respondent", "respondent"]
    assert list_settings(whole, "help", "a") == []
