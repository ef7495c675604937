"""Files given in parameters: prompts, files that models answer from, layouts of printed tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from omibench.params.stages.analyze import LAYOUTS
from omibench.params.study import Study


def prompt_file(prompt: str) -> str | None:
    """Return the path of a custom prompt; None for the name of a built-in prompt."""
    return prompt if "/" in prompt or Path(prompt).suffix else None


def model_files(study: Study, name: str | None, setting: str | None = None) -> list[str]:
    """Return the files that a model answers from, all or those for one setting.

    Args:
        study: Study that defines the model.
        name: Key of `models`, or None.
        setting: Key of `settings`.

    Returns:
        The `oracle` of a simulated model, the responses of a recorded one; empty for all others.
    """
    model = study.models.get(name or "")
    return model.files(study.data, setting) if model else []


def list_layout_files(tables: Iterable[str]) -> list[str]:
    """List the `tables.yaml` files next to printed tables, each once."""
    folders = dict.fromkeys(Path(table).parent for table in tables)
    return [str(folder / LAYOUTS) for folder in folders if (folder / LAYOUTS).is_file()]
