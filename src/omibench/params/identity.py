"""The identity of judge models in certificates: the fields that change their answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from omibench.errors import PluginError
from omibench.params.models.base import ModelBlock
from omibench.params.models.registry import block_class
from omibench.params.roles import Role, select_fields


def certificate_identity(model: ModelBlock) -> dict[str, Any]:
    """Return the fields of a model's block that change its answers."""
    return model.identity_fields


def is_certified(identity: Sequence[Mapping[str, Any]], models: Iterable[ModelBlock]) -> bool:
    """Return whether a certificate belongs to these judge models.

    Args:
        identity: The certificate's models, one entry each. Certificates of earlier versions also
            contain the number of GPUs, which is ignored.
        models: The judge's models, in order.
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
