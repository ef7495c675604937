"""Restricts the location of custom code: never in data of others, nor enabled by it.

As with plug-ins (`params/plugins.py`), pulled, shared or recorded files are only read as data. So
parameters in them cannot set `trust_remote_code`, and no model with custom code can be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from omibench.files.data_folders import describe_data_folder
from omibench.params.models.base import LocalModel, ModelBlock

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
