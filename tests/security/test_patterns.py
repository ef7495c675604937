"""Labels, units and answers are data: none becomes a pattern, and none takes long to read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.security.hostile import bounded

from omibench.answers.extraction.cues import last_sentence_letters
from omibench.answers.extraction.letters import list_labels, read_letters
from omibench.answers.scorers.emma import fast_extract
from omibench.answers.scorers.registry import SCORERS, score_item
from omibench.schemas.problem import Choice
from omibench.schemas.verdict import ScoredItem
from omibench.stages.ocr.structure.keys import read_words_behind_letter

CPU_S = 1.0
"""Far above the hundredth of a second that each of these takes, far below what they took."""
MARKS = r"A]|)+(?:[B^-Z\.*{}$,&"
"""Labels that are regular expressions where they are not escaped."""


def labelled(labels: str) -> list[Choice]:
    return [Choice(label=label, text=f"{i} m") for i, label in enumerate(labels)]


def item(prediction: str, labels: str = "", gold: str = "A") -> ScoredItem:
    return ScoredItem(
        id="p-1", prediction=prediction, gold=[gold], answer_type="mcq" if labels else "open",
        choices=labelled(labels) or None,
    )  # fmt: skip


def test_labels_that_spell_a_nested_repetition_are_no_pattern() -> None:
    with bounded(CPU_S):
        for letters in ("A" * 28, "A" * 2_000):
            verdict = score_item(item(f"\\boxed{{{letters}!}}", "A]+)+(?:"), "robust")
            assert verdict.outcome == "unparsed"


def test_labels_that_are_brackets_are_read_in_one_way() -> None:
    with bounded(CPU_S):
        assert read_letters("()," * 40 + "!", labelled("A()")) == ("(", "letter and text")


@pytest.mark.parametrize("labels", ["AB\\", "Z-A", "A]", "[^A", "A^-", ")(", "A|"])
def test_a_label_stands_for_itself_alone(labels: str) -> None:
    choices = labelled(labels)
    assert read_letters("\\boxed{A}", choices) == (("A", "letter") if "A" in labels else None)
    assert read_letters("M, Q", choices) is None
    for label in labels:
        read = read_letters(label, choices)
        assert read is None or read[0] == label


@pytest.mark.parametrize("rules", SCORERS)
@given(
    labels=st.text(st.sampled_from(MARKS), min_size=1, max_size=12),
    text=st.text(st.sampled_from(MARKS + " .\nA,BIis choose"), max_size=60),
    times=st.sampled_from([1, 40]),
)
@settings(max_examples=15)
def test_any_label_beside_any_text_has_a_verdict_soon(
    rules: str, labels: str, text: str, times: int
) -> None:
    with bounded(CPU_S):
        assert score_item(item(f"So I choose {text * times}.", labels), rules).rules == rules
        last_sentence_letters(f"So the correct option is {text * times}.", labels)


@given(labels=st.text(st.sampled_from(MARKS), min_size=1, max_size=8))
@settings(max_examples=50)
def test_any_label_beside_a_key_with_words(labels: str) -> None:
    with bounded(CPU_S):
        read_words_behind_letter(
            ["A. Because the wall becomes larger in size."], labelled("A" + labels)
        )


@pytest.mark.parametrize("command", [r"\bf{", r"\text {", r"\text{(", r"\mathrm{\text{"])
@pytest.mark.parametrize("labels", ["ABCD", ""])
def test_a_nested_command_costs_no_square(command: str, labels: str) -> None:
    """8,000 levels took 5.7 s of CPU."""
    text = command * 8_000 + "B" + "}" * (8_000 * command.count("{"))
    with bounded(CPU_S):
        score_item(item(f"\\boxed{{{text}}}", labels, gold="B"), "robust")
    shallow = command * 9 + "B" + "}" * (9 * command.count("{"))
    if labels and "(" not in command:
        verdict = score_item(item(f"\\boxed{{{shallow}}}", labels, gold="B"), "robust")
        assert verdict.verdict == 1


def test_texts_that_are_never_closed_on_their_line_cost_emma_no_square() -> None:
    """A quarter of this took a minute."""
    text = "\\boxed{" + "\\text{" * 40_000 + "\n" + "}" * 40_000 + "}"
    with bounded(CPU_S):
        assert fast_extract(text)[1] == "box"
    assert fast_extract("\\boxed{\\text{a\n\\text{b} c} \\text{d}}") == ("d", "box text")


def test_labels_are_still_the_first_letter_of_each() -> None:
    assert list_labels(labelled("ab")) == "AB"
