"""infer: responses of each model to every frozen question under each setting."""

from __future__ import annotations

from omibench.graph.stage import (
    Blocks,
    GraphJob,
    ResultFile,
    Stage,
    drop,
    list_model_files,
    model_files,
    pick,
    prompt_file,
)
from omibench.params.study import Study
from omibench.schemas.adaptive import Look, ProblemOrder
from omibench.schemas.study_record import StudyRecord
from omibench.schemas.tables import ResponseRow, VerdictRow


def list_asked_models(study: Study, job: GraphJob) -> set[str]:
    """Respondent of a job and helpers of its settings."""
    if job.cell is None:
        return set()
    settings = job.settings(study)
    return {job.cell.model, *(m for name in settings for m in study.settings[name].helpers)}


def list_asked_files(study: Study, job: GraphJob) -> list[str | None]:
    """Files in a job's settings, and those that its models answer from."""
    if job.cell is None:
        return []
    files: list[str | None] = []
    for name in job.settings(study):
        setting = study.settings[name]
        files += [prompt_file(setting.prompt), *setting.prompts.values(), setting.images.prompt]
        files += model_files(study, job.cell.model, name)
        files += list_model_files(study, setting.helpers)
    return files


def select_settings(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    """Return the job's settings without fields for display or later aggregation."""
    if job.cell is None and job.rule == "look":
        chosen = study.study.model_dump(mode="json", exclude_defaults=True)
        adaptive = pick(blocks.get("infer", {}), ("adaptive",))
        return {"study": pick(chosen, ("seed", "limit")), "infer": adaptive}
    if job.cell is None:
        return drop(blocks, ("settings", "infer"))
    settings = blocks.get("settings", {})
    asked_settings = {
        name: drop(settings.get(name, {}), ("label", "aggregate")) for name in job.settings(study)
    }
    # No cell depends on the list of cells; the rest of `infer` decides whether a job has failed,
    # and reaches it by the environment.
    return drop(blocks, ("infer",)) | {"settings": asked_settings}


INFER = Stage(
    "infer",
    target="infer",
    params=("study", "data", "models", "settings", "infer"),
    inputs=("freeze",),
    plugins=("providers", "prompts", "conditions", "strategies"),
    cells=lambda study: study.cells,
    is_given_by_cell=True,
    more_rules=("help", "fill", "order", "infer_part", "score_part", "look", "looks"),
    hashed_separately=("looks",),
    asks="respondent",
    models=list_asked_models,
    files=list_asked_files,
    select_blocks=select_settings,
    outputs=(
        ResultFile("infer/{model}/{setting}.parquet", ResponseRow, "the responses of one cell"),
        ResultFile(
            "infer/{model}/filled.txt",
            None,
            "marker: a local model has answered under all its settings",
        ),
        ResultFile(
            "infer/{model}/helped.txt",
            None,
            "marker: a helper has answered all requests shared by cells",
        ),
        ResultFile(
            "infer/adaptive/order.json",
            ProblemOrder,
            "order of the problems under `infer.adaptive`, made before the first request",
        ),
        ResultFile("infer/adaptive/looks.jsonl", Look, "what each look found, and who stopped"),
        ResultFile("infer/adaptive/looks-{look}.jsonl", Look, "the same up to a look"),
        ResultFile(
            "infer/adaptive/{look}/infer/{model}/{setting}.parquet",
            ResponseRow,
            "the responses to the problems that a look adds",
        ),
        ResultFile(
            "infer/adaptive/{look}/score/{model}/{setting}.parquet", VerdictRow, "their verdicts"
        ),
        ResultFile("infer/study.json", StudyRecord, "the current cells of the study"),
    ),
)
