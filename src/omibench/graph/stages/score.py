"""score: verdicts on each response by each scorer."""

from __future__ import annotations

from omibench.graph.stage import GraphJob, ResultFile, Stage, list_model_files
from omibench.params.study import Study
from omibench.schemas.tables import VerdictRow


def _files(study: Study, job: GraphJob) -> list[str | None]:
    return [
        *(panel.prompt for panel in study.score.panels.values()),
        *list_model_files(study, study.judges("score")),
    ]


SCORE = Stage(
    "score",
    target="score",
    params=("study", "models", "score"),
    inputs=("freeze", "infer"),
    plugins=("scorers", "providers"),
    cells=lambda study: study.cells,
    asks="judges",
    models=lambda study, job: study.judges("score"),
    files=_files,
    outputs=(
        ResultFile("score/{model}/{setting}.parquet", VerdictRow, "the verdicts of one cell"),
    ),
)
