"""From a model's block in params.yaml to its provider.

Each provider's module is imported when it is asked for, since an SDK or engine costs seconds; by
statement and not by name, so that a stage's source hash sees it.
"""

from __future__ import annotations

from pathlib import Path

from omibench.models.provider import Provider
from omibench.params.model import (
    AnthropicModel,
    Model,
    OpenAIModel,
    RecordedModel,
    SimulatedModel,
    VllmModel,
)


def open_provider(
    name: str, model: Model, data: str | None = None, batches: Path | None = None
) -> Provider:
    """The provider of the model `name`; `data` is the study's folder of benchmark files.

    `batches` is the folder in which a model with `batch: true` notes what it has submitted;
    without one it can be described and not asked.

    Raises ModelError or MissingInputError when what the model needs is not there.
    """
    if isinstance(model, SimulatedModel):
        from omibench.models.simulated.provider import SimulatedProvider

        return SimulatedProvider(name, model)
    if isinstance(model, RecordedModel):
        from omibench.models.recorded.provider import RecordedProvider

        return RecordedProvider(name, model, data)
    if isinstance(model, OpenAIModel | AnthropicModel):
        return _behind_an_api(name, model, batches)
    if isinstance(model, VllmModel):
        from omibench.models.local.vllm import VllmProvider

        return VllmProvider(name, model)
    from omibench.models.local.transformers import TransformersProvider

    return TransformersProvider(name, model)


def _behind_an_api(
    name: str, model: OpenAIModel | AnthropicModel, batches: Path | None
) -> Provider:
    from omibench.models.batch.desk import warn_of_batches

    if isinstance(model, OpenAIModel) and model.batch:
        from omibench.models.openai.batch import OpenAIBatchProvider

        return OpenAIBatchProvider(name, model, batches)
    if isinstance(model, OpenAIModel):
        from omibench.models.openai.provider import OpenAIProvider

        chat = OpenAIProvider(name, model)
        warn_of_batches(name, batches, chat.identity)
        return chat
    if model.batch:
        from omibench.models.anthropic.batch import AnthropicBatchProvider

        return AnthropicBatchProvider(name, model, batches)
    from omibench.models.anthropic.provider import AnthropicProvider

    messages = AnthropicProvider(name, model)
    warn_of_batches(name, batches, messages.identity)
    return messages
