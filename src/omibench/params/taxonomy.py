"""The block `rationale.taxonomy`: how domain, subfield and topic are derived from the problems."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from omibench.params.blocks import Block, Name, PlainPath

ClusterCount = Annotated[int, Field(ge=1, le=200)]


class TaxonomyParams(Block):
    """How domain, subfield and topic are derived from the problems (OMIBench, A.5)."""

    clusters: ClusterCount | tuple[ClusterCount, ClusterCount] = (2, 12)
    """Clusters of topics per subject: a number, or a minimum and maximum, from which the mean
    silhouette chooses."""
    embedder: Name | None = None
    """The model (a key of `models`) that embeds topics, called through the store; default:
    character n-grams with TF-IDF and a truncated SVD, which need no download."""
    file: PlainPath | None = None
    """A manually edited `labels.yaml`, which overrides the labels of models."""

    @model_validator(mode="after")
    def _least_first(self) -> Self:
        if isinstance(self.clusters, tuple) and self.clusters[0] > self.clusters[1]:
            raise ValueError("clusters: give the minimum first, then the maximum, as in [2, 12]")
        return self
