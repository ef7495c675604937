"""Finds the settings that show every item completely, so that their scores are comparable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omibench.params.setting import Setting


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
    is_changed = bool(setting.without) or (perception is not None and perception.given != "I")
    return setting.images.show == "all" and not is_changed


def is_shorter(first: Setting, second: Setting) -> bool:
    """Return whether two settings differ only in the first's smaller token budget."""
    is_less = first.decoding.max_tokens < second.decoding.max_tokens
    return is_less and _drop_budget(first) == _drop_budget(second)


def _drop_budget(setting: Setting) -> dict[str, Any]:
    return setting.model_dump(exclude={"label": True, "decoding": {"max_tokens"}})
