"""The price of a model: dollars of token counts."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.models.api.replies import compute_cost
from omibench.params.models.base import Price
from omibench.schemas.request import Usage

USD = st.floats(0, 1000)
TOKENS = st.integers(0, 10**9)


PRICES = st.builds(
    Price,
    input=USD,
    output=USD,
    cached_input=st.none() | USD,
    batch=st.floats(0, 1),
    as_of=st.just(date(2026, 1, 2)),
)


@given(PRICES, TOKENS, TOKENS, st.none() | TOKENS, st.booleans())
def test_each_token_costs_its_price_and_a_batch_its_share(
    price: Price, sent: int, written: int, cached: int | None, batch: bool
) -> None:
    usage = Usage(input_tokens=sent, output_tokens=written, cached_tokens=cached)
    read = min(cached or 0, sent)
    usd = Fraction(price.input) * (sent - read) + Fraction(price.output) * written
    usd += Fraction(price.input if price.cached_input is None else price.cached_input) * read
    expected = float(usd / 10**6 * (Fraction(price.batch) if batch else 1))
    assert compute_cost(price, usage, batch=batch) == pytest.approx(expected)
    if not cached:
        assert price.compute_dollars(sent, written, batch=batch) == pytest.approx(expected)
