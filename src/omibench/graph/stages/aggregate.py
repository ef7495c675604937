"""aggregate: joint evaluation of several samples of one problem."""

from __future__ import annotations

from omibench.graph.stage import Blocks, GraphJob, ResultFile, Stage, list_model_files, pick
from omibench.params.panel import JudgePanel
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.tables import AggregateRow


def _panel(study: Study, cell: Cell | None) -> JudgePanel | None:
    return study.settings[cell.setting].aggregate.judge if cell else None


def list_reward_models(study: Study, job: GraphJob) -> list[str]:
    """The models that choose among a cell's samples, and their captioners."""
    if job.cell is None:
        return []
    setting = study.settings[job.cell.setting]
    judges = setting.aggregate.name_judges(job.cell.model)
    captioner = setting.aggregate.captions or setting.images.model
    return list(dict.fromkeys([*judges, *([captioner] if judges and captioner else [])]))


def _files(study: Study, job: GraphJob) -> list[str | None]:
    panel = _panel(study, job.cell)
    files = list_model_files(study, list_reward_models(study, job))
    if panel is None or job.cell is None:
        return [*files]
    setting = study.settings[job.cell.setting]
    return [*files, panel.prompt, setting.images.prompt, setting.aggregate.caption_prompt]


def _select_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    if job.cell is None:
        return pick(blocks, ("score",))
    setting = job.cell.setting
    is_shown = bool(list_reward_models(study, job))
    keys = ("decoding", "aggregate", *(("images", "without") if is_shown else ()))
    return {
        "settings": {setting: pick(blocks["settings"][setting], keys)},
        "score": pick(blocks.get("score", {}), ("scorers",)),
        "study": {"seed": study.study.seed} if study.study.seed else {},
    }


AGGREGATE = Stage(
    "aggregate",
    target="analyze",
    params=("study", "models", "settings", "score"),
    inputs=("freeze", "infer", "score"),
    plugins=("scorers", "providers", "conditions", "aggregations"),
    cells=lambda study: study.aggregated_cells,
    is_given_by_cell=True,
    models=list_reward_models,
    files=_files,
    select_blocks=_select_blocks,
    outputs=(
        ResultFile(
            "aggregate/{model}/{setting}.parquet", AggregateRow, "results over several samples"
        ),
    ),
)
