"""Clusters of one subject's topics by k-means (OMIBench, A.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from omibench.stages.rationale.labels.embedding import Embed, Matrix

STARTS: Final = 10
"""Number of k-means starts; the best is kept."""


class Clustering(NamedTuple):
    """Parameters of clustering."""

    clusters: int | tuple[int, int]
    """The number for each subject, or a range from which the silhouette selects."""
    embed: Embed
    """Returns a vector for each topic."""
    seed: int
    """Of k-means."""


def cluster_topics(topics: Sequence[str], clustering: Clustering) -> list[list[str]]:
    """Cluster topics.

    Args:
        topics: Topics of one subject, each once, in any order.
        clustering: The number of clusters, and the embedding.

    Returns:
        The clusters by first topic, each ordered by distance from its centre. The result does not
        depend on the order of `topics`.
    """
    ordered = sorted(topics)
    if len(ordered) < 2:
        return [ordered] if ordered else []
    matrix = clustering.embed(ordered)
    labels = _assign(matrix, clustering.clusters, clustering.seed)
    members = [
        [index for index, label in enumerate(labels) if label == name]
        for name in dict.fromkeys(labels)
    ]
    return [[ordered[i] for i in _sort_by_distance(matrix, group)] for group in members]


def _assign(matrix: Matrix, clusters: int | tuple[int, int], seed: int) -> list[int]:
    distinct = len(np.unique(matrix, axis=0))
    if isinstance(clusters, int):
        return _run_kmeans(matrix, min(clusters, distinct), seed)
    least, most = clusters
    candidates = [
        _run_kmeans(matrix, k, seed) for k in range(max(least, 2), min(most, distinct - 1) + 1)
    ]
    if not candidates:  # too few topics to select from
        return _run_kmeans(matrix, min(least, distinct), seed)
    return max(candidates, key=lambda labels: _rate(matrix, labels))  # of equals the first


def _run_kmeans(matrix: Matrix, k: int, seed: int) -> list[int]:
    if k <= 1:
        return [0] * len(matrix)
    from sklearn.cluster import KMeans

    model = KMeans(k, n_init=STARTS, random_state=seed).fit(matrix)
    return [int(label) for label in model.labels_]


def _rate(matrix: Matrix, labels: Sequence[int]) -> float:
    """Return the mean silhouette in [-1, 1], rounded so that ties are exact."""
    from sklearn.metrics import silhouette_score

    return round(float(silhouette_score(matrix, list(labels))), 6)


def _sort_by_distance(matrix: Matrix, group: Sequence[int]) -> list[int]:
    points = matrix[list(group)]
    distances = np.round(np.linalg.norm(points - points.mean(axis=0), axis=1), 6)
    return [index for _, index in sorted(zip(distances.tolist(), group, strict=True))]
