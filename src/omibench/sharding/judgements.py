"""Judgements requested ahead of the jobs that write scores and judgements."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from omibench.client.ask import strictly
from omibench.params.cell import Cell
from omibench.schemas.tables import ResponseRow, read_parquet
from omibench.stages.judge.material import CellFiles
from omibench.stages.judge.stage import judge_cell
from omibench.stages.score.stage import ScoreFiles, score_cell

if TYPE_CHECKING:
    from omibench.params.study import Study


def count_responses(responses: Path) -> int:
    """Return the number of responses in a cell's file."""
    return read_parquet(responses, ResponseRow).height


def fill_judgements(results: Path, study: Study, cell: Cell, shard: slice) -> int:
    """Score and judge one shard of a cell's responses; only the judges' replies are stored.

    Returns the number of responses. Raises as `score_cell` and `judge_cell` do, and PassingError
    if requests failed transiently; replies so far are kept.
    """
    frozen = results / "freeze"
    answers, questions = frozen / "answers.jsonl", frozen / "questions.jsonl"
    rows = read_parquet(results / "infer" / cell.model / f"{cell.setting}.parquet", ResponseRow)
    with TemporaryDirectory(prefix="omibench-") as folder, strictly():
        part, verdicts = Path(folder) / "responses.parquet", Path(folder) / "verdicts.parquet"
        rows[shard].write_parquet(part)
        score_cell(ScoreFiles(part, answers, questions), verdicts, study)
        judged = _leave_draw(study) if rows[shard].height < rows.height else study
        if cell in judged.judged_cells:
            files = CellFiles(part, verdicts, answers, questions)
            judge_cell(files, Path(folder) / "judgements.parquet", judged)
    return rows[shard].height


def _leave_draw(study: Study) -> Study:
    """Return the study without its sample of failures, which depends on the whole cell."""
    if study.judge.errors is None or study.judge.errors.draw is None:
        return study
    return study.model_copy(update={"judge": study.judge.model_copy(update={"errors": None})})
