"""Checks that the models that choose among samples support their input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from omibench.params.cell import Cell
from omibench.params.models.base import ModelBlock
from omibench.params.setting import Setting
from omibench.params.stages.aggregate import Aggregation

Reference = tuple[str, Iterable[str], Iterable[str]]
"""A key of the params, its names, and the valid names."""


def check_reward_models(
    models: Mapping[str, ModelBlock], settings: Mapping[str, Setting], cells: Sequence[Cell]
) -> None:
    """Check for each cell that the models which choose among its samples can do so.

    Args:
        models: The models of the study by name.
        settings: Its settings by name.
        cells: The cells to evaluate.

    Raises:
        ValueError: A reward head is used to compare or to mark several responses at once, is one of
            several judges, or has a custom prompt; a model without image input would get images; or
            `captions` are set although the reward model sees the pictures.
    """
    for cell in cells:
        setting = settings[cell.setting]
        judges = {name: models[name] for name in setting.aggregate.name_judges(cell.model)}
        key = f"settings.{cell.setting}.aggregate"
        for name, model in judges.items():
            if model.gives_reward:
                _check_head(key, name, setting.aggregate)
        _check_sight(key, setting, judges)


def check_heads_mark_alone(models: Mapping[str, ModelBlock], references: list[Reference]) -> None:
    """Check that reward heads are used only to mark responses.

    Args:
        models: The models of the study by name.
        references: All references to models in the params.

    Raises:
        ValueError: A reward head is used to answer, judge, describe or read.
    """
    heads = {name for name, model in models.items() if model.gives_reward}
    for key, names, _ in references:
        if key.endswith((".aggregate.judge", ".base")):
            continue
        if misplaced := sorted(heads.intersection(names)):
            raise ValueError(
                f"{key}: {misplaced[0]!r} is a reward head, which writes no text; use it in "
                "`aggregate: {how: best-of-n, judge: NAME}` of a setting"
            )


def _check_head(key: str, name: str, aggregate: Aggregation) -> None:
    panel = aggregate.judge
    if aggregate.how != "best-of-n":
        raise ValueError(
            f"{key}: {name!r} is a reward head, which cannot compare; use how: best-of-n"
        )
    if aggregate.marking == "joint":
        raise ValueError(
            f"{key}: {name!r} is a reward head, which marks one response at a time; remove "
            "marking: joint"
        )
    if panel and len(panel.models) > 1:
        raise ValueError(
            f"{key}.judge: {name!r} is a reward head with its own scale; use it as the only judge"
        )
    if panel and panel.prompt:
        raise ValueError(f"{key}.judge: {name!r} is a reward head and takes no prompt; remove it")


def _check_sight(key: str, setting: Setting, judges: Mapping[str, ModelBlock]) -> None:
    captions, shows = setting.aggregate.captions, setting.images.show not in ("none", "captions")
    if captions and not shows:
        raise ValueError(
            f"{key}.captions: the setting shows no pictures ({setting.images.show}), so the "
            "reward model needs no captions; remove it"
        )
    for name, model in judges.items():
        is_blind = model.max_images == 0
        if is_blind and shows and not captions:
            raise ValueError(
                f"{key}: the reward model {name!r} takes no pictures, but the setting shows some; "
                "set `captions: NAME` to a model that describes them"
            )
        if captions and not is_blind and not model.is_simulated:
            raise ValueError(
                f"{key}.captions: the reward model {name!r} sees the pictures; remove captions, "
                "or set `can: {images: 0}` on the model"
            )
