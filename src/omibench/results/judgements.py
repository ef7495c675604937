"""Judgements of the reasoning in responses, from the stage `judge`."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from omibench.errors import MissingInputError
from omibench.params.cell import Cell
from omibench.results.load import Results
from omibench.results.study_files import StudyFiles


def read_judgements(results: Results, folder: Path, cell: Cell) -> pl.DataFrame:
    """Read the judgements of a cell that count.

    Args:
        results: The study of the cell.
        folder: The results folder of the stage `judge`.
        cell: The cell.

    Returns:
        `model, setting`, the columns of JudgementRow, and `cluster`, the group of the problem.

    Raises:
        MissingInputError: The study judges the cell, but its file does not exist.
    """
    files = StudyFiles(folder.parent, judge=folder)
    if not files.locate("judge", cell).is_file():
        raise MissingInputError(
            f"{files.locate('judge', cell)}: the file does not exist; run `omibench judge` for "
            f"{cell.model} under {cell.setting} first, or remove `judge` from the params"
        )
    clusters = {answer.id: answer.group or answer.id for answer in results.answers.values()}
    counting = files.read_judgements(cell).filter("counts")
    return counting.with_columns(
        cluster=pl.col("id").replace_strict(clusters, default=None, return_dtype=pl.String)
    )


def read_all_judgements(results: Results, folder: Path) -> pl.DataFrame:
    """Read the counting judgements of all cells that the study judges.

    Args:
        results: The study.
        folder: The results folder of the stage `judge`.

    Returns:
        The columns of `read_judgements`.

    Raises:
        MissingInputError: A cell that the study judges has no file.
    """
    return pl.concat(read_judgements(results, folder, cell) for cell in results.study.judged_cells)
