"""Ablations take away what they name and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.settings.problems import PROBLEMS
from tests.settings.test_present import questions

from omibench.params.setting import Setting
from omibench.schemas.problem import IMAGE_MARK, Question
from omibench.settings.examples import ablate, wordless
from omibench.settings.present import PromptContext, present

BY_ID = {question.id: question for question in PROBLEMS}


def test_choices_go_with_the_pictures_that_stand_in_them_alone() -> None:
    left = ablate(BY_ID["mark-in-choice"], ["choices"])
    assert left.choices is None
    assert left.question.startswith("Water stands in [IMAGE0].")
    assert [figure.file for figure in left.images] == ["images/flask.png"]
    assert ablate(BY_ID["picture-choices"], ["choices"]).images == []


def test_words_go_and_pictures_stay() -> None:
    left = ablate(BY_ID["two-marked"], ["question"])
    assert left.question == "[IMAGE0]\n[IMAGE1]"
    assert left.choices == BY_ID["two-marked"].choices
    assert len(left.images) == 2


def test_what_a_question_lacks_is_not_taken_from_it() -> None:
    for question in PROBLEMS:
        if not question.choices:
            assert ablate(question, ["choices"]) == question
        assert ablate(question, []) == question


def test_the_answer_is_asked_for_as_before() -> None:
    setting = Setting(prompt="emma-direct", without=["choices"])
    letter = "Answer with the option's letter"
    question = BY_ID["two-marked"]
    left = ablate(question, setting.without)
    text = present(left, setting, context=PromptContext(lettered=True)).text
    assert letter in text
    assert "(A)" not in text


@given(questions(), st.lists(st.sampled_from(["question", "choices"]), unique=True))
def test_the_pictures_that_are_left_are_those_that_were_meant(
    question: Question, without: list[str]
) -> None:
    left = ablate(question, without)  # type: ignore[arg-type]
    met = [question.images[int(m)].sha256 for m in IMAGE_MARK.findall(question.question)]
    assert [left.images[int(m)].sha256 for m in IMAGE_MARK.findall(left.question)] == met
    in_choices = {*question.image_order()} - {int(m) for m in IMAGE_MARK.findall(question.question)}
    gone = in_choices if "choices" in without and question.choices else set()
    kept = [f.sha256 for i, f in enumerate(question.images) if i not in gone]
    assert [figure.sha256 for figure in left.images] == kept
    if "question" in without:
        assert not IMAGE_MARK.sub("", left.question).strip()
        assert wordless(left) == left
