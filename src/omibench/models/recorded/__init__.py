"""Published responses of others, replayed."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.providers import RecordedModel


@provider("recorded", block=RecordedModel)
def open_recorded(name: str, model: RecordedModel, folders: Folders) -> Provider:
    """Open the model and read its files."""
    from omibench.models.recorded.provider import RecordedProvider

    return RecordedProvider(name, model, folders.data)
