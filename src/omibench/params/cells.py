"""Which cells a study has, and which of them a stage works on."""

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
    """Every (model, setting) pair to evaluate, in the order of `infer`."""
    return [Cell(model, setting) for model, setting in infer.list_pairs()]


def list_aggregated_cells(cells: Sequence[Cell], settings: Mapping[str, Setting]) -> list[Cell]:
    """The cells with several samples of a problem."""
    return [cell for cell in cells if settings[cell.setting].decoding.samples > 1]


def list_judged_cells(
    cells: Sequence[Cell], judge: JudgeParams, settings: Mapping[str, Setting]
) -> list[Cell]:
    """The cells whose reasoning, or whose readings of the pictures, are judged.

    Args:
        cells: Those of the study.
        judge: Who judges. Where it names nobody but a judge of transcripts, these are cells under
            settings that read the pictures first.
        settings: The study's, by name.
    """
    if not judge.is_named:
        return []
    chosen = [c for c in cells if judge.settings is None or c.setting in judge.settings]
    if judge.judges_responses:
        return chosen
    return [c for c in chosen if settings[c.setting].reads]


def list_salient_cells(cells: Sequence[Cell], saliency: SaliencyParams) -> list[Cell]:
    """The cells whose pictures are looked into: none where `saliency` names no setting."""
    models = saliency.models
    return [
        cell
        for cell in cells
        if cell.setting in saliency.settings and (models is None or cell.model in models)
    ]
