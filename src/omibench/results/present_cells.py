"""The cells of a report: those with files, and those that can lead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.params.cell import Cell
from omibench.params.cells import list_cells
from omibench.params.stage_params import ResultsParams
from omibench.schemas.cells.failure import count_answered, failed_reason

if TYPE_CHECKING:
    import polars as pl

NAMED = 3
"""Missing cells that a sentence lists."""


def find_present_cells(study: ResultsParams, infer: Path, score: Path) -> list[Cell]:
    """Return the cells of a study with responses and verdicts."""
    return [
        cell
        for cell in list_cells(study.infer)
        if all(
            (stage / cell.model / f"{cell.setting}.parquet").is_file() for stage in (infer, score)
        )
    ]


def keep_cells(study: ResultsParams, cells: Sequence[Cell]) -> ResultsParams:
    """Return the study with only these cells."""
    settings_by_model = {
        model: [cell.setting for cell in cells if cell.model == model]
        for model in dict.fromkeys(cell.model for cell in cells)
    }
    infer = study.infer.model_copy(
        update={"models": list(settings_by_model), "only": settings_by_model}
    )
    return study.model_copy(update={"infer": infer})


def describe_missing(missing: Sequence[Cell]) -> str:
    """Describe the cells that a report lacks; empty if it lacks none."""
    if not missing:
        return ""
    names = ", ".join(f"{cell.model}/{cell.setting}" for cell in missing[:NAMED])
    ending = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
    count_text = "1 cell is" if len(missing) == 1 else f"{len(missing):,} cells are"
    return f"{count_text} missing, without responses or verdicts: {names}{ending}."


def failed_cells(responses: pl.DataFrame, cells: Iterable[Cell], share: float) -> list[Cell]:
    """Return the cells that cannot lead: without answers, or with more than `share` errors.

    Such a cell is written only if more errors were allowed at the time, or the budget ended it.
    """
    failed = []
    counts = {
        Cell(model, setting): dict(zip(part["outcome"], part["len"], strict=True))
        for (model, setting), part in responses.group_by("model", "setting", "outcome")
        .len()
        .partition_by("model", "setting", as_dict=True)
        .items()
    }
    for cell in cells:
        outcomes = counts.get(cell, {})
        if failed_reason(outcomes, share) or not count_answered(outcomes):
            failed.append(cell)
    return failed
