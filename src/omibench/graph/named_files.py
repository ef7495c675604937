"""Files that parameters name: prompts of one's own, and what models answer from."""

from __future__ import annotations

from pathlib import Path

from omibench.params.study import Study


def prompt_file(prompt: str) -> str | None:
    """The path of a prompt of one's own; None for the name of a built-in prompt."""
    return prompt if "/" in prompt or Path(prompt).suffix else None


def model_files(study: Study, name: str | None, setting: str | None = None) -> list[str]:
    """The files that a model answers from, all of them or those for one setting.

    Args:
        study: The study that defines the model.
        name: A key of `models`; None where no model is named.
        setting: A key of `settings`.

    Returns:
        The oracle of a simulated model, the responses of a recorded one; none for all others.
    """
    model = study.models.get(name or "")
    return model.files(study.data, setting) if model else []
