"""The block `certify`: how the judge is compared with human labels."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from omibench.params.blocks import Block


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
