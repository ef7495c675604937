from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.items import choices_of

from omibench.answers.extraction.extract import extract_answer

FOUR = choices_of(["12 N", "24 N", "48 N", "0"])
LATEX = st.text(alphabet="\\{}boxed[]()answer is:ABCD,.;$ \n12^_*\x00<think>/", max_size=300)


@given(st.one_of(LATEX, st.text(max_size=300)), st.sampled_from(["mcq", "open"]), st.integers(1, 4))
@settings(max_examples=300)
def test_every_text_gives_an_answer_or_an_outcome(text: str, kind: str, parts: int) -> None:
    found = extract_answer(text, kind, FOUR if kind == "mcq" else None, parts)  # type: ignore[arg-type]
    assert (found.answer is None) == (found.outcome != "scored")
    if kind == "mcq" and found.answer:
        assert set(found.answer) <= set("ABCD")


@pytest.mark.parametrize(
    ("text", "letters", "way"),
    [
        (r"... so \boxed{B}", "B", "box: letter"),
        (r"\boxed{\text{C: } 48 N}", "C", "box: letter and text"),
        (r"\boxed{48\,\text{N}}", "C", "box: option text"),
        (r"\boxed{A, C}", "AC", "box: letters"),
        ("The answer is A. Wait, re-checking: the answer is C.", "C", "phrase: letter"),
        ("**Answer:** (D)", "D", "phrase: letter"),
        ("答案：Ｂ", "B", "phrase: letter"),
        ("La respuesta correcta es B.", "B", "phrase: letter"),
        ("B: because the block slides.", "B", "lead: letter"),
        ("(C)\n\nThe others contradict Figure 2.", "C", "lead: letter"),
        ('{"answer": "B"}', "B", "json: letter"),
        ('["A"]', "A", "json: letter"),
        ("All agree, so option (B) fits best.", "B", "conclusion: letter"),
        ("All agree, so options (B, D) fit best.", "BD", "conclusion: letters"),
        ("We compare the slopes.\n\n**D**", "D", "last line: letter"),
    ],
)
def test_ways_to_name_an_option(text: str, letters: str, way: str) -> None:
    assert extract_answer(text, "mcq", FOUR) == (letters, way, "scored")


@pytest.mark.parametrize(
    "text",
    [
        "A simple calculation shows that the force grows.",
        "Option A would need a larger force. Option B is drawn upside down.",
        "- **Option C**: does not match.\n- **Option D**: does not match either.",
        "It is either (B) or (C), and I would need the figure to tell.",
        r"None of them fits, so \boxed{9}",
        r"\boxed{} The answer is A.",
    ],
)
def test_no_option_is_guessed(text: str) -> None:
    found = extract_answer(text, "mcq", FOUR)
    assert found.answer is None
    assert found.outcome == "unparsed"


@pytest.mark.parametrize(
    ("text", "answer", "method"),
    [
        (r"\boxed{1} no wait \boxed{2} final: \boxed{3}", "3", "box"),
        ("... so the final answer is 12 cm.", "12 cm", "phrase"),
        ("The answer is 5, because the others fail.", "5", "phrase"),
        ("The answer is:\n\n$$x^2$$", "$$x^2$$", "phrase"),
        ("Thus the answer is 3.5 m. We are done.", "3.5 m", "phrase"),
        ("x = 7", "x = 7", "whole"),
        ("We add both readings.\nIt follows that nothing moves.\nF = 7 N", "F = 7 N", "last line"),
        ("Both readings are needed here.\n\n18 m/s", "18 m/s", "last line"),
        ('{"final_answer": 42}', "42", "json"),
        (r"so \boxed{\frac{1}{2}", r"\frac{1}{2}", "box"),
        (
            "| n | l |\n|---|---|\n| 1 | 2 |\n\nAs measured.",
            "| n | l |\n|---|---|\n| 1 | 2 |\n\nAs measured.",
            "whole",
        ),
        ("<answer>7 m</answer>", "7 m", "tag"),
        ("#### 42", "42", "phrase"),
        ("### Final Answer\n\n$$8$$", "$$8$$", "phrase"),
        ("We add both rows. Thus the number of ways is 12.", "12", "conclusion"),
        ("La risposta è 12,5.", "12,5", "phrase"),
        ("답은 7입니다.", "7", "phrase"),
    ],
)
def test_ways_to_state_an_open_answer(text: str, answer: str, method: str) -> None:
    assert extract_answer(text, "open") == (answer, method, "scored")


def test_boxes_are_joined_where_several_parts_are_asked_for() -> None:
    assert extract_answer(r"\boxed{9} and \boxed{13}", "open", parts=2).answer == "9; 13"
    assert extract_answer(r"\boxed{9} hence \boxed{9, 13}", "open", parts=2).answer == "9, 13"
    assert extract_answer(r"\boxed{7} hence \boxed{13}", "open").answer == "13"


@pytest.mark.parametrize(
    ("text", "finish_reason", "outcome"),
    [
        ("I'm sorry, but I can't assist with that.", "stop", "refused"),
        ("Comparing Figure 1 with Figure 2, the two sca", "length", "truncated"),
        ("Let me think again. " * 80, "stop", "loop"),
        ("Let me think again. " * 80, "length", "loop"),
        ("", "stop", "empty"),
        ("\x00\x00", None, "empty"),
        ("<think>I wonder", "length", "truncated"),
    ],
)
@pytest.mark.parametrize("kind", ["mcq", "open"])
def test_outcomes_of_responses_without_an_answer(
    text: str, finish_reason: str | None, outcome: str, kind: str
) -> None:
    found = extract_answer(text, kind, FOUR if kind == "mcq" else None, 1, finish_reason)  # type: ignore[arg-type]
    assert found.answer is None
    assert found.outcome == outcome


def test_an_answer_given_before_the_end_counts_although_the_response_was_cut() -> None:
    text = r"The result is \boxed{B}. To double-check, conside"
    assert extract_answer(text, "mcq", FOUR, 1, "length").answer == "B"


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("The slope grows. So B is the correct choice.", "B"), ("Therefore, I choose B.", "B"),
        ("Correct: D", "D"), ("速度变大，选B", "B"), ("所以选择 A 项。", "A"),
        ("因此，选项 C 是正确的。", "C"), ("B，因为速度变大。", "B"), ("Die Lösung ist A", "A"),
        ("Đáp án đúng là B", "B"), ("Respuesta: c)", "C"), ("Ответ: С", "C"), ("Ⓑ", "B"),
        ("𝐁", "B"), ("We therefore select option (D).", "D"), ("答案：𝐂", "C"),
    ],
)  # fmt: skip
def test_an_option_is_chosen_in_many_words(text: str, letters: str) -> None:
    assert extract_answer(text, "mcq", FOUR).answer == letters


@pytest.mark.parametrize(
    "text",
    [
        "If the mass doubled, B is the correct choice.", "I would not choose B.", "不选B",
        "选项B错误", "Nobody can tell whether B is right.", "A is right and B is right.",
        "Ответ: В", "We choose A or B.", "选项 C 是不正确的。", "I choose B over A.",
        "We choose a frame A, and point B is the best.", "A is the right triangle's area.",
    ],
)  # fmt: skip
def test_a_letter_that_is_not_chosen_is_none(text: str) -> None:
    assert extract_answer(text, "mcq", FOUR).answer is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        (r"\boxed{I, II, and III}", "B"), ("The statement is false.", "D"), ("I and II", "A"),
        ("The statement is not false.", None), (r"\boxed{I, III}", None),
    ],
)  # fmt: skip
def test_options_are_named_by_their_text(text: str, letter: str | None) -> None:
    choices = choices_of(["I and II", "I, II and III", "True", "False"])
    assert extract_answer(text, "mcq", choices).answer == letter
