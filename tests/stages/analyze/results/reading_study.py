"""The made study, its setting `cot` having the pictures read first, and what a judge said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from tests.stages.analyze.conftest import forget_origins, make_study, study_values

from omibench.answers.transcripts import print_text
from omibench.params.study import parse_study
from omibench.schemas.problem import Question
from omibench.schemas.tables import (
    JudgementRow,
    ResponseRow,
    read_jsonl,
    read_parquet,
    write_parquet,
)
from omibench.stages.analyze.analysis import Analysis

CUTS = {"sim-strong": 0, "sim-middle": 4, "sim-weak": 2}
"""Of how many characters one is lost: a larger number keeps more, and 0 all of them."""


def spoil_text(text: str, cut: int) -> str:
    """The text without every `cut`-th character."""
    return "".join(c for n, c in enumerate(text) if not cut or n % cut)


def open_reading_study(folder: Path, *, judged: bool, reader: str | None = None) -> Analysis:
    """Write the files and open the analysis; one problem was not read, and of one none spoke."""
    folders = make_study(folder)
    values: dict[str, Any] = study_values()
    perception = {"given": "I+QM", "by": reader} if reader else "I+QM"
    values["settings"]["cot"]["perception"] = perception
    values["judge"] = {"transcripts": "judge"} if judged else {}
    study = parse_study(values, "test")
    questions = {q.id: q for q in read_jsonl(folders.freeze / "questions.jsonl", Question)}
    for model, cut in CUTS.items():
        file = folders.infer / model / "cot.parquet"
        rows = [ResponseRow(**row) for row in read_parquet(file, ResponseRow).to_dicts()]
        texts = {row.id: spoil_text(print_text(questions[row.id]), cut) for row in rows[1:]}
        changed = [
            row.model_copy(update={"readings": [texts[row.id], "figures"]})
            if row.id in texts
            else row
            for row in rows
        ]
        write_parquet(file, changed, ResponseRow)
        judgements = [
            JudgementRow(
                id=row.id, index=0, key=row.key, instrument="transcript", version=1, judge="judge",
                outcome="scored" if n else "judge_failed", simulated=True,
                terms=0.5 + 0.25 * (not cut) if n else None, semantics=0.75 if n else None,
            )
            for n, row in enumerate(rows[1:])
        ]  # fmt: skip
        if judged:
            write_parquet(folder / f"judge/{model}/cot.parquet", judgements, JudgementRow)
    forget_origins(folder)
    results = folders.load(study)
    return Analysis(study, results, folder, folders.out / "report.html")


def read_metrics(table: pl.DataFrame | None, **place: Any) -> dict[str, float]:
    """Metric -> estimate of the rows of one place."""
    assert table is not None
    return dict(table.filter(**place).select("metric", "estimate").iter_rows())
