"""Simulated judges read the fences as a judge would and err at their set rates."""

from __future__ import annotations

import json

from tests.models.conftest import Make, reply

from omibench.answers.judges.scales import LabelScale, NumberScale
from omibench.models.simulated.roles import MARKS
from omibench.schemas.request import Role
from omibench.text.fences import Section, fence_sections

RIGHT, WRONG = "One. Two. Three. Four. So \\boxed{B}.", "So it is \\boxed{C}."
TYPES = "- logical: a\n- other: b\n- no_error: c"
DRAWS = 600


def say(
    make: Make, role: Role, text: str, index: int = 0, problem: str = "mcq", **rates: float
) -> str:
    name = "MODEL ANSWER" if role == "grader" else "RESPONSE"
    sections = [Section("QUESTION", "- not_a_type: x"), Section(name, text)]
    prompt = f"Instructions.\n{fence_sections(sections)}\n\n{TYPES}"
    return reply(make(**rates), role, problem, prompt, index)


def test_a_faultless_judge_of_each_kind(simulate: Make) -> None:
    assert say(simulate, "grader", "B") == "SCORE: 1/1"
    assert say(simulate, "grader", "C") == "SCORE: 0/1"
    assert say(simulate, "grader", "(a) 3 m; (b) TRUE", problem="parts") == "SCORE: 2/2"
    assert say(simulate, "grader", "(a) 3 m; (b) FALSE", problem="parts") == "SCORE: 1/2"
    assert say(simulate, "extractor", "Hence the correct answer is B.") == "EXTRACTED: B"
    assert say(simulate, "classifier", RIGHT) == "ERROR TYPE: no_error"
    assert say(simulate, "classifier", WRONG) in ("ERROR TYPE: logical", "ERROR TYPE: other")
    assert json.loads(say(simulate, "aligner", RIGHT))["score"] >= 4
    assert json.loads(say(simulate, "aligner", WRONG))["score"] <= 2
    marks = json.loads(say(simulate, "rater", RIGHT))
    assert tuple(marks) == MARKS
    assert min(marks.values()) >= 4
    assert max(json.loads(say(simulate, "rater", WRONG)).values()) <= 3


def test_an_assessor_gives_a_value_of_the_scale_that_ends_its_prompt(simulate: Make) -> None:
    for text, marks in ((RIGHT, {6, 7, 8}), (WRONG, {4, 5, 6})):
        prompt = f"{fence_sections([Section('RESPONSE', text)])}\n\n{NumberScale(4, 8).closing}"
        replies = {assess(simulate, prompt, index) for index in range(40)}
        assert replies <= {f"MARK: {mark}" for mark in marks}
        assert len(replies) > 1
    labels = LabelScale({"good": "a", "fair": "b", "bad": "c"})
    prompt = f"{fence_sections([Section('RESPONSE', RIGHT)])}\n\n{labels.closing}"
    assert assess(simulate, prompt) == "LABEL: good"
    flawed = {assess(simulate, prompt, index, error_rate=1.0) for index in range(40)}
    assert flawed == {"LABEL: good", "LABEL: fair", "LABEL: bad"}
    assert NumberScale(0, 9).read(assess(simulate, "End as you like.")) is None


def assess(make: Make, prompt: str, index: int = 0, **rates: float) -> str:
    return reply(make(**rates), "assessor", "mcq", prompt, index)


def test_a_flawed_classifier_names_any_type(simulate: Make) -> None:
    told = {say(simulate, "classifier", RIGHT, index=i, error_rate=1.0) for i in range(60)}
    assert told == {f"ERROR TYPE: {name}" for name in ("logical", "other", "no_error")}
