"""From where a model may run its own code: never from data of others, nor on their word.

As with plug-ins (`params/plugins.py`), what is pulled, shared or recorded is read as data. So
parameters that lie there cannot say `trust_remote_code`, and no model whose code runs lies there.
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
    "archive": "responses that were shared",
}
"""The folders of data by their usual names, whatever the parameters in question name instead."""


def find_foreign_code(
    models: Mapping[str, ModelBlock], files: Sequence[str | Path], folders: Mapping[str, str]
) -> str | None:
    """What is wrong with where a study's models take their own code from.

    Args:
        models: The models of the study.
        files: The files that the parameters come from; none for the slice of a job.
        folders: Folders that hold data of others, and what to call them.

    Returns:
        A line that begins with the key; None where nothing is wrong.
    """
    folders = {**_USUAL, **folders}
    for name, model in models.items():
        if not isinstance(model, LocalModel) or not model.trust_remote_code:
            continue
        key, root = f"models.{name}.trust_remote_code", Path()
        for file in files:
            if place := describe_data_folder(Path(file), root, folders):
                return (
                    f"{key}: {file} lies in {place}: parameters from there run no code; read it, "
                    "and keep a copy of the file where you keep your own"
                )
        if Path(model.id).is_dir() and (
            place := describe_data_folder(Path(model.id), root, folders)
        ):
            return (
                f"{key}: {model.id} lies in {place}: code is never taken from there; read it, and "
                "keep a copy of the model elsewhere"
            )
    return None
