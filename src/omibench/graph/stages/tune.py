"""tune: models fine-tuned on multi-image data."""

from __future__ import annotations

from collections.abc import Iterable

from omibench.graph.stage import Blocks, GraphJob, ResultFile, Stage, pick
from omibench.params.setting import Cell
from omibench.params.stages.tune import RECORD
from omibench.params.study import Study
from omibench.schemas.tuning import LossRow, TrainingReport, TunedWeights


def _list_bases(study: Study, job: GraphJob) -> set[str]:
    return {study.tune[job.cell.model].base} if job.cell else set()


def _files(study: Study, job: GraphJob) -> Iterable[str | None]:
    return [study.tune[job.cell.model].locate_data(study.data)] if job.cell else []


def _select_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    if job.cell is None:
        return blocks
    block = dict(blocks["tune"][job.cell.model])
    for name in ("label", "resources"):
        block.pop(name, None)
    near = pick(blocks.get("filter", {}), ("near_duplicate", "near_duplicate_images"))
    return {
        **{key: value for key, value in blocks.items() if key not in ("tune", "filter")},
        **({"filter": near} if near else {}),
        "tune": {job.cell.model: block},
    }


TUNE = Stage(
    "tune",
    target="infer",
    params=("study", "data", "models", "filter", "tune"),
    inputs=("freeze",),
    cells=lambda study: [Cell(name, "") for name in study.tune],
    is_given_by_cell=True,
    models=_list_bases,
    files=_files,
    select_blocks=_select_blocks,
    outputs=(
        ResultFile(f"tune/{{model}}/{RECORD}", TunedWeights, "record of a model's tuned weights"),
        ResultFile("tune/{model}/data.json", TrainingReport, "what became of its training set"),
        ResultFile("tune/{model}/loss.jsonl", LossRow, "its training loss by step"),
        ResultFile("tune/{model}/weights/{file}", None, "the adapter, or all weights"),
    ),
)
