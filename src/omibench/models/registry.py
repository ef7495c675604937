"""From a model's block in params.yaml to its provider, and the registration of providers.

A provider is a class, or a function that makes one, under `@provider(name, block=...)`:

    class EchoModel(ApiModel):
        provider: Literal["echo"]

    @provider("echo", block=EchoModel)
    class EchoProvider(BaseProvider[EchoModel]):
        ...

What registers a built-in provider is the package that holds it, which imports the provider's own
module when a model is opened, since an SDK or engine costs seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from omibench.models.provider import Provider
from omibench.params.models.base import ModelBlock
from omibench.params.models.registry import PROVIDERS, ProviderEntry

Factory = TypeVar("Factory", bound=Callable[..., Provider])


class Folders(NamedTuple):
    """Where a provider finds and keeps files."""

    data: str | None = None
    """The study's folder of benchmark files."""
    batches: Path | None = None
    """Where a model that is asked in batches notes what it has submitted; without one it can be
    described and not asked."""


def provider(name: str, *, block: type[ModelBlock]) -> Callable[[Factory], Factory]:
    """Register a provider.

    Args:
        name: What `provider` says in a model's block.
        block: The class of these blocks.

    Returns:
        A decorator for a callable of a model's name, its block and the `Folders`; it returns a
        `Provider`, or raises ModelError or MissingInputError when what the model needs is absent.

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
    """The provider of one model.

    Args:
        name: The model's name in the study.
        model: Its block.
        data: As `Folders.data`.
        batches: As `Folders.batches`.

    Raises:
        ModelError: What the model needs is not there, or its block contradicts the provider.
        MissingInputError: A file that it answers from is not there.
        PluginError: It is a plug-in's, and raised.
    """
    factory: Any = PROVIDERS.get(model.provider).open
    with PROVIDERS.calling(model.provider, f"model {name}"):
        return cast("Provider", factory(name, model, Folders(data, batches)))
