"""Holm's adjustment against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from omibench.statistics.multiplicity import adjust_holm


@pytest.mark.parametrize("tests", [1, 2, 10, 300])
def test_the_adjusted_values_are_those_of_statsmodels(tests: int) -> None:
    values = np.random.default_rng(tests).random(tests) ** 3
    values[: tests // 3] = values[-1]
    assert adjust_holm(values) == pytest.approx(multipletests(values, method="holm")[1])


def test_a_test_that_could_not_be_made_is_no_part_of_the_family() -> None:
    assert adjust_holm([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert adjust_holm([]).size == 0
