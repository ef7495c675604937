from __future__ import annotations

from tests.items import choices_of

from omibench.answers.extraction.letters import list_labels, option_with_text, read_letters
from omibench.schemas.problem import Choice


def test_labels_default_to_a_to_j() -> None:
    assert list_labels(None) == "ABCDEFGHIJ"
    assert list_labels(choices_of(["x", "y"])) == "AB"


def test_dress_of_a_letter_is_taken_off() -> None:
    choices = choices_of(["one", "two", "three"])
    for text in (
        "b",
        "(B)",
        "**B**",
        r"\text{B}",
        r"$\mathbf{B}$",
        "Option B",
        "B.",
        r"\text{(B)}",
    ):
        assert read_letters(text, choices) == ("B", "letter"), text


def test_letters_out_of_range_and_words_are_none() -> None:
    choices = choices_of(["one", "two"])
    for text in ("C", "Z", "A simple guess", "8", "", "none", "A or else"):
        assert read_letters(text, choices) is None, text


def test_the_text_of_two_options_decides_nothing() -> None:
    assert option_with_text("5 m", choices_of(["5 m", "5 m", "6 m"])) is None
    assert option_with_text("5 m", choices_of(["5 m", "6 m"])) == "A"


def test_a_text_in_another_notation_is_read_by_its_value() -> None:
    choices = choices_of(["+12 $\\mu$C", "+24 $\\mu$C", "+48 $\\mu$C", "0"])
    assert read_letters(r"48 \, \mu\text{C}", choices) == ("C", "option text")
    assert read_letters("48000 nC", choices) == ("C", "option text")
    assert read_letters("48 mC", choices) is None


def test_picture_options_are_named_by_letter_only() -> None:
    pictures = [Choice(label=x, image=i) for i, x in enumerate("ABC")]
    assert read_letters("C", pictures) == ("C", "letter")
    assert read_letters("[IMAGE2]", pictures) is None


def test_a_repeated_letter_is_no_set() -> None:
    assert read_letters("A, A", choices_of(["1", "2"])) is None
