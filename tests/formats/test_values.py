from __future__ import annotations

import pytest

from omibench.datasets.formats.record import (
    extract_texts,
    parse_list,
    parse_options,
)


@pytest.mark.parametrize(
    ("text", "entries"),
    [('["a", 2]', ["a", "2"]), ("['it\\'s', \"b, c\"]", ["it's", "b, c"]), ("[0, 4)", None),
     ("[x, y]", None), ("no list", None), ("[]", []), ("['a' 'b'", None), ("[" * 5000, None)],
)  # fmt: skip
def test_a_list_that_stands_in_a_text(text: str, entries: list[str] | None) -> None:
    assert parse_list(text) == entries


def test_an_interval_in_a_gold_stays_one_text() -> None:
    assert extract_texts("[0, 4)") == ["[0, 4)"]
    assert extract_texts(["a", None, 3]) == ["a", "3"]
    assert extract_texts("  ") == []


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (["x", None], {"A": "x", "B": ""}),
        ({"A": "x", "C": 4.0}, {"A": "x", "C": "4"}),
        ("['x', 'y']", {"A": "x", "B": "y"}),
        ('{"1": "x"}', {"1": "x"}),
        ({"text": ["x", "y"], "label": ["1", "2"]}, {"1": "x", "2": "y"}),
        ([], None),
        ("x", None),
        (7, None),
    ],
)
def test_options_in_each_of_their_shapes(given: object, options: dict[str, str] | None) -> None:
    assert parse_options(given) == options
