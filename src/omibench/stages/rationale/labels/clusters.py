"""Clusters of topics, by the spelling of their names or by vectors from a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omibench.errors import ModelError
from omibench.schemas.request import Request, Response, Tags, TextPart, converse
from omibench.stages.rationale.candidates import Ask

Matrix = NDArray[np.float64]

Embed = Callable[[Sequence[str]], Matrix]
"""Texts -> one row of unit length per text."""
MOST_COMPONENTS: Final = 50
"""Columns of the reduced matrix; a matrix of at most this rank is not reduced."""
DECIMALS: Final = 9
"""Decimals of vectors, rounded so that library threads do not change clusters."""
NGRAMS: Final = (2, 4)
"""Minimum and maximum length of n-grams."""


def embed_ngrams(texts: Sequence[str], seed: int) -> Matrix:
    """Embed texts by their spelling: TF-IDF of character n-grams, then a truncated SVD.

    The SVD is omitted if there are too few texts to reduce. No model or download is required.
    Vectors reflect spelling rather than meaning: labels with common words are close.

    Args:
        texts: Two or more texts.
        seed: Seed of the SVD.

    Returns:
        One row per text, of unit length.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    counts = TfidfVectorizer(analyzer="char_wb", ngram_range=NGRAMS).fit_transform(texts)
    if min(counts.shape) <= MOST_COMPONENTS:
        return _scale_rows(counts.toarray())
    reduce = TruncatedSVD(MOST_COMPONENTS, algorithm="arpack", random_state=seed)
    return _scale_rows(reduce.fit_transform(counts))


def embed_by_model(texts: Sequence[str], model: str, ask: Ask, study: str = "") -> Matrix:
    """Embed texts by a model, through the store.

    Args:
        texts: One or more texts.
        model: Its name in the study.
        ask: Sends requests; each reply is a vector as JSON.
        study: The study's name.

    Returns:
        One row per text, of unit length.

    Raises:
        ModelError: The model did not answer, or its replies are not vectors of one length.
    """
    responses = ask([build_text_request(text, study) for text in texts])
    vectors = [parse_vector(response, model) for response in responses]
    if len({len(vector) for vector in vectors}) > 1:
        raise ModelError(f"model {model!r}: its vectors differ in length")
    return _scale_rows(np.array(vectors, dtype=np.float64))


def parse_vector(response: Response, model: str) -> list[float]:
    """Read a vector from a reply, a list of finite numbers as JSON.

    Raises:
        ModelError: The reply is not a vector; the message gives the model and the remedy.
    """
    import math

    if response.outcome != "answered":
        reason = response.error or response.outcome
        raise ModelError(f"model {model!r} embedded no label: {reason}")
    try:
        vector = json.loads(response.text)
    except (ValueError, RecursionError):
        vector = None
    if not isinstance(vector, list) or not vector or not all(map(_is_number, vector)):
        raise ModelError(
            f"model {model!r}: replied with text instead of a vector; set "
            "rationale.taxonomy.embedder to a model of the provider openai_embeddings or "
            "sentence-transformers"
        )
    numbers = [float(value) for value in vector]
    if not all(map(math.isfinite, numbers)):
        raise ModelError(f"model {model!r}: its vector has numbers that are not finite")
    return numbers


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def build_text_request(text: str, study: str) -> Request:
    """Return the request for the vector of one text."""
    return Request(
        conversation=converse("", [TextPart(text=text)]),
        tags=Tags(role="embedder", problem="", study=study),
    )


def _scale_rows(matrix: Any) -> Matrix:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Matrix = np.round(matrix / np.where(lengths == 0, 1.0, lengths), DECIMALS)
    return scaled + 0.0  # without negative zeros


# Clusters of one subject's topics by k-means (OMIBench, A.5).

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
