"""A limit that leaves few or none of the problems that a setting asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from omibench.params.study import Study, parse_study
from omibench.results.study_record import record_study
from omibench.schemas.tables import ResponseRow, VerdictRow, read_parquet
from omibench.stages.aggregate import aggregate_cell
from omibench.stages.analyze import analyze_study
from omibench.stages.freeze import freeze_dataset
from omibench.stages.infer import infer_cell
from omibench.stages.score.stage import ScoreFiles, score_cell

PHYSICS = ["synthetic-physics-1", "synthetic-physics-2", "synthetic-physics-3"]


def make_study(results: Path, ids: list[str]) -> Study:
    model = {"provider": "simulated", "oracle": "synthetic:emma-mini"}
    values = {
        "benchmark": {"name": "synthetic", "like": "emma-mini"},
        "study": {
            "results": str(results), "store": str(results) + "-store", "limit": {"ids": ids},
        },
        "models": {"a": model | {"ability": 1.0}, "b": model},
        "settings": {
            "cot": {},
            "math": {"where": {"subject": "mathematics"}, "decoding": {"samples": 2}},
        },
        "infer": {"models": ["a", "b"], "settings": ["cot", "math"]},
        "score": {"scorers": ["emma"]},
        "analyze": {"explorer": False},
    }  # fmt: skip
    return parse_study(values, "test")


def run_cells(study: Study, results: Path) -> Iterator[tuple[str, int, int]]:
    freeze = results / "freeze"
    freeze_dataset(None, freeze, study)
    for cell in study.cells:
        place = f"{cell.model}/{cell.setting}.parquet"
        for stage in ("infer", "score", "aggregate"):
            (results / stage / cell.model).mkdir(parents=True, exist_ok=True)
        responses, verdicts = results / "infer" / place, results / "score" / place
        infer_cell(freeze / "questions.jsonl", responses, study, cell)
        score_cell(ScoreFiles(responses, freeze / "answers.jsonl"), verdicts, study)
        if cell in study.aggregated_cells:
            aggregate_cell(results, results / "aggregate" / place, study, cell)
        rows = read_parquet(responses, ResponseRow), read_parquet(verdicts, VerdictRow)
        yield (str(cell.setting), rows[0].height, rows[1].height)


@pytest.mark.slow
def test_a_setting_with_none_of_the_limited_problems_has_an_empty_cell(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    results = tmp_path / "results"
    study = make_study(results, PHYSICS)
    assert [*run_cells(study, results)] == [("cot", 3, 3), ("math", 0, 0)] * 2
    assert "a/math: study.limit leaves none of its problems; the cell is empty" in caplog.text
    record_study(study, results)
    analyze_study(results, results / "analyze", study)
    accuracy = pl.read_parquet(results / "analyze/tables/accuracy.parquet")
    assert accuracy["setting"].unique().to_list() == ["cot"]


def test_a_setting_with_some_of_the_limited_problems_is_scored_on_those(tmp_path: Path) -> None:
    study = make_study(tmp_path / "results", [*PHYSICS, "synthetic-mathematics-1"])
    cells = [*run_cells(study, tmp_path / "results")]
    assert cells == [("cot", 4, 4), ("math", 2, 2)] * 2
