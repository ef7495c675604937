"""The block `certify`: how the judge is compared with human labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from omibench.errors import PluginError
from omibench.params.blocks import Block
from omibench.params.models.base import ModelBlock
from omibench.params.models.registry import block_class
from omibench.params.roles import Role, select_fields


class CertifyParams(Block):
    """Human labels to certify the judge, and existing certificates."""

    labels: str | None = None
    """File of human labels of this study's responses; a certificate is made from it."""
    certificates: list[str] = []
    """Existing certificates; one applies if judge model and prompt are the same."""
    sources: str | None = None
    """File with the human `source` of disagreements, such as a completed disagreements.jsonl;
    default: `labels`."""
    disagreements: Annotated[int, Field(ge=0)] = 100
    """Responses per model on which scorer and judge disagree, drawn for inspection."""


# The identity of judge models in certificates: the fields that change their answers.


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
