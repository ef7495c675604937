"""The cells of a study, and those that a stage processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from omibench.params.cell import Cell

if TYPE_CHECKING:
    from omibench.params.setting import Setting
    from omibench.params.stages.infer import InferParams
    from omibench.params.stages.judge import JudgeParams
    from omibench.params.stages.saliency import SaliencyParams


def list_cells(infer: InferParams) -> list[Cell]:
    """List every (model, setting) pair to evaluate, in the order of `infer`."""
    return [Cell(model, setting) for model, setting in infer.list_pairs()]


def list_aggregated_cells(cells: Sequence[Cell], settings: Mapping[str, Setting]) -> list[Cell]:
    """List the cells with several samples per problem."""
    return [cell for cell in cells if settings[cell.setting].decoding.samples > 1]


def list_judged_cells(
    cells: Sequence[Cell], judge: JudgeParams, settings: Mapping[str, Setting]
) -> list[Cell]:
    """List the cells with judged reasoning or judged transcripts of the pictures.

    Args:
        cells: The cells of the study.
        judge: The block `judge`. If it only has a judge of transcripts, these are the cells under
            settings that read the pictures first.
        settings: The settings of the study by name.
    """
    if not judge.is_named:
        return []
    chosen = [c for c in cells if judge.settings is None or c.setting in judge.settings]
    if judge.judges_responses:
        return chosen
    return [c for c in chosen if settings[c.setting].reads]


def list_salient_cells(cells: Sequence[Cell], saliency: SaliencyParams) -> list[Cell]:
    """List the cells with a saliency analysis: none if `saliency` lists no setting."""
    models = saliency.models
    return [
        cell
        for cell in cells
        if cell.setting in saliency.settings and (models is None or cell.model in models)
    ]
