"""The rows and documents of a release: a dataset as others load, cite and check it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from omibench.schemas.problem import Noun
from omibench.schemas.tables import FrozenManifest

Sha256Text = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Access = Literal["full", "metadata"]
"""Whether an item's texts and pictures are given, or only what is needed to extract them."""


class ReleaseRow(Noun):
    """One line of `manifest.jsonl`: an item of a release by the hashes of its parts.

    Hashes of an item without texts are those of the texts that it does not give, so that whoever
    extracts it from its paper can compare.
    """

    id: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    split: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,29}$")]
    access: Access
    source: str
    licence: str | None
    question_sha256: Sha256Text
    """Of question and choices."""
    answer_sha256: Sha256Text
    """Of the gold."""
    rationale_sha256: Sha256Text | None
    original_sha256: Sha256Text | None
    """Of the text before it was translated."""
    labels_sha256: Sha256Text
    """Of subject, topic, language and attributes."""
    image_sha256: Annotated[list[Sha256Text], Field(max_length=1000)]
    canary: str = ""


class ReleasedSource(Noun):
    """Where items come from, and whether their texts and pictures may be given on."""

    name: str
    items: int
    licence: str | None
    redistribute: bool | None
    competition: str | None = None
    year: int | None = None
    files: dict[str, str] = {}
    """Name of a file of the paper -> its SHA-256."""
    urls: dict[str, str] = {}
    """Name of a file of the paper -> where it can be had."""


class DrawnSplit(Noun):
    """The part that was drawn; the remaining items are the split `test`."""

    name: str
    items: int
    attributes: list[str]
    """In proportion to these attributes."""


class ReleaseProvenance(Noun):
    """`provenance.json`: what a release was made from and with. No time stands in it."""

    name: str
    version: str
    draft: bool
    findings: list[str]
    """What stands against a release; empty unless it is a draft."""
    commit: str | None
    """Of the working tree; `+changed` where files of it differ from the commit."""
    dvc_lock_sha256: str | None
    frozen: FrozenManifest
    """What the freeze said of itself: its own name and version, content, simulated parts."""
    review_sha256: str | None
    """Of the file of people's decisions, where there is one."""
    review_head: Sha256Text | None = None
    """The head hash of the record of a review: at the freeze, else when it was released."""
    packages: dict[str, str]
    sources: list[ReleasedSource]
    canary: str
    seed: int
    split: DrawnSplit | None = None
