"""The tool `python`: code of a model, run in a sandbox."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.tools import PythonModel


@provider("python", block=PythonModel)
def open_python(name: str, model: PythonModel, folders: Folders) -> Provider:
    """Open the sandbox that runs the code of other models."""
    from omibench.models.code.provider import PythonProvider

    return PythonProvider(name, model)
