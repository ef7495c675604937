"""Answers in words: what may differ between two sentences that say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.items import make_item

from omibench.answers.prose import same_words
from omibench.answers.scorers.robust import score

LONG = (
    "The {} seedlings on the southern slope of the old volcano kept growing through the whole"
    " observed period because their roots reached the mineral water far beneath the grey rock"
)
PAIRS = [
    ("perpendicular", "parallel"), ("dominant", "recessive"), ("homozygous", "heterozygous"),
    ("maternal", "paternal"), ("wet", "dry"), ("acidic", "alkaline"), ("red", "blue"),
    ("slower", "faster"), ("shorter", "longer"), ("earlier", "later"), ("male", "female"),
    ("symmetric", "asymmetric"), ("intracellular", "extracellular"), ("hypotonic", "hypertonic"),
    ("oxidizing", "oxidized"), ("endothermic", "exothermic"),
]  # fmt: skip


@pytest.mark.parametrize(("word", "other"), PAIRS)
def test_no_word_of_a_long_sentence_stands_for_another(word: str, other: str) -> None:
    gold, pred = LONG.format(word), LONG.format(other)
    assert score(make_item(rf"\boxed{{{pred}}}", gold)).verdict == 0
    assert score(make_item(rf"\boxed{{{gold}}}", gold)).verdict == 1
    assert not same_words(f"{gold} and {gold}", f"{gold} and {pred}")


def test_no_word_changes_places_with_another() -> None:
    gold = LONG.format("red") + ", unlike the blue ones near the coast"
    assert not same_words(
        gold, gold.replace("blue", "-").replace("red", "blue").replace("-", "red")
    )


@given(st.sampled_from(PAIRS), st.integers(0, 25))
def test_a_word_may_be_missing_or_be_added(pair: tuple[str, str], place: int) -> None:
    words = LONG.format(pair[0]).split()
    fewer = " ".join(words[:place] + words[place + 1 :])
    assert same_words(" ".join(words), fewer)
    assert same_words(fewer, " ".join(words))


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [
        (LONG.format("green"), LONG.format("green").replace("reached", "reaches"), True),
        (LONG.format("green"), LONG.format("green").replace("period", "periods"), True),
        ("物体向上做匀减速运动然后停止", "物体向上做匀加速运动然后停止", False),
        ("物体向上做匀减速运动然后停止", "物体不向上做匀减速运动然后停止", False),
    ],
)  # fmt: skip
def test_forms_of_a_word_and_chinese(gold: str, pred: str, equal: bool) -> None:
    assert same_words(gold, pred) is equal


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [("from A to B", "from B to A", False), ("from A to B", "From A to B.", True),
     ("A decrease in pH", "a decrease in pH", True), ("a simple pulley", "A simple pulley", True)],
)  # fmt: skip
def test_the_label_a_is_no_article(gold: str, pred: str, equal: bool) -> None:
    assert same_words(gold, pred) is equal
