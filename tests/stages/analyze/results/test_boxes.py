"""The numbers of box plots."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.analyze.results.saliency import summarise_box

NUMBERS = st.lists(st.floats(-100, 100), min_size=1, max_size=40)


@given(NUMBERS)
def test_the_box_holds_the_middle_half_and_whiskers_reach_to_values(values: list[float]) -> None:
    box = summarise_box(values)
    assert (box.q1, box.median, box.q3) == tuple(np.percentile(values, [25, 50, 75]))
    assert {box.whisker_low, box.whisker_high} <= set(values)
    reach = 1.5 * (box.q3 - box.q1)
    outside = [v for v in values if not box.whisker_low <= v <= box.whisker_high]
    assert all(v < box.q1 - reach or v > box.q3 + reach for v in outside)


def test_an_outlier_is_no_whisker() -> None:
    assert summarise_box([1, 2, 3, 4, 5, 30]).whisker_high == 5
    with pytest.raises(ValueError, match="no values"):
        summarise_box([])
