"""Which settings show the whole of every item, so that their numbers may stand in one figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omibench.params.setting import Setting


def list_full_settings(
    settings: Mapping[str, Setting], names: Sequence[str], stated: Sequence[str] | None = None
) -> list[str]:
    """List the settings under which nothing is taken from an item or from the room to answer it.

    Args:
        settings: The settings by name.
        names: Those of the study, in its order.
        stated: `analyze.full_settings`, which goes before what is found here.

    Returns:
        Of `names` those that show every picture as it is, with the problem's whole text and no
        reading of its pictures, and that differ from no other one by a smaller token budget alone.
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
    """Whether a setting shows every picture and the whole text of an item, and changes neither."""
    perception = setting.perception
    is_changed = bool(setting.without) or (perception is not None and perception.given != "I")
    return setting.images.show == "all" and not is_changed


def is_shorter(first: Setting, second: Setting) -> bool:
    """Whether two settings are the same but for the first's smaller budget of tokens."""
    is_less = first.decoding.max_tokens < second.decoding.max_tokens
    return is_less and _drop_budget(first) == _drop_budget(second)


def _drop_budget(setting: Setting) -> dict[str, Any]:
    return setting.model_dump(exclude={"label": True, "decoding": {"max_tokens"}})
