"""A row's own generator draws from the model's distribution."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from omibench.models.local.transformers_engine import RowSampler

pytestmark = pytest.mark.usefixtures("one_thread")
LOGITS = [2.0, 1.0, 0.5, 0.0, -1.0]
DRAWS = 20_000


@pytest.fixture(scope="module")
def torch(one_thread: None) -> Any:
    return importlib.import_module("torch")


def frequencies(torch: Any, temperature: float, top_p: float | None) -> Any:
    # One row with one seed, drawn from again and again, as the steps of a reply are.
    sampler = RowSampler([11], temperature, top_p)
    scores = torch.tensor([LOGITS])
    drawn = [int(sampler(None, scores).argmax()) for _ in range(DRAWS)]
    return np.bincount(drawn, minlength=len(LOGITS))


@pytest.mark.parametrize("temperature", [0.6, 1.0, 2.0])
def test_tokens_are_drawn_as_often_as_they_are_likely(torch: Any, temperature: float) -> None:
    from scipy.stats import chisquare

    expected = np.exp(np.array(LOGITS) / temperature)
    expected *= DRAWS / expected.sum()
    assert chisquare(frequencies(torch, temperature, None), expected).pvalue > 1e-3


def test_only_the_nucleus_is_drawn_from(torch: Any) -> None:
    from scipy.stats import chisquare

    # At temperature 1 the first two have 0.57 + 0.21 and the third 0.13 of the probability.
    found = frequencies(torch, 1.0, 0.8)
    expected = np.exp(np.array(LOGITS[:3]))
    assert not found[3:].any()
    assert chisquare(found[:3], expected * DRAWS / expected.sum()).pvalue > 1e-3


def test_rows_are_drawn_apart(torch: Any) -> None:
    scores = torch.zeros(3, 1000)
    together = RowSampler([1, 2, 1], 1.0, None)(None, scores).argmax(-1).tolist()
    alone = int(RowSampler([2], 1.0, None)(None, scores[:1]).argmax())
    assert together == [together[0], alone, together[0]]
    assert alone != together[0]
    masked = RowSampler([1], 1.0, None)(None, scores[:1])
    assert masked.isfinite().sum() == 1
