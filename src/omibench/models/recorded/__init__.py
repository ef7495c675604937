"""Responses that others have published, replayed."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.recorded import RecordedModel


@provider("recorded", block=RecordedModel)
def open_recorded(name: str, model: RecordedModel, folders: Folders) -> Provider:
    """The model, once its files are read."""
    from omibench.models.recorded.provider import RecordedProvider

    return RecordedProvider(name, model, folders.data)
