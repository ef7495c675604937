"""Parts of OCR accuracy that are told by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.transcripts import (
    best_window,
    measure_rule_parts,
    number_agreement,
    similarity,
    simplify_text,
    structure_agreement,
    weighted_mean,
)

TEXTS = st.text(alphabet="ab1 2.3，。（)\n\t^$\\{}cm厘米①A", max_size=60)
MEASURES = (similarity, best_window, number_agreement, structure_agreement)


@given(TEXTS, TEXTS)
def test_every_part_lies_between_nothing_and_all(text: str, reference: str) -> None:
    for measure in MEASURES:
        assert 0 <= measure(text, reference) <= 1


@given(TEXTS)
def test_a_text_agrees_with_itself(text: str) -> None:
    for measure in MEASURES:
        assert measure(text, text) == 1


@given(TEXTS, TEXTS)
def test_agreement_of_numbers_and_structure_has_no_direction(one: str, other: str) -> None:
    assert number_agreement(one, other) == number_agreement(other, one)
    assert structure_agreement(one, other) == structure_agreement(other, one)


@given(TEXTS)
def test_a_bare_text_is_as_bare_as_it_gets(text: str) -> None:
    assert not set(simplify_text(text)) & set("\\${}^_ \n\t")


def test_width_punctuation_and_latex_cost_nothing() -> None:
    assert similarity("如图，圆的面积是（ ）。", "如图, 圆的面积是(  ).") == 1
    assert similarity(r"\(\text{v} = 3\)", "(V=3)") == 1
    assert similarity("v = 3", "v = 8") == pytest.approx(2 / 3)


def test_the_lexical_part_is_literal_and_the_normalized_one_is_beside_it() -> None:
    parts = measure_rule_parts("AB=10 cm, find x", "AB=10 cm. Find x")
    assert (parts.lexical, round(parts.normalized, 3)) == (0.875, 0.923)


def test_text_around_what_was_asked_costs_the_window_nothing() -> None:
    assert best_window("page 7 how long is it? 3.14 x 2", "how long is it?") == 1
    assert similarity("page 7 how long is it? 3.14 x 2", "how long is it?") < 0.7


@pytest.mark.parametrize(
    ("text", "reference", "share"),
    [
        ("5 cm and 7 kg", "7 kg, 5 cm", 1.0),
        ("5 cm and 7 kg", "5 m and 7 kg", 0.5),
        ("5 cm", "5 cm and 7 kg", 2 / 3),
        ("5 and 5", "5", 2 / 3),
        ("1,887,800 m²", "1887800 m^{2}", 1.0),
        ("no number", "none here", 1.0),
        ("3 厘米", "3 分米", 0.0),
        ("", "4", 0.0),
    ],
)
def test_numbers_agree_with_their_units(text: str, reference: str, share: float) -> None:
    assert number_agreement(text, reference) == pytest.approx(share)


def test_structure_is_paragraphs_items_and_rows() -> None:
    reference = "Read the table.\n\n(1) How long?\n(2) How wide?\n\na\tb\tc\n1\t2\t3"
    assert structure_agreement(reference, reference) == 1
    assert structure_agreement(reference.replace("\n", " "), reference) < 0.4


def test_the_mean_is_not_known_where_a_part_that_counts_is_not() -> None:
    assert weighted_mean((1.0, 0.5), (1, 3)) == pytest.approx(0.625)
    assert weighted_mean((1.0, None), (1, 1)) is None
    assert weighted_mean((1.0, None), (1, 0)) == 1
    assert weighted_mean((1.0,), (0,)) is None
