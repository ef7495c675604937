"""The block `certify`: how the judge is checked against people."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from omibench.params.blocks import Block


class CertifyParams(Block):
    """Labels of people to certify the judge with, and certificates that stand already."""

    labels: str | None = None
    """File of human labels of this study's responses; a certificate is made from it."""
    certificates: list[str] = []
    """Certificates made elsewhere; one counts where judge model and prompt are the same."""
    sources: str | None = None
    """File of people's `source` of disagreements, such as disagreements.jsonl with this filled in;
    `labels` if left out."""
    disagreements: Annotated[int, Field(ge=0)] = 100
    """Responses of each model on which rules and judge disagree, drawn for reading."""
