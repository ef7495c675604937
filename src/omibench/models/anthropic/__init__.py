"""The Anthropic messages API and its batches."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.providers import AnthropicModel


@provider("anthropic", block=AnthropicModel)
def open_anthropic(name: str, model: AnthropicModel, folders: Folders) -> Provider:
    """Open the model for direct requests, or for batches if its block sets `batch`."""
    from omibench.models.anthropic.provider import AnthropicProvider
    from omibench.models.api.submissions import warn_of_batches

    opened = AnthropicProvider(name, model, folders.batches)
    if not model.batch:
        warn_of_batches(name, folders.batches, opened.identity)
    return opened
