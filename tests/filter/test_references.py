"""Numbers and words by which statements refer to figures, in six languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.filter.references import (
    Numbered,
    printed_number,
    referred_numbers,
    refers_to_all,
    refers_to_pictures,
)

WORDS = {
    "en": ("Figure {}", "Figures {}", "{} and {}", "{} to {}"),
    "es": ("la Figura {}", "las figuras {}", "{} y {}", "{} a {}"),
    "pt": ("a figura {}", "as figuras {}", "{} e {}", "{} até {}"),
    "de": ("Abbildung {}", "den Abbildungen {}", "{} und {}", "{} bis {}"),
    "fr": ("la figure {}", "les figures {}", "{} et {}", "{} à {}"),
    "zh": ("见图{}", "如图{}", "{}和{}", "{}至{}"),
}


def figures(*listed: int) -> set[Numbered]:
    return {Numbered("figure", number) for number in listed}


numbers = st.integers(min_value=1, max_value=99)


@given(st.sampled_from(sorted(WORDS)), numbers, numbers)
def test_lists_and_ranges_in_every_language(language: str, first: int, length: int) -> None:
    one, many, joined, ranged = WORDS[language]
    last = first + length
    assert referred_numbers(one.format(first) + ", ...") == figures(first)
    assert referred_numbers(many.format(joined.format(first, last)) + ".") == figures(first, last)
    expected = figures(*range(first, last + 1))
    assert referred_numbers(many.format(ranged.format(first, last))) == expected


@given(st.lists(numbers, min_size=1, max_size=6), st.sampled_from([", ", ",", " & ", "/"]))
def test_long_lists(listed: list[int], separator: str) -> None:
    text = "See figs. " + separator.join(map(str, listed)) + " for a cart."
    assert referred_numbers(text) == figures(*listed)


@given(st.text())
def test_any_text_can_be_searched(text: str) -> None:
    assert all(found.number >= 0 for found in referred_numbers(text))
    refers_to_pictures(text)
    refers_to_all(text)
    printed_number(text)


def test_a_list_of_a_million_numbers_takes_no_time() -> None:
    text = "Figures " + "1 and " * 200_000 + "x"
    assert referred_numbers(text) == figures(1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fig. 3a and Figure 4 (b)", figures(3, 4)),
        ("Table 2 and Figure 5", {Numbered("table", 2), Numbered("figure", 5)}),
        ("表2和图5", {Numbered("table", 2), Numbered("figure", 5)}),
        ("Figures 1, 2, and 4", figures(1, 2, 4)),
        ("Figure 12 shows 3 springs of 4 cm", figures(12)),
        ("configure 3 springs", set()),
        ("a figure of 2.5 kg", set()),
    ],
)
def test_what_counts_as_a_number_of_a_figure(text: str, expected: set[Numbered]) -> None:
    assert referred_numbers(text) == expected


def test_what_follows_a_singular_may_count_other_things() -> None:
    assert referred_numbers("In Figure 1, 3 springs hang", sure=True) == figures(1)
    assert referred_numbers("Figures 1, 3 and 4–6 show", sure=True) == figures(1, 3, 4, 5, 6)
    assert referred_numbers("In Figure 1 a 3 kg block rests") == figures(1)
    assert referred_numbers("如图1、2所示", sure=True) == figures(1, 2)


@pytest.mark.parametrize(
    ("caption", "number"),
    [
        ("Figure 3: The speed.", 3),
        ("**Fig. 12** Force", 12),
        ("Figura 4. El circuito", 4),
        ("图2 电路", 2),
        ("Tabelle 2: Werte", 2),
        ("The speed of Figure 3", None),
        (None, None),
    ],
)
def test_printed_number(caption: str | None, number: int | None) -> None:
    found = printed_number(caption)
    assert (found and found.number) == number


def test_pictures_together() -> None:
    assert refers_to_all("Use both graphs to find $v$.")
    assert refers_to_all("Observe las dos figuras.")
    assert not refers_to_all("Figure 1 shows the graph of $v$.")
    assert not refers_to_pictures("Give three significant figures.")
