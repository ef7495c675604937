"""A cell that got too few answers is a failed job, and nothing that passes for a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.stages.infer.conftest import Make
from tests.stages.infer.test_closing import paid, scripted

from omibench.errors import ModelError, PassingError
from omibench.graph.job_hash import slice_study
from omibench.models.openai import OpenAIProvider
from omibench.params.runtime import RUNTIME_ENV, dump_runtime, merge_runtime
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.cells import failed_reason
from omibench.schemas.request import Response
from omibench.stages.infer import infer_cell
from omibench.store.store import Store


def with_share(study: Study, share: float) -> Study:
    infer = study.infer.model_copy(update={"failed_share": share})
    return study.model_copy(update={"infer": infer})


@pytest.mark.parametrize(
    ("outcomes", "failed"),
    [
        ({"answered": 95, "provider_error": 5}, False),
        ({"answered": 94, "provider_error": 6}, True),
        ({"refused": 60, "truncated": 20, "empty": 20}, False),
        ({"budget_stop": 100}, False),
        ({"budget_stop": 99, "provider_error": 1}, True),
        ({"provider_error": 1}, True),
        ({"refused": 96, "provider_error": 4}, False),
        ({}, False),
    ],
)
def test_errors_of_the_provider_alone_make_a_cell_fail(
    outcomes: dict[str, int], failed: bool
) -> None:
    assert (failed_reason(outcomes, 0.05) is not None) == failed


def test_a_cell_that_nobody_answered_fails_whatever_share_is_allowed() -> None:
    assert failed_reason({"provider_error": 3}, 1.0) == "no request got a response"
    assert failed_reason({"provider_error": 3, "empty": 1}, 1.0) is None


def test_a_failed_cell_is_not_written_names_the_command_and_keeps_what_was_bought(
    tmp_path: Path, questions: Path, study: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, "provider_error", "answered", "provider_error")
    monkeypatch.setenv(RUNTIME_ENV, "{}")
    asked, out = with_share(paid(study, tmp_path), 0.05), tmp_path / "infer/api/cot.parquet"
    with pytest.raises(ModelError) as failure:
        infer_cell(questions, out, asked, Cell("api", "cot"))
    line = str(failure.value)
    assert line.startswith("api/cot: the cell has failed, more than 5 % of its requests")
    assert "2 of 3 requests (2 provider error; the first error: HTTP 500: overloaded)" in line
    assert f"`snakemake --cores all --forcerun {out}`" in line
    assert "\n" not in line
    assert not out.exists()
    provider = OpenAIProvider("api", asked.models["api"])  # type: ignore[arg-type]
    with Store(asked.study.store) as store:
        assert len(store.open_partition(provider.identity)) == 1
    scripted(monkeypatch, "answered", "answered")
    assert infer_cell(questions, out, asked, Cell("api", "cot")) == 3
    assert out.exists()


def test_a_failure_that_may_pass_is_told_from_one_that_cannot(
    tmp_path: Path, questions: Path, study: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: OpenAIProvider, requests: Any, budget: Any = None) -> Any:
        for request in requests:
            yield (
                request,
                Response(text="", outcome="provider_error", error="HTTP 503", passing=True),
            )

    monkeypatch.setattr(OpenAIProvider, "answer", refuse)
    with pytest.raises(PassingError, match="no request got a response"):
        infer_cell(questions, tmp_path / "o.parquet", paid(study, tmp_path), Cell("api", "cot"))


def test_another_share_reaches_the_job_and_makes_no_job_run_again(
    tmp_path: Path, study: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, other = (with_share(paid(study, tmp_path), share) for share in (0.05, 0.2))
    cell = Cell("api", "cot")
    assert slice_study(plain, "infer", cell) == slice_study(other, "infer", cell)
    values = other.model_dump(mode="json", exclude_defaults=True)
    monkeypatch.setenv(RUNTIME_ENV, dump_runtime(values, tmp_path))
    assert merge_runtime(slice_study(other, "infer", cell))["infer"] == {"failed_share": 0.2}
