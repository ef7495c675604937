"""The cells of a study, and those that a stage processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.params.setting import Cell

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


# The cells that a study compares with each other: the family of its tests.


class Family(NamedTuple):
    """Cells that are compared pairwise."""

    cells: tuple[Cell, ...]
    settings: tuple[str, ...]
    """Their settings, with each model once; empty for all cells of a study in which no two
    models can be compared under the reference."""

    @property
    def setting(self) -> str | None:
        """The first of the settings."""
        return self.settings[0] if self.settings else None

    @property
    def pairs(self) -> int:
        """Number of comparisons."""
        return len(self.cells) * (len(self.cells) - 1) // 2


def choose_family(cells: Sequence[Cell], reference: Sequence[str] = ()) -> Family:
    """Choose the cells of the headline: each model once, under the reference setting.

    Args:
        cells: The cells of the study, in order.
        reference: `analyze.reference_setting`: for each model the first of these that it has. If it
            is missing, or fewer than two models have one, the first setting with two models or
            more.

    Returns:
        One cell per model; all cells if no two models share a setting.
    """
    for settings in [list(reference), *([cell.setting] for cell in cells)]:
        cells_by_model: dict[str, Cell] = {}
        for setting in settings:
            for cell in cells:
                if cell.setting == setting:
                    cells_by_model.setdefault(cell.model, cell)
        if len(cells_by_model) > 1:
            family = [cell for cell in cells if cells_by_model.get(cell.model) == cell]
            used = {cell.setting for cell in family}
            return Family(tuple(family), tuple(name for name in settings if name in used))
    return Family(tuple(cells), ())


# Finds the settings that show every item completely, so that their scores are comparable.


def list_full_settings(
    settings: Mapping[str, Setting], names: Sequence[str], stated: Sequence[str] | None = None
) -> list[str]:
    """List the settings that remove nothing from an item and do not limit the answer.

    Args:
        settings: The settings by name.
        names: The names in the study, in order.
        stated: `analyze.full_settings`, which takes precedence.

    Returns:
        The `names` of settings that show every picture unchanged, with the problem's whole text and
        without a transcript of its pictures, and that do not just have a smaller token budget than
        another one.
    """
    if stated is not None:
        return [name for name in names if name in stated]
    whole = [name for name in names if shows_everything(settings[name])]
    return [
        name
        for name in whole
        if not any(is_shorter(settings[name], settings[other]) for other in whole)
    ]


def shows_everything(setting: Setting) -> bool:
    """Return whether a setting shows every picture and the whole text of an item unchanged."""
    perception = setting.perception
    is_read = perception is not None and perception.given != "I"
    is_changed = bool(setting.without or setting.perceiver or is_read)
    return setting.images.show == "all" and not is_changed


def is_shorter(first: Setting, second: Setting) -> bool:
    """Return whether two settings differ only in the first's smaller token budget."""
    is_less = first.decoding.max_tokens < second.decoding.max_tokens
    return is_less and _drop_budget(first) == _drop_budget(second)


def _drop_budget(setting: Setting) -> dict[str, Any]:
    return setting.model_dump(exclude={"label": True, "decoding": {"max_tokens"}})
