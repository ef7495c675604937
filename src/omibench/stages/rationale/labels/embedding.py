"""Embeddings of texts: character n-grams without a model, or vectors from a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from omibench.errors import ModelError
from omibench.schemas.request import Conversation, Message, Request, Response, Tags, TextPart
from omibench.stages.rationale.solutions import Ask

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
    message = Message(role="user", parts=(TextPart(text=text),))
    return Request(
        conversation=Conversation(messages=(message,)),
        tags=Tags(role="embedder", problem="", study=study),
    )


def _scale_rows(matrix: Any) -> Matrix:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Matrix = np.round(matrix / np.where(lengths == 0, 1.0, lengths), DECIMALS)
    return scaled + 0.0  # without negative zeros
