"""What judges said of the reasoning in each response, as the page of its problem tells it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from omibench.analyze.reasoning import ALIGNMENT, QUALITY
from omibench.analyze.words import outcome_name
from omibench.study import Study
from omibench.tables import JudgementRow, read_parquet

_MARKS = {"quality": QUALITY, "alignment": (ALIGNMENT,)}


class Judgement(NamedTuple):
    """One judge's word on one response, or the vote of several."""

    instrument: str
    judge: str
    words: str
    failed: bool
    key: str
    """Of the judge's reply in the store; empty where the outcome alone told."""
    simulated: bool
    left_out: bool
    """One of several judges, whose vote counts instead."""


Judgements = dict[tuple[str, str, str, int], list[Judgement]]
"""By model, setting, problem and sample."""


def judgements(study: Study, folder: Path) -> Judgements:
    """Every judgement of the study in `folder`, the results folder of the stage `judge`.

    Cells without a file have none: `reasoning` has refused what should be there and is not.
    """
    found: Judgements = defaultdict(list)
    for cell in study.judged_cells:
        path = folder / cell.model / f"{cell.setting}.parquet"
        if path.is_file():
            for row in read_parquet(path, JudgementRow).iter_rows(named=True):
                found[cell.model, cell.setting, row["id"], row["index"]].append(_judgement(row))
    return found


def _judgement(row: dict[str, Any]) -> Judgement:
    failed = row["outcome"] != "scored"
    return Judgement(
        instrument=outcome_name(row["instrument"]),
        judge=row["judge"] or "",
        words=outcome_name(row["outcome"]) if failed else _words(row),
        failed=failed,
        key=row["judge_key"] or "",
        simulated=row["simulated"],
        left_out=not row["counts"],
    )


def _words(row: dict[str, Any]) -> str:
    if row["instrument"] in _MARKS:
        marks = {name: row[name] for name in _MARKS[row["instrument"]]}
        told = [f"{outcome_name(n)} {m:g}" for n, m in marks.items() if m is not None]
        return f"{', '.join(told)} of 5"
    taxonomy = f" ({row['taxonomy']})" if row["taxonomy"] else ""
    return f"{outcome_name(row['error_type'] or 'none')}{taxonomy}"
