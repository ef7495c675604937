"""Numbers are rounded half up, as readers do, wherever they are written."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.analyze.formatting import (
    format_bounds,
    format_decimals,
    format_interval,
    format_limits,
    format_percent,
    format_points,
    format_share,
    name_image_bin,
    name_outcome,
)


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.425, 0, "43"),  # Python writes 42
        (0.435, 0, "44"),
        (0.3425, 1, "34.3"),  # Python writes 34.2
        (0.575, 0, "58"),  # 57.49999999999999 in binary
        (1 / 3, 1, "33.3"),
        (1.0, 2, "100.00"),
        (float("nan"), 1, "–"),
    ],
)
def test_shares_are_rounded_half_up(share: float, digits: int, text: str) -> None:
    assert format_share(share, digits) == text


@given(st.integers(0, 2000), st.integers(1, 2000), st.integers(0, 2))
def test_rounding_agrees_with_exact_arithmetic(right: int, n: int, digits: int) -> None:
    exact = (100 * Decimal(right) / Decimal(n)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    assert format_decimals(100 * right / n, digits) == f"{exact:f}"


def test_nothing_is_ever_minus_zero() -> None:
    assert format_decimals(-0.001, 2) == "0.00"
    assert format_points(-0.0004) == "0.0"
    assert format_points(-0.0405) == "\N{MINUS SIGN}4.1"
    assert format_points(0.0405) == "+4.1"


def test_intervals_have_the_decimals_of_their_means() -> None:
    assert format_percent(0.57) == "57.0\N{NO-BREAK SPACE}%"
    assert format_interval(0.3905, 0.7424) == "39.1 to 74.2\N{NO-BREAK SPACE}%"
    assert format_bounds(0.3905, 0.7424) == "[39.1, 74.2]"
    assert format_limits(0.3905, 1) == "[0.39, 1.00]"
    assert format_bounds(None, None) == format_limits(None, None) == ""


def test_one_image_is_singular() -> None:
    assert [name_image_bin(b) for b in ("1", "2", "6+")] == ["1 image", "2 images", "6+ images"]


def test_outcomes_are_named_as_in_the_files() -> None:
    assert [name_outcome(o) for o in ("loop", "budget_stop")] == ["loop", "budget stop"]
