from __future__ import annotations

import pytest

from omibench.datasets.formats.record import (
    extract_text,
    extract_texts,
    options_in_question,
    parse_list,
    parse_options,
    plain,
    read_option_columns,
)


@pytest.mark.parametrize(
    ("given", "text"),
    [("B", "B"), ([["B", "C"]], "B"), (3.0, "3"), (3.5, "3.5"), (True, "True"), ([], None),
     (None, None), ({"a": 1}, None), ([[]], None)],
)  # fmt: skip
def test_the_first_text_of_a_value(given: object, text: str | None) -> None:
    assert extract_text(given) == text


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


def test_options_in_columns_and_in_the_question() -> None:
    assert read_option_columns({"A": "x", "B": 2.0, "C": None, "D": ""}) == {"A": "x", "B": "2"}
    assert read_option_columns({"A": "x", "B": None}) is None
    asked = "A. not one\n\nWhich?\n\nA) x = 1\nB) none\n(C) y"
    assert options_in_question(asked) == {"A": "x = 1", "B": "none", "C": "y"}
    assert options_in_question("B) x\nC) y") is None
    assert plain(2.0**60) == str(2.0**60)
