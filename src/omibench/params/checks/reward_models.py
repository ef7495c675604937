"""Whether the models that choose among samples fit what they are to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from omibench.params.cell import Cell
from omibench.params.models.base import ModelBlock
from omibench.params.setting import Setting
from omibench.params.stages.aggregate import Aggregation

Reference = tuple[str, Iterable[str], Iterable[str]]
"""A key of the params, the names that stand there, and the names that may."""


def check_reward_models(
    models: Mapping[str, ModelBlock], settings: Mapping[str, Setting], cells: Sequence[Cell]
) -> None:
    """Check for each cell that the models which choose among its samples can do so.

    Args:
        models: The models of the study by name.
        settings: Its settings by name.
        cells: The cells that are evaluated.

    Raises:
        ValueError: A reward head is asked to compare or to mark several responses at once, is one
            of several judges, or has words of its own; a model that takes no pictures would be
            shown some; or `captions` stand in for pictures that nobody lacks.
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
    """Check that reward heads stand only where responses are marked.

    Args:
        models: The models of the study by name.
        references: Everything in the params that names models.

    Raises:
        ValueError: A reward head is to answer, judge, describe or read.
    """
    heads = {name for name, model in models.items() if model.gives_reward}
    for key, names, _ in references:
        if key.endswith((".aggregate.judge", ".base")):
            continue
        if misplaced := sorted(heads.intersection(names)):
            raise ValueError(
                f"{key} names {misplaced[0]!r}, a reward head, which writes no words: it goes into "
                "`aggregate: {how: best-of-n, judge: NAME}` of a setting"
            )


def _check_head(key: str, name: str, aggregate: Aggregation) -> None:
    panel = aggregate.judge
    if aggregate.how != "best-of-n":
        raise ValueError(
            f"{key}: {name!r} is a reward head, which compares nothing: use how: best-of-n"
        )
    if aggregate.marking == "joint":
        raise ValueError(
            f"{key}: {name!r} is a reward head, which marks one response at a time: leave out "
            "marking: joint"
        )
    if panel and len(panel.models) > 1:
        raise ValueError(
            f"{key}.judge: {name!r} is a reward head, whose numbers are on a scale of their own: "
            "name it alone"
        )
    if panel and panel.prompt:
        raise ValueError(f"{key}.judge: {name!r} is a reward head, which is given no prompt")


def _check_sight(key: str, setting: Setting, judges: Mapping[str, ModelBlock]) -> None:
    captions, shows = setting.aggregate.captions, setting.images.show not in ("none", "captions")
    if captions and not shows:
        raise ValueError(
            f"{key}.captions: the setting shows no pictures ({setting.images.show}), so there are "
            "none to put into words for the reward model: leave it out"
        )
    for name, model in judges.items():
        is_blind = model.max_images == 0
        if is_blind and shows and not captions:
            raise ValueError(
                f"{key}: the reward model {name!r} takes no pictures and would be shown some: name "
                "the model that puts them into words, `captions: NAME`"
            )
        if captions and not is_blind and not model.is_simulated:
            raise ValueError(
                f"{key}.captions: the reward model {name!r} takes pictures and is shown them; "
                "captions are for one that takes none (`can: {images: 0}`)"
            )
