"""The block `rationale.taxonomy`: how domain, subfield and topic are found from the problems."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from omibench.params.blocks import Block, Name, PlainPath

ClusterCount = Annotated[int, Field(ge=1, le=200)]


class TaxonomyParams(Block):
    """How domain, subfield and topic are found from the problems (OMIBench, A.5)."""

    clusters: ClusterCount | tuple[ClusterCount, ClusterCount] = (2, 12)
    """Clusters of topics for each subject: a number, or the least and most, of which the mean
    silhouette chooses."""
    embedder: Name | None = None
    """The model (a key of `models`) that makes vectors of topics, asked through the store; without
    one, character n-grams with TF-IDF and a truncated SVD, which need no download."""
    file: PlainPath | None = None
    """A `labels.yaml` that people have edited: what it says stands over what models say."""

    @model_validator(mode="after")
    def _least_first(self) -> Self:
        if isinstance(self.clusters, tuple) and self.clusters[0] > self.clusters[1]:
            raise ValueError("clusters: the least comes first, then the most, as in [2, 12]")
        return self
