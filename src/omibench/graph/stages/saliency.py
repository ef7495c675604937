"""saliency: dependence of a choice on parts of the pictures."""

from __future__ import annotations

from omibench.graph.stage import Blocks, GraphJob, ResultFile, Stage, drop
from omibench.graph.stages.infer import list_asked_files, list_asked_models, select_settings
from omibench.params.study import Study
from omibench.schemas.columns import SaliencyRow


def _files(study: Study, job: GraphJob) -> list[str | None]:
    return [*list_asked_files(study, job), *study.saliency.prompts.values()]


def _select_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    selected = drop(select_settings(study, job, blocks), ("saliency",))
    if job.cell is None:
        return selected
    # No cell depends on the list of other cells.
    block = drop(blocks.get("saliency", {}), ("models", "after_response"))
    return selected | {"saliency": block | {"settings": [job.cell.setting]}}


SALIENCY = Stage(
    "saliency",
    target="analyze",
    params=("study", "data", "models", "settings", "saliency"),
    inputs=("freeze", "infer"),
    plugins=("providers", "prompts", "conditions"),
    cells=lambda study: study.salient_cells,
    is_given_by_cell=True,
    asks="respondent",
    models=list_asked_models,
    files=_files,
    select_blocks=_select_blocks,
    outputs=(
        ResultFile(
            "saliency/{model}/{setting}.parquet",
            SaliencyRow,
            "effect of covering each patch of a picture on each option",
        ),
        ResultFile(
            "saliency/{model}/{setting}/{map}.png",
            None,
            "the same as a heat map over the picture",
        ),
    ),
)
