"""The provider of a model's block in params.yaml, and the registration of providers.

A provider is a class, or a function that creates one, under `@provider(name, block=...)`:

    class EchoModel(ApiModel):
        provider: Literal["echo"]

    @provider("echo", block=EchoModel)
    class EchoProvider(BaseProvider[EchoModel]):
        ...

The module of a provider imports its SDK or engine only where it is used, since that takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from omibench.models.provider import Folders, Provider
from omibench.params.models.base import ModelBlock
from omibench.params.models.registry import PROVIDERS, ProviderEntry

__all__ = ["Folders", "open_provider", "provider"]

Factory = TypeVar("Factory", bound=Callable[..., Provider])


def provider(name: str, *, block: type[ModelBlock]) -> Callable[[Factory], Factory]:
    """Register a provider.

    Args:
        name: The value of `provider` in a model's block.
        block: The class of these blocks.

    Returns:
        A decorator for a callable of a model's name, its block and the `Folders`; it returns a
        `Provider`, or raises ModelError or MissingInputError if a requirement of the model is
        missing.

    Raises:
        PluginError: Another package or file has registered this name.
    """
    PROVIDERS.check_name(name)

    def register(factory: Factory) -> Factory:
        PROVIDERS.add(name, ProviderEntry(block, factory), factory.__module__)
        return factory

    return register


def open_provider(
    name: str, model: ModelBlock, data: str | None = None, batches: Path | None = None
) -> Provider:
    """Open the provider of one model.

    Args:
        name: The model's name in the study.
        model: Its block.
        data: See `Folders.data`.
        batches: See `Folders.batches`.

    Raises:
        ModelError: A requirement of the model is missing, or its block contradicts the provider.
        MissingInputError: A file with its answers is missing.
        PluginError: The provider is a plug-in and raised an exception.
    """
    factory: Any = PROVIDERS.get(model.provider).open
    with PROVIDERS.calling(model.provider, f"model {name}"):
        return cast("Provider", factory(name, model, Folders(data, batches)))
