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


def test_tokens_with_a_name_cost_their_own_price_and_no_token_is_paid_twice() -> None:
    price = Price(
        input=1, output=10, cached_input=0.1, audio_input=5, image_input=2, reasoning=4,
        audio_output=40, image_output=20, as_of=date(2026, 1, 2),
    )  # fmt: skip
    usage = Usage(
        input_tokens=1000, cached_tokens=100, audio_input_tokens=200, image_input_tokens=300,
        output_tokens=100, reasoning_tokens=50, audio_output_tokens=10, image_output_tokens=20,
    )  # fmt: skip
    dollars = 100 * 0.1 + 200 * 5 + 300 * 2 + 400 * 1 + 50 * 4 + 10 * 40 + 20 * 20 + 20 * 10
    assert compute_cost(price, usage) == pytest.approx(dollars / 1e6)
    # Without a price of their own they cost what the others do, and a count above the total is cut.
    plain = price.model_copy(update={"audio_input": None, "reasoning": None})
    more = Usage(input_tokens=10, output_tokens=10, image_input_tokens=50, reasoning_tokens=50)
    assert compute_cost(plain, more) == pytest.approx((10 * 2 + 10 * 10) / 1e6)
    assert (price.highest("input"), price.highest("output")) == (5, 40)


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
