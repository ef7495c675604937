"""infer: every frozen question, put to each model under each setting."""

from __future__ import annotations

from omibench.graph.named_files import model_files, prompt_file
from omibench.graph.stage import Blocks, GraphJob, ResultFile, Stage, drop
from omibench.params.study import Study
from omibench.schemas.tables import ResponseRow


def list_asked_models(study: Study, job: GraphJob) -> set[str]:
    """The respondent of a job and the helpers of its settings."""
    if job.cell is None:
        return set()
    settings = job.settings(study)
    return {job.cell.model, *(m for name in settings for m in study.settings[name].helpers)}


def list_asked_files(study: Study, job: GraphJob) -> list[str | None]:
    """The files that a job's settings name, and those that its models answer from."""
    if job.cell is None:
        return []
    files: list[str | None] = []
    for name in job.settings(study):
        setting = study.settings[name]
        files += [prompt_file(setting.prompt), *setting.prompts.values(), setting.images.prompt]
        files += model_files(study, job.cell.model, name)
        files += [file for helper in setting.helpers for file in model_files(study, helper)]
    return files


def narrow_settings(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    """The job's settings alone, without what is shown of them or made of their samples later."""
    if job.cell is None:
        return drop(blocks, ("settings", "infer"))
    settings = blocks.get("settings", {})
    asked_settings = {
        name: drop(settings.get(name, {}), ("label", "aggregate")) for name in job.settings(study)
    }
    # Which cells there are is nothing that one of them depends on; the rest of `infer` decides
    # whether a job has failed, and reaches it by the environment.
    return drop(blocks, ("infer",)) | {"settings": asked_settings}


INFER = Stage(
    "infer",
    target="infer",
    params=("study", "data", "models", "settings", "infer"),
    inputs=("freeze",),
    plugins=("providers", "prompts", "conditions"),
    cells=lambda study: study.cells,
    is_given_by_cell=True,
    more_rules=("help", "fill"),
    asks="respondent",
    models=list_asked_models,
    files=list_asked_files,
    narrow=narrow_settings,
    outputs=(
        ResultFile("infer/{model}/{setting}.parquet", ResponseRow, "the responses of one cell"),
        ResultFile(
            "infer/{model}/filled.txt", None, "a local model was asked under all its settings"
        ),
        ResultFile(
            "infer/{model}/helped.txt", None, "a helper was asked all that several cells share"
        ),
    ),
)
