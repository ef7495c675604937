"""Fill the store with judgements ahead of the jobs that write scores and judgements."""

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
    """How many responses a cell's file holds."""
    return read_parquet(responses, ResponseRow).height


def fill_judgements(results: Path, study: Study, cell: Cell, shard: slice) -> int:
    """Score and judge one shard of a cell's responses; only what judges replied is kept.

    Returns how many responses it is. Raises as `score_cell` and `judge_cell` do, and PassingError
    when requests failed in a way that may pass: what was answered is kept.
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
    """The study without a draw of failures: what is drawn is known from the whole cell alone."""
    if study.judge.errors is None or study.judge.errors.draw is None:
        return study
    return study.model_copy(update={"judge": study.judge.model_copy(update={"errors": None})})
