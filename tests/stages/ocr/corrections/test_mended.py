"""A problem that the filter would reject is mended by corrections, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages.ocr.corrections.mock_paper import FRACTION, draw_paper, write_corrections
from typer.testing import CliRunner

from omibench.cli.main import app
from omibench.params.study import Study
from omibench.schemas.curation import Reject
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, read_parquet
from omibench.stages.filter import filter_problems

STUDY = Study.model_validate({"filter": {"min_images": 0}})
WAS = "1. Find the period of the pendulum, which is 2\n67R\n20g"
MENDED = r"1. Find the period of the pendulum, which is $2\pi\sqrt{\frac{67R}{20g}}$"


def read_and_filter(folder: Path) -> str:
    """What the command says, run on the paper in the folder."""
    out = folder / "ocr"
    done = CliRunner().invoke(app, ["ocr", str(folder / "mock.pdf"), "--out", str(out)])
    assert done.exit_code == 0, done.output
    filter_problems(out / "problems.jsonl", folder / "filter", STUDY)
    return done.output


@pytest.mark.slow
def test_a_rejected_problem_is_mended_and_kept_by_the_filter(tmp_path: Path) -> None:
    draw_paper(tmp_path / "mock.pdf")
    read_and_filter(tmp_path)
    rejects = read_parquet(tmp_path / "filter/rejects.parquet", Reject).to_dicts()
    reasons = {row["id"]: set(row["reasons"]) for row in rejects}
    assert reasons["mock.pdf-1"] == {"answer_missing", "ocr_error"}

    text = {"page": 1, "box": list(FRACTION), "text": MENDED, "was": WAS}
    answer: dict[str, object] = {"problem": "1", "answer": ["B"], "was": "", "by": "Bo"}
    write_corrections(tmp_path, text, answer)
    assert "2 corrections: 2 applied" in read_and_filter(tmp_path)
    (problem,) = read_jsonl(tmp_path / "filter/problems.jsonl", Problem)
    assert problem.number == "1"
    assert problem.question.startswith(MENDED.removeprefix("1. "))
    assert problem.answer == ["B"]
    corrected = [warning.detail for warning in problem.warnings if warning.code == "corrected"]
    assert corrected == ["text by Ana", "answer by Bo"]

    write_corrections(tmp_path, {**text, "was": "Something else."}, answer)
    assert "2 corrections: 1 applied, 1 misfit" in read_and_filter(tmp_path)
    assert read_jsonl(tmp_path / "filter/problems.jsonl", Problem) == []
