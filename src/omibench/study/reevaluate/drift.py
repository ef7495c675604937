"""The drift check: the same problems asked again every month, with a paired test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl

from omibench.files.reading import read_json
from omibench.models.client.ask import check_answered
from omibench.params.reevaluate import DriftParams
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.params.study_params import Limit
from omibench.results.statistics.paired import mcnemar_p
from omibench.results.study_files import StudyFiles
from omibench.schemas.tables import ResponseRow, VerdictRow, read_parquet, write_json, write_parquet
from omibench.schemas.verdict import NOT_JUDGED
from omibench.settings.tasks import list_tasks
from omibench.stages.infer.stage import make_row, open_askers, run_cell
from omibench.stages.score.stage import ScoreFiles, score_cell
from omibench.study.sharding import select_api_models

DRIFT = Path("reevaluate/drift.json")
NOT_COMPARED = ("provider_error", "budget_stop", *NOT_JUDGED)
"""Outcomes that say nothing about the model; a refused or unread response is wrong."""


class Drift(NamedTuple):
    """A model's accuracy on the same problems, at first and again in `month`.

    `gained` and `lost` are the problems right only now and only at first; `p` is the exact
    two-sided McNemar test of both.
    """

    month: str
    model: str
    problems: int
    first: float
    now: float
    gained: int
    lost: int
    p: float

    def __str__(self) -> str:
        return (
            f"{self.model}: {100 * self.first:.0f} % at first, {100 * self.now:.0f} % in "
            f"{self.month} on the same {self.problems} problems ({self.gained} gained, {self.lost} "
            f"lost, p = {self.p:.2g})"
        )


def list_drift_models(study: Study, drift: DriftParams) -> list[str]:
    """Return the models to ask again: those with a scored cell under the drift's setting."""
    names = drift.models or select_api_models(study, study.infer.models)
    return [name for name in names if _verdicts(study, Cell(name, drift.setting)).is_file()]


def ask_again(study: Study, drift: DriftParams, model: str, month: str) -> Drift | None:
    """Ask a model the drift's problems again and compare; None without a common problem.

    Each month has a sample index of its own (`202611`), so that stored responses of another month
    are not used, and a repeated check of the same month sends nothing twice. Problems without an
    answer at either time are left out. Raises as `fill_store`.
    """
    cell, frozen = Cell(model, drift.setting), Path(study.study.results) / "freeze"
    limit = Limit(sample=drift.problems, seed=study.study.seed)
    part = study.model_copy(update={"study": study.study.model_copy(update={"limit": limit})})
    with open_askers(part, cell) as askers:
        provider = askers[model].provider
        tasks = list_tasks(frozen / "questions.jsonl", part, cell, provider)
        sample = int(month.replace("-", ""))
        again = [task._replace(sample=sample) for task in tasks if task.sample == 0]
        answered = run_cell(again, part, cell, askers)
    exchanges = [e for task in answered for step in task.steps for e in step]
    check_answered([e.request for e in exchanges], [e.response for e in exchanges])
    with TemporaryDirectory(prefix="omibench-") as folder:
        responses, verdicts = Path(folder) / "responses.parquet", Path(folder) / "verdicts.parquet"
        write_parquet(responses, [make_row(task) for task in answered], ResponseRow)
        files = ScoreFiles(responses, frozen / "answers.jsonl", frozen / "questions.jsonl")
        score_cell(files, verdicts, part)
        now = _read(study, verdicts)
    first = _read(study, _verdicts(study, cell))
    pairs = [(first[problem], now[problem]) for problem in now if problem in first]
    if not pairs:
        return None
    gained = sum(not a and b for a, b in pairs)
    lost = sum(a and not b for a, b in pairs)
    return Drift(
        month, model, len(pairs),
        sum(a for a, _ in pairs) / len(pairs), sum(b for _, b in pairs) / len(pairs),
        gained, lost, float(mcnemar_p(gained, lost)),
    )  # fmt: skip


def read_drift(results: Path) -> list[Drift]:
    """Return all checks so far, oldest first."""
    path = results / DRIFT
    return [Drift(**entry) for entry in read_json(path)["checks"]] if path.is_file() else []


def write_drift(results: Path, new: Iterable[Drift]) -> None:
    """Add checks to those of the results folder; one of the same month and model is replaced."""
    checks = {(d.month, d.model): d for d in [*read_drift(results), *new]}
    write_json(results / DRIFT, {"checks": [d._asdict() for d in checks.values()]})


def list_changed(checks: Iterable[Drift], alpha: float) -> Iterator[Drift]:
    """Yield the checks whose difference the paired test finds, each model at level `alpha`."""
    return (check for check in checks if check.p < alpha)


def _verdicts(study: Study, cell: Cell) -> Path:
    return StudyFiles(Path(study.study.results)).locate("score", cell)


def _read(study: Study, verdicts: Path) -> dict[str, bool]:
    """Return whether each answered problem is right by the main scorer, in its first sample."""
    main = study.analyze.main_scorer or study.score.scorers[0]
    rows = read_parquet(verdicts, VerdictRow).filter(
        pl.col("rules") == main, ~pl.col("outcome").is_in(NOT_COMPARED)
    )
    rows = rows.sort("index").unique("id", keep="first")
    return dict(zip(rows["id"], (v >= 1 for v in rows["verdict"]), strict=True))
