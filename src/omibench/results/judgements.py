"""Judgements of the reasoning in responses, from the stage `judge`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import MissingInputError
from omibench.params.cell import Cell
from omibench.results.load import Results
from omibench.schemas.tables import JudgementRow, read_parquet

if TYPE_CHECKING:
    import polars as pl


def read_judgements(results: Results, folder: Path, cell: Cell) -> pl.DataFrame:
    """Read the judgements of a cell that count.

    Args:
        results: The study of the cell.
        folder: The results folder of the stage `judge`.
        cell: The cell.

    Returns:
        The columns of JudgementRow, and `cluster`, the group of the problem.

    Raises:
        MissingInputError: The study judges the cell, but its file does not exist.
    """
    import polars as pl

    path = folder / cell.model / f"{cell.setting}.parquet"
    if not path.is_file():
        raise MissingInputError(
            f"{path}: the file does not exist; run `omibench judge` for {cell.model} under "
            f"{cell.setting} first, or remove `judge` from the params"
        )
    clusters = {answer.id: answer.group or answer.id for answer in results.answers.values()}
    counting = read_parquet(path, JudgementRow).filter("counts")
    return counting.with_columns(
        cluster=pl.col("id").replace_strict(clusters, default=None, return_dtype=pl.String)
    )


def read_all_judgements(results: Results, folder: Path) -> pl.DataFrame:
    """Read the counting judgements of all cells that the study judges.

    Args:
        results: The study.
        folder: The results folder of the stage `judge`.

    Returns:
        The columns of `read_judgements`, and `model` and `setting`.

    Raises:
        MissingInputError: A cell that the study judges has no file.
    """
    import polars as pl

    frames = (
        read_judgements(results, folder, cell).with_columns(
            model=pl.lit(cell.model), setting=pl.lit(cell.setting)
        )
        for cell in results.study.judged_cells
    )
    return pl.concat(frames)
