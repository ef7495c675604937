"""The OpenAI API and all endpoints that speak it: chat, Responses, batches."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.embeddings import EmbeddingModel
from omibench.params.models.openai import OpenAIModel


@provider("openai", block=OpenAIModel)
def open_openai(name: str, model: OpenAIModel, folders: Folders) -> Provider:
    """The model asked directly, or through batches where its block says so."""
    if model.batch:
        from omibench.models.openai.batch import OpenAIBatchProvider

        return OpenAIBatchProvider(name, model, folders.batches)
    from omibench.models.batch.submission_folder import warn_of_batches
    from omibench.models.openai.provider import OpenAIProvider

    direct = OpenAIProvider(name, model)
    warn_of_batches(name, folders.batches, direct.identity)
    return direct


@provider("openai_embeddings", block=EmbeddingModel)
def open_embeddings(name: str, model: EmbeddingModel, folders: Folders) -> Provider:
    """A model that makes vectors of texts."""
    from omibench.models.openai.embeddings import EmbeddingProvider

    return EmbeddingProvider(name, model)
