"""Numbers and words by which statements refer to figures, in ten languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.filter.statement import (
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
    "cs": ("na obrázku {}", "na obrázcích {}", "{} a {}", "{} až {}"),
    "cs.": ("viz obr. {}", "viz obr. {}", "{} a {}", "{} až {}"),
    "pl": ("na rysunku {}", "na rysunkach {}", "{} i {}", "{} do {}"),
    "pl.": ("(rys. {})", "rys. {}", "{} oraz {}", "{}-{}"),
    "ru": ("на рисунке {}", "на рисунках {}", "{} и {}", "{} по {}"),
    "ru.": ("см. рис. {}", "на рис. {}", "{} или {}", "{}–{}"),
    "ja": ("図{}に示す", "図{}", "{}と図{}", "{}から図{}"),
    "ja.": ("第{}図の", "図{}", "{}および{}", "{}～{}"),
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
        ("obr. č. 3, rys. nr 4, рис. № 5", figures(3, 4, 5)),
        ("v tabulce 2 a v grafu 3", {Numbered("table", 2), Numbered("figure", 3)}),
        ("в таблице 2 и на графике 3", {Numbered("table", 2), Numbered("figure", 3)}),
        ("w tabeli 2 i na wykresie 3", {Numbered("table", 2), Numbered("figure", 3)}),
        ("рис. 3а и рис. 4 (б)", figures(3, 4)),
        ("図１と表２", {Numbered("figure", 1), Numbered("table", 2)}),
        ("in Figure 1 a 3 kg block slides", figures(1)),
        ("na Figura 2 do 3º caderno", figures(2)),
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


@pytest.mark.parametrize(
    "text",
    [
        "Na obrázku je znázorněn obvod.", "Graf ukazuje rychlost vozíku.", "Viz obr. 2.",
        "Na rysunku przedstawiono tor kulki.", "Wykres pokazuje prędkość.", "Patrz rys. 2.",
        "На рисунке показан график скорости.", "Схема изображена ниже.", "См. рис. 2.",
        "図に示すように、球が転がる。", "下図の回路を考える。", "右のグラフは速度を表す。",
    ],
)  # fmt: skip
def test_words_that_point_at_a_picture(text: str) -> None:
    assert refers_to_pictures(text)


@pytest.mark.parametrize(
    "text",
    [
        "Grafit má hustotu 2 g/cm3.", "Jak velká je síla?", "Grafit przewodzi prąd.",
        "Показания вольтметра равны 5 В.", "Шар катится по плоскости.", "球の表面を求めよ。",
        "この値を v と表す。",
    ],
)  # fmt: skip
def test_words_that_point_at_none(text: str) -> None:
    assert not refers_to_pictures(text)


@pytest.mark.parametrize(
    "text",
    [
        "Oba grafy ukazují pohyb.", "Na obrázcích je obvod.", "Na obu rysunkach widać tor.",
        "На обоих рисунках показан путь.", "На рисунках показан путь.", "これらの図を見よ。",
    ],
)  # fmt: skip
def test_words_that_point_at_all_pictures(text: str) -> None:
    assert refers_to_all(text)
    assert not refers_to_all("На рисунке 2 и na rysunkach 1, v obrázcích 3")
