"""score: verdicts on each response by each scorer."""

from __future__ import annotations

from omibench.graph.stage import GraphJob, ResultFile, Stage, model_files
from omibench.params.study import Study
from omibench.schemas.tables import VerdictRow


def _models(study: Study, job: GraphJob) -> list[str]:
    return study.judges("score")


def _files(study: Study, job: GraphJob) -> list[str | None]:
    return [
        *(panel.prompt for panel in study.score.panels.values()),
        *(file for name in _models(study, job) for file in model_files(study, name)),
    ]


SCORE = Stage(
    "score",
    target="score",
    params=("study", "models", "score"),
    inputs=("freeze", "infer"),
    plugins=("scorers", "providers"),
    cells=lambda study: study.cells,
    asks="judges",
    models=_models,
    files=_files,
    outputs=(
        ResultFile("score/{model}/{setting}.parquet", VerdictRow, "the verdicts of one cell"),
    ),
)
