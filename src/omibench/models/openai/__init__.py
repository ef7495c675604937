"""The OpenAI API and all compatible endpoints: chat, Responses, batches."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.providers import EmbeddingModel, OpenAIModel


@provider("openai", block=OpenAIModel)
def open_openai(name: str, model: OpenAIModel, folders: Folders) -> Provider:
    """Open the model for direct requests, or for batches if its block sets `batch`."""
    from omibench.models.api.submissions import warn_of_batches
    from omibench.models.openai.provider import OpenAIProvider

    opened = OpenAIProvider(name, model, folders.batches)
    if not model.batch:
        warn_of_batches(name, folders.batches, opened.identity)
    return opened


@provider("openai_embeddings", block=EmbeddingModel)
def open_embeddings(name: str, model: EmbeddingModel, folders: Folders) -> Provider:
    """Open an embedding model."""
    from omibench.models.openai.provider import EmbeddingProvider

    return EmbeddingProvider(name, model)
