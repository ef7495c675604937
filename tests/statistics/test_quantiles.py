"""Quantiles against printed tables, and what is said where scipy is missing."""

from __future__ import annotations

import sys

import pytest

from omibench.errors import MissingExtraError
from omibench.statistics.intervals import clustered_wilson
from omibench.statistics.quantiles import t_value, z_value


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (30, 2.042), (120, 1.980)],
)
def test_student_quantiles_are_those_of_the_tables(freedom: int, expected: float) -> None:
    assert t_value(0.95, freedom) == pytest.approx(expected, abs=5e-4)


def test_student_comes_to_the_normal_distribution() -> None:
    assert z_value(0.95) == pytest.approx(1.959964)
    assert t_value(0.95, 10**7) == pytest.approx(z_value(0.95), abs=1e-6)


def test_a_missing_scipy_is_named_where_clusters_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    t_value.cache_clear()
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert clustered_wilson([1.0, 0.0, 1.0], ["a", "b", "c"]).n == 3
    with pytest.raises(MissingExtraError, match=r"needs scipy.*pip install 'omibench\[stats\]'"):
        clustered_wilson([1.0, 0.0, 1.0], ["a", "a", "b"])
