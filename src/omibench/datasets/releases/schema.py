"""Rows and documents of a release, for loading, citing and checking a dataset."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from omibench.schemas.problem import Noun
from omibench.schemas.tables import FrozenManifest

Sha256Text = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Access = Literal["full", "metadata"]
"""Whether an item's texts and pictures are included, or only the data needed to extract them."""


class ReleaseRow(Noun):
    """One line of `manifest.jsonl`: an item of a release by the hashes of its parts.

    Hashes of an item without texts are those of the omitted texts, so you can compare after
    extracting it from its paper.
    """

    id: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    split: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,29}$")]
    access: Access
    source: str
    licence: str | None
    question_sha256: Sha256Text
    """Hash of question and choices."""
    answer_sha256: Sha256Text
    """Hash of the gold answer."""
    rationale_sha256: Sha256Text | None
    original_sha256: Sha256Text | None
    """Hash of the text before translation."""
    labels_sha256: Sha256Text
    """Hash of subject, topic, language and attributes."""
    image_sha256: Annotated[list[Sha256Text], Field(max_length=1000)]
    canary: str = ""


class ReleasedSource(Noun):
    """Source of items, and whether their texts and pictures can be redistributed."""

    name: str
    items: int
    licence: str | None
    redistribute: bool | None
    competition: str | None = None
    year: int | None = None
    files: dict[str, str] = {}
    """File name of the paper -> its SHA-256."""
    urls: dict[str, str] = {}
    """File name of the paper -> its download address."""


class DrawnSplit(Noun):
    """Sampled part; the remaining items are the split `test`."""

    name: str
    items: int
    attributes: list[str]
    """Attributes whose proportions the sample keeps."""


class ReleaseProvenance(Noun):
    """`provenance.json`: the inputs and software of a release. It contains no time stamps."""

    name: str
    version: str
    draft: bool
    findings: list[str]
    """Objections to a release; empty unless it is a draft."""
    commit: str | None
    """Commit of the working tree; `+changed` if files differ from it."""
    dvc_lock_sha256: str | None
    frozen: FrozenManifest
    """Metadata of the freeze: name, version, content, simulated parts."""
    review_sha256: str | None
    """Hash of the file of review decisions, if any."""
    review_head: Sha256Text | None = None
    """Head hash of the review log: at the freeze, otherwise at the release."""
    packages: dict[str, str]
    sources: list[ReleasedSource]
    canary: str
    seed: int
    split: DrawnSplit | None = None
