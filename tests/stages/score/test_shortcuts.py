"""What is quick gives what the patterns alone would give."""

from __future__ import annotations

import re
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.items import choices_of

from omibench.answers.extraction import cues, letters
from omibench.answers.extraction.extract import extract_answer
from omibench.answers.extraction.letters import LabelPatterns, read_letters
from omibench.answers.formulas import latex
from omibench.answers.formulas.latex import tidy
from omibench.text.boxes import find_boxes
from omibench.text.visible import drop_hidden_text

WORDS = (
    "answer", "The", "final", "correct", "Correct", "best", "option", "is", ":", "B", "A", "\n",
    "**", "#", "###", " ", "  ", "答案", "最终", "是", "选", "所以", "我", "正确", "的", "选项",
    "Ответ", "result", "####", "5", ".", "because", "réponse", "est", "la", ">", "_", "İ", "-",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=14).map("".join)


@given(text=TEXTS, before=st.sampled_from(["", "x " * 320]))
@example(text="\n\n**Correct: B", before="")
@example(text="### The final answer\nB", before="")
@settings(max_examples=300)
def test_the_last_cue_is_the_one_that_a_scan_finds(text: str, before: str) -> None:
    whole = before + text
    scanned = None
    for start in sorted({0, max(0, len(whole) - 600)}, reverse=True):
        ends = [match.end() for match in cues._CUES.finditer(whole, start)]
        if ends:
            scanned = ends[-1]
            break
    assert cues.find_cue_end(whole) == scanned


@given(st.text(st.sampled_from("ab1 .,;:()+-=<>!?'\"%|[]\n\t"), max_size=30))
def test_a_text_without_marks_is_only_trimmed(text: str) -> None:
    plain = re.sub(r"\s+", " ", latex._plain_latex(text)).strip()
    rest = plain if plain.endswith("...") else re.sub(r"[.,;:]+$", "", plain).strip()
    assert tidy(text) == rest


@pytest.mark.parametrize("labels", ["ABCD", "AC", "ABCDEFGHIJ"])
@given(text=st.text(st.sampled_from("ABCDF ,&()[]:.-and or"), max_size=12))
@example(text="For,A")
@example(text="For A")
@settings(max_examples=200)
def test_patterns_of_all_capitals_and_of_some_name_the_same(labels: str, text: str) -> None:
    choices = [c for c in choices_of(["m"] * 10) if c.label in labels]
    read = read_letters(text, choices)
    with patch.object(letters, "positional", LabelPatterns):
        assert read_letters(text, choices) == read


@given(st.text(st.sampled_from("a\uff21\u3000\uff5e\u200b\r\n<think>/\u2212"), max_size=20))
def test_full_width_characters_are_found_in_any_text(text: str) -> None:
    seen = drop_hidden_text(text)
    assert not re.search("[\uff01-\uff5e\u3000\u200b\r]", seen)


def test_a_box_is_found_behind_the_word_box() -> None:
    assert find_boxes("the box {a \\boxed{5} } fbox{6}").closed == ["5", "6"]
    assert find_boxes("{{{ \\boxed{5} }").closed == ["5"]
    assert extract_answer("In the box are\n\n\\fbox{7}", "open").answer == "7"
