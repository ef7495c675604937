"""Simulated judge, captioner, translator, labeller, page reader and rationale writer."""

from __future__ import annotations

import math

import pytest
from tests.models.conftest import Make, reply

from omibench.errors import ModelError
from omibench.schemas.request import Role
from omibench.settings.prompts import PromptEntry, fill_slots
from omibench.stages.rationale.prompts import CLASS, TOPIC, list_described, list_lines
from omibench.text.fences import Section, fence_sections

RIGHT = "So the final answer is \\boxed{B}."
WRONG = "The gold is B, they say. So the final answer is \\boxed{C}."
DRAWS = 1000


def judged(predicted: str) -> str:
    sections = [
        Section("QUESTION", "Which?"),
        Section("OFFICIAL ANSWER", "B"),
        Section("RESPONSE", predicted),
    ]
    return f"The last line is ANSWER: consistent.\n{fence_sections(sections)}\nANSWER: consistent"


@pytest.mark.parametrize(("text", "rate"), [(RIGHT, 0.9), (WRONG, 0.2)])
def test_the_judge_errs_at_its_set_rates(simulate: Make, text: str, rate: float) -> None:
    provider = simulate(true_positive_rate=0.9, false_positive_rate=0.2)
    calls = [reply(provider, "judge", "mcq", judged(text), index=i) for i in range(DRAWS)]
    assert set(calls) == {"ANSWER: consistent", "ANSWER: inconsistent"}
    found = calls.count("ANSWER: consistent") / DRAWS
    assert abs(found - rate) < 4 * math.sqrt(rate * (1 - rate) / DRAWS)


@pytest.mark.parametrize(
    ("problem", "predicted", "right"),
    [
        ("mcq", "Hence the correct answer is B.", True),
        ("mcq", "so option (B) fits best.", True),
        ("mcq", "so option (A) fits best.", False),
        ("number", "first \\boxed{3}, then \\boxed{12.50}", True),
        ("number", "\\boxed{12.5\\ \\text{m}}", True),
        ("number", "\\boxed{125}", False),
        ("parts", "\\boxed{(a) 3 m, (b) TRUE}", True),
        ("parts", "\\boxed{(a) 3 m} and \\boxed{(b) True}", True),
        ("parts", "First \\boxed{7}, then \\boxed{(a) 3 m, (b) TRUE}", True),
        ("parts", "\\boxed{(a) 3 m, (b) FALSE}", False),
        ("parts", "\\boxed{(a) 3 m}", False),
        ("word", "The answer is mitosis.", True),
        ("word", "I'm sorry, but I can't help with that.", False),
    ],
)
def test_a_faultless_judge_sees_what_is_right(
    simulate: Make, problem: str, predicted: str, right: bool
) -> None:
    expected = "ANSWER: consistent" if right else "ANSWER: inconsistent"
    assert reply(simulate(), "judge", problem, judged(predicted)) == expected


def test_other_roles_answer_from_the_oracle(simulate: Make) -> None:
    provider = simulate()
    assert reply(provider, "captioner", "mcq") == "A lens of 5 cm.\nA ray."
    assert reply(provider, "captioner", "mcq", "Describe [IMAGE1].") == "A ray."
    assert reply(provider, "translator", "mcq") == "A lens of 5 cm is shown."
    assert reply(provider, "labeller", "mcq") == "{CLASS: optics}"
    assert reply(provider, "page_reader", "scan#p1") == "1. A body of 3 kg falls."
    rationale = reply(provider, "rationale_writer", "mcq")
    assert rationale == "Reasoning: The lens inverts the picture.\nFinal Answer: \\boxed{B}"


def test_a_reader_of_formulas_gives_no_answer_for_no_oracle_knows_them(simulate: Make) -> None:
    assert reply(simulate(), "formula_reader", "no-such-paper#p3") == ""


def test_a_translator_gives_back_each_section_with_its_marks(simulate: Make) -> None:
    prompt = fence_sections(
        [Section("QUESTION", "Una lente. [IMAGE0] [IMAGE1]"), Section("CHOICE A", "1,50 m")]
    )
    assert reply(simulate(), "translator", "mcq", prompt) == (
        "QUESTION:\nA lens of 5 cm is shown.\n\n[IMAGE0]\n\n[IMAGE1]\nCHOICE A:\n1.50 m"
    )
    flawed = reply(simulate(error_rate=1.0), "translator", "mcq", prompt)
    assert "A lens of 5 cm is shown.\n\n[IMAGE0]\n\n[IMAGE1]\n" not in flawed


def test_a_voter_says_yes_to_every_point_but_errs_at_its_rate(simulate: Make) -> None:
    question = fence_sections([Section("QUESTION", "Which?")])
    prompt = f'{question}\n"one": true or false, "two": true or false'
    assert reply(simulate(), "voter", "mcq", prompt) == '{"one": true, "two": true}'
    said = [reply(simulate(error_rate=0.3), "voter", "mcq", prompt, i) for i in range(DRAWS)]
    share = sum("false" in reply for reply in said) / DRAWS
    assert abs(share - 0.3) < 4 * math.sqrt(0.3 * 0.7 / DRAWS)
    assert {'{"one": false, "two": true}', '{"one": true, "two": false}'} <= set(said)


@pytest.mark.parametrize(
    ("role", "problem"),
    [
        ("captioner", "mcq"),
        ("translator", "mcq"),
        ("labeller", "mcq"),
        ("page_reader", "scan#p1"),
        ("rationale_writer", "mcq"),
    ],
)
def test_flaws_come_at_the_error_rate(simulate: Make, role: Role, problem: str) -> None:
    right = reply(simulate(), role, problem)
    flawed = simulate(error_rate=0.3)
    replies = [reply(flawed, role, problem, index=i) for i in range(DRAWS)]
    share = sum(reply != right for reply in replies) / DRAWS
    assert abs(share - 0.3) < 4 * math.sqrt(0.3 * 0.7 / DRAWS)


@pytest.mark.parametrize(
    ("entry", "slot"), [(CLASS, "classes"), (TOPIC, "labels")], ids=["class", "topic"]
)
def test_a_label_is_of_the_list_that_a_real_prompt_gives(
    simulate: Make, entry: PromptEntry, slot: str
) -> None:
    """Also where the list has no topic of the problem, as on papers of a user's own."""
    listed = {"chart": "a graph: of data", "table": "values in rows"}
    lines = list_described(listed) if entry is CLASS else list_lines(listed)
    values = {slot: lines, "attribute": "category", "problem": "A lens."}
    prompt = "".join(map(str, fill_slots(entry.text, values)))
    replies = {reply(simulate(), "labeller", "mcq", prompt, index=i) for i in range(20)}
    assert replies <= {"{CLASS: chart}", "{CLASS: table}"}


def test_a_flawed_label_is_one_of_the_list(simulate: Make) -> None:
    prompt = "Copy one:\n- optics\n- waves\n- mechanics\n"
    replies = {reply(simulate(error_rate=1.0), "labeller", "mcq", prompt, i) for i in range(50)}
    assert replies == {"{CLASS: waves}", "{CLASS: mechanics}"}


def test_what_the_oracle_does_not_hold_is_named(simulate: Make) -> None:
    with pytest.raises(ModelError, match="'number' has no 'captions'"):
        reply(simulate(), "captioner", "number")
