"""McNemar's test against a published example and statsmodels."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar

from omibench.errors import MissingExtraError
from omibench.statistics.mcnemar import mcnemar_p


def test_a_published_example() -> None:
    """Fagerland, Lydersen and Laake (2013), table 1: 1 pair against 7."""
    assert mcnemar_p([1], [7], mid=False)[0] == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar_p([1], [7])[0] == pytest.approx(0.0391, abs=5e-5)


def test_the_exact_p_is_that_of_statsmodels() -> None:
    pairs = [(0, 0), (0, 1), (3, 3), (12, 4), (4, 12), (90, 60), (0, 40)]
    expected = [mcnemar([[0, up], [down, 0]], exact=True).pvalue for up, down in pairs[1:]]
    computed = mcnemar_p(*np.transpose(pairs), mid=False)
    assert computed[0] == 1
    assert computed[1:] == pytest.approx(expected)


def test_the_mid_p_is_below_the_exact_and_symmetric() -> None:
    up, down = np.arange(1, 30), np.arange(30, 1, -1)
    assert (mcnemar_p(up, down) < mcnemar_p(up, down, mid=False)).all()
    assert mcnemar_p(up, down) == pytest.approx(mcnemar_p(down, up))
    assert mcnemar_p([5], [5])[0] == 1


def test_without_scipy_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtraError, match=r"McNemar's test needs scipy.*omibench\[stats\]"):
        mcnemar_p([1], [2])
