"""aggregate: what several samples of one problem are worth together."""

from __future__ import annotations

from omibench.graph.named_files import model_files
from omibench.graph.stage import Blocks, GraphJob, ResultFile, Stage, pick
from omibench.params.cell import Cell
from omibench.params.panel import JudgePanel
from omibench.params.stages.aggregate import SELF
from omibench.params.study import Study
from omibench.schemas.tables import AggregateRow


def _panel(study: Study, cell: Cell | None) -> JudgePanel | None:
    return study.settings[cell.setting].aggregate.judge if cell else None


def _models(study: Study, job: GraphJob) -> list[str]:
    panel = _panel(study, job.cell)
    if panel is None or job.cell is None:
        return []
    return [job.cell.model if name == SELF else name for name in panel.models]


def _files(study: Study, job: GraphJob) -> list[str | None]:
    panel = _panel(study, job.cell)
    files = [file for name in _models(study, job) for file in model_files(study, name)]
    return [*files, panel.prompt if panel else None]


def _narrow(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    if job.cell is None:
        return pick(blocks, ("score",))
    setting = job.cell.setting
    return {
        "settings": {setting: pick(blocks["settings"][setting], ("decoding", "aggregate"))},
        "score": pick(blocks.get("score", {}), ("rules",)),
        "study": {"seed": study.study.seed} if study.study.seed else {},
    }


AGGREGATE = Stage(
    "aggregate",
    target="analyze",
    params=("study", "models", "settings", "score"),
    inputs=("freeze", "infer", "score"),
    plugins=("rule_books", "providers"),
    cells=lambda study: study.aggregated_cells,
    is_given_by_cell=True,
    models=_models,
    files=_files,
    narrow=_narrow,
    outputs=(
        ResultFile(
            "aggregate/{model}/{setting}.parquet", AggregateRow, "what several samples are worth"
        ),
    ),
)
