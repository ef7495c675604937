"""Checks between the blocks of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from omibench.files.locations import describe_data_folder
from omibench.params.models.base import ModelBlock
from omibench.params.models.providers import LocalModel
from omibench.params.setting import Aggregation, Cell, Setting
from omibench.params.stages.infer import MOST_BATCH_LOOKS, Adaptive

# Restricts the location of custom code: never in data of others, nor enabled by it.
#
# As with plug-ins (`params/plugins.py`), pulled, shared or recorded files are only read as data. So
# parameters in them cannot set `trust_remote_code`, and no model with custom code can be there.

_USUAL: Final = {
    "results": "results",
    "store": "the store of responses",
    "archive": "shared responses",
}
"""The data folders by their usual names, whatever the parameters set instead."""


def find_foreign_code(
    models: Mapping[str, ModelBlock], files: Sequence[str | Path], folders: Mapping[str, str]
) -> str | None:
    """Find an unsafe location of a study's custom model code.

    Args:
        models: The models of the study.
        files: The files of the parameters; none for the slice of a job.
        folders: Folders with data of others, and their descriptions.

    Returns:
        A line that begins with the key, or None.
    """
    folders = {**_USUAL, **folders}
    for name, model in models.items():
        if not isinstance(model, LocalModel) or not model.trust_remote_code:
            continue
        key, root = f"models.{name}.trust_remote_code", Path()
        for file in files:
            if place := describe_data_folder(Path(file), root, folders):
                return (
                    f"{key}: {file} is in {place}, and parameters there cannot enable code; read "
                    "the file and copy it to a folder of your own"
                )
        if Path(model.id).is_dir() and (
            place := describe_data_folder(Path(model.id), root, folders)
        ):
            return (
                f"{key}: {model.id} is in {place}, and code there is never run; read it and copy "
                "the model to another folder"
            )
    return None


# Checks that the models that choose among samples support their input.

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


def check_tools(
    models: Mapping[str, ModelBlock],
    settings: Mapping[str, Setting],
    references: Sequence[Reference],
) -> None:
    """Check that each tool has a block that carries it out, and that such a block does only this.

    Args:
        models: The models of the study by name.
        settings: Its settings by name.
        references: All references to models in the params.

    Raises:
        ValueError: A block carries out another tool, or is used as a model.
    """
    for name, setting in settings.items():
        for tool, carrier in setting.tools.by.items() if setting.tools else ():
            tools = models[carrier].tools
            if tools is not None and tool not in tools:
                raise ValueError(
                    f"settings.{name}.tools.by.{tool}: {carrier!r} does not carry out {tool}; name "
                    "a model block that does, such as one with `provider: "
                    f"{'python' if tool == 'python' else 'experts'}`"
                )
    carriers = {name for name, model in models.items() if model.tools}
    for key, names, _ in references:
        if not key.startswith("settings.") and (misplaced := sorted(carriers.intersection(names))):
            raise ValueError(
                f"{key}: {misplaced[0]!r} carries out tools of models and answers nothing; name it "
                "only in `tools: {by: ...}` of a setting"
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


# Checks that looks compare cells that can be compared.


def check_looks(
    adaptive: Adaptive,
    *,
    cells: Sequence[Cell],
    settings: Mapping[str, Setting],
    batches: Sequence[str],
    asks_graders: bool,
) -> None:
    """Check that the looks of `infer.adaptive` can compare all cells.

    Args:
        adaptive: The block.
        cells: The cells to evaluate.
        settings: The settings of the study by name.
        batches: The evaluated models that are asked by a batch API.
        asks_graders: Whether the scorer `mathreal` asks judges in this study.

    Raises:
        ValueError: There is one cell only; the scorer asks a model; a setting selects problems or
            one of several samples; or a batch API would be waited for too often.
    """
    key = "infer.adaptive"
    if len(cells) < 2:
        raise ValueError(f"{key}: needs several cells to compare, not {len(cells)}")
    if adaptive.scorer == "mathreal" and asks_graders:
        raise ValueError(
            f"{key}.scorer: 'mathreal' asks judges here; use a scorer without, such as robust"
        )
    for name in dict.fromkeys(cell.setting for cell in cells):
        setting = settings[name]
        if setting.decoding.samples > 1 and setting.aggregate.how != "mean":
            raise ValueError(
                f"{key}: looks compare the mean of all samples, but settings.{name} counts "
                f"those of `aggregate: {setting.aggregate.how}`; evaluate it without looks"
            )
        if setting.where:
            raise ValueError(
                f"{key}: all cells must answer the same problems, but settings.{name} has "
                "`where`; evaluate it without looks"
            )
    if batches and len(adaptive.looks) > MOST_BATCH_LOOKS:
        raise ValueError(
            f"{key}.looks: has {len(adaptive.looks)} looks, but {batches[0]!r} uses a batch API"
            f", whose answers can take a day for each; use at most {MOST_BATCH_LOOKS}"
        )
