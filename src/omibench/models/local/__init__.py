"""Models that run on this machine: vLLM, transformers, sentence-transformers."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.providers import (
    ChatModel,
    RewardModel,
    SentenceModel,
    TransformersModel,
    VllmModel,
)


@provider("vllm", block=VllmModel)
def open_vllm(name: str, model: VllmModel, folders: Folders) -> Provider:
    """Open the model; it is loaded on its first request."""
    from omibench.models.local.vllm import VllmProvider

    return VllmProvider(name, model)


@provider("transformers", block=TransformersModel)
def open_transformers(name: str, model: TransformersModel, folders: Folders) -> Provider:
    """Open the model; it is loaded on its first request."""
    from omibench.models.local.transformers import TransformersProvider

    return TransformersProvider(name, model)


@provider("transformers-chat", block=ChatModel)
def open_chat_model(name: str, model: ChatModel, folders: Folders) -> Provider:
    """Open the model; it is loaded on its first request."""
    from omibench.models.local.chat import ChatProvider

    return ChatProvider(name, model)


@provider("transformers-reward", block=RewardModel)
def open_reward_model(name: str, model: RewardModel, folders: Folders) -> Provider:
    """Open the reward model; it is loaded on its first request."""
    from omibench.models.local.reward import RewardProvider

    return RewardProvider(name, model)


@provider("sentence-transformers", block=SentenceModel)
def open_sentence_model(name: str, model: SentenceModel, folders: Folders) -> Provider:
    """Open the embedding model; it is loaded on its first request."""
    from omibench.models.local.sentences import SentenceProvider

    return SentenceProvider(name, model)
