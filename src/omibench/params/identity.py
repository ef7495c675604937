"""The identity of judge models in certificates: what of their blocks changes their answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from omibench.errors import PluginError
from omibench.params.models.base import ModelBlock
from omibench.params.models.registry import block_class
from omibench.params.roles import Role, select_fields


def certificate_identity(model: ModelBlock) -> dict[str, Any]:
    """What of a model's block changes its answers, not how it is reached, shown and paid."""
    return model.identity_fields


def is_certified(identity: Sequence[Mapping[str, Any]], models: Iterable[ModelBlock]) -> bool:
    """Whether a certificate is of these judge models.

    Args:
        identity: What the certificate says of its models, one entry each. Certificates of earlier
            versions also hold how a model was spread over GPUs, which does not count.
        models: The judge's models, in their order.
    """
    return [_identity_of_now(entry) for entry in identity] == [
        certificate_identity(model) for model in models
    ]


def _identity_of_now(entry: Mapping[str, Any]) -> dict[str, Any]:
    try:
        block = block_class(entry.get("provider"))
    except PluginError:
        return dict(entry)
    return select_fields(block, entry, (Role.IDENTITY,))
