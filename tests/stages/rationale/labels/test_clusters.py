"""Topics come together by their spelling, in one way for each seed, whatever their order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from omibench.errors import ModelError
from omibench.schemas.request import Request, Response
from omibench.stages.rationale.labels.clusters import (
    MOST_COMPONENTS,
    Clustering,
    cluster_topics,
    embed_by_model,
    embed_ngrams,
)

pytest.importorskip("sklearn")
LENSES = ["thin lens images", "thick lens images", "lens images in water"]
GENES = ["gene linkage maps", "gene linkage crosses", "linkage of genes"]


def offline(clusters: int | tuple[int, int], seed: int = 1) -> Clustering:
    return Clustering(clusters, lambda texts: embed_ngrams(texts, seed), seed)


@pytest.mark.parametrize("clusters", [2, (2, 5)])
def test_labels_that_share_words_are_one_cluster(clusters: int | tuple[int, int]) -> None:
    found = cluster_topics([*LENSES, *GENES], offline(clusters))
    assert [sorted(group) for group in found] == [sorted(GENES), sorted(LENSES)]


def test_the_order_of_topics_changes_nothing() -> None:
    orders = list(itertools.permutations([*LENSES[:2], *GENES[:2]]))[::5]
    assert len({str(cluster_topics(order, offline((2, 3)))) for order in orders}) == 1


@pytest.mark.parametrize(
    ("topics", "clusters", "count"),
    [
        ([], 3, 0),
        (["optics"], (2, 12), 1),
        (["optics", "genetics"], 5, 2),
        (["optics", "genetics"], (2, 12), 2),
        (["optics", "genetics"], 1, 1),
        (["x y", "x  y"], (2, 12), 1),
        (["a", "b", "c"], (5, 12), 3),
    ],
)
def test_few_topics_make_few_clusters(
    topics: list[str], clusters: int | tuple[int, int], count: int
) -> None:
    found = cluster_topics(topics, offline(clusters))
    assert len(found) == count
    assert sorted(itertools.chain(*found)) == sorted(topics)


def test_the_most_typical_topic_stands_first() -> None:
    points = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.6, 0.8], "d": [-1.0, 0.0]}
    clustering = Clustering(2, lambda texts: np.array([points[t] for t in texts]), 1)
    assert cluster_topics(list(points), clustering) == [["b", "c", "a"], ["d"]]


@pytest.mark.parametrize("more", [0, 60])
def test_vectors_have_unit_length_and_are_equal_at_every_call(more: int) -> None:
    texts = [*LENSES, *GENES, *(f"topic {number} of {number % 7}" for number in range(more))]
    first, second = (embed_ngrams(texts, 3) for _ in range(2))
    assert not more or first.shape == (len(texts), MOST_COMPONENTS)
    assert first.tobytes() == second.tobytes()
    assert np.linalg.norm(first, axis=1) == pytest.approx(1.0)


def reply_with(*texts: str) -> object:
    def ask(requests: list[Request]) -> list[Response]:
        assert [r.tags.role for r in requests] == ["embedder"] * len(texts)
        return [Response(text=text) for text in texts]

    return ask


def test_vectors_of_a_model_are_scaled() -> None:
    matrix = embed_by_model(["a", "b"], "m", reply_with("[3, 4]", "[0, 0]"))  # type: ignore[arg-type]
    assert matrix.tolist() == [[0.6, 0.8], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        (["[1, 2]", "[1]"], "differ in length"),
        (["optics", "[1]"], "replied with text instead of a vector"),
        (['[1, "2"]', "[1]"], "replied with text instead of a vector"),
        (["[]", "[1]"], "replied with text instead of a vector"),
        (["[1e999]", "[1]"], "not finite"),
    ],
)
def test_what_is_no_vector_is_one_clear_line(replies: list[str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        embed_by_model(["a", "b"], "m", reply_with(*replies))  # type: ignore[arg-type]
