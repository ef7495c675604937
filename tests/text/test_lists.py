"""Long lists are cut, and say by how much."""

from __future__ import annotations

import pytest

from omibench.text.lists import list_first


@pytest.mark.parametrize(
    ("most", "separator", "line"),
    [
        (3, ", ", "a, b, c"),
        (2, ", ", "a, b and 1 more"),
        (1, "; ", "a; and 2 more"),
    ],
)
def test_the_first_entries_and_the_number_of_the_others(
    most: int, separator: str, line: str
) -> None:
    assert list_first(["a", "b", "c"], most, separator) == line


def test_large_numbers_are_grouped_and_nothing_is_no_text() -> None:
    assert list_first(["a"] * 1_235, 1) == "a and 1,234 more"
    assert list_first([], 3) == ""
