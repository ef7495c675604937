"""The providers of inspect_ai behind the store, budget and retries of omibench."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.providers import InspectModel


@provider("inspect", block=InspectModel)
def open_inspect(name: str, model: InspectModel, folders: Folders) -> Provider:
    """Open a model of inspect_ai; its client is created when something is sent."""
    from omibench.models.inspect.provider import InspectProvider

    return InspectProvider(name, model)
