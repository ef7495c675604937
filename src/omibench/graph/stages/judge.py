"""judge: judgements of the reasoning in responses."""

from __future__ import annotations

from omibench.graph.stage import (
    Blocks,
    GraphJob,
    ResultFile,
    Stage,
    drop,
    list_model_files,
    prompt_file,
)
from omibench.params.study import Study
from omibench.schemas.tables import JudgementRow


def _files(study: Study, job: GraphJob) -> list[str | None]:
    return [
        *(panel.prompt for panel in study.judge.panels.values()),
        *list_model_files(study, study.judges("judge")),
        prompt_file(study.judge.errors.taxonomy) if study.judge.errors else None,
    ]


def _select_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    # No cell depends on the list of cells.
    return {name: drop(block, ("settings",)) for name, block in blocks.items()}


JUDGE = Stage(
    "judge",
    target="analyze",
    params=("study", "models", "judge"),
    inputs=("freeze", "infer", "score"),
    plugins=("judges", "providers"),
    cells=lambda study: study.judged_cells,
    asks="judges",
    models=lambda study, job: study.judges("judge"),
    files=_files,
    select_blocks=_select_blocks,
    outputs=(
        ResultFile("judge/{model}/{setting}.parquet", JudgementRow, "judgements of its reasoning"),
    ),
)
