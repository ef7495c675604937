"""What a benchmark lacks is one clear line; what it has too much of is no error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.settings.problems import EXAMPLES, PROBLEMS
from tests.settings.test_present import questions

from omibench.errors import ParamsError
from omibench.params.setting import Setting
from omibench.schemas.problem import Question
from omibench.schemas.request import Response
from omibench.settings.present import ablate, asked_questions, check_needs, remark
from omibench.settings.steps import Task, next_step

BARE = [Question(id="bare", question="Why?")]
WITH_PICTURES = [question for question in PROBLEMS if question.images]


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ({"without": ["choices"]}, "without: [choices]: no problem of this benchmark has choices"),
        (
            {"without": ["question"]},
            "without: [question]: 1 of 1 problems have neither choices nor remaining pictures; "
            "the first is bare",
        ),
        ({"perception": "I"}, "perception: I: 1 of 1 problems have no picture; the first is bare"),
        ({"perception": "I+QG+DG"}, "perception: I+QG+DG: 1 of 1 problems have no picture"),
        (
            {"examples": {"k": 5}},
            "bare: 5 examples are needed, but only 4 can be shown before it; freeze more of them "
            "(freeze.examples.set_aside)",
        ),
    ],
)
def test_what_is_lacking_is_one_line(block: dict[str, Any], told: str) -> None:
    with pytest.raises(ParamsError) as error:
        check_needs("mine", Setting.model_validate(block), BARE, EXAMPLES)
    assert str(error.value).startswith("settings.mine: ")
    assert told in str(error.value)


def test_a_benchmark_without_descriptions_is_told_and_one_with_some_is_remarked_on() -> None:
    setting = Setting.model_validate({"perception": "I+QG+DG"})
    figures = [PROBLEMS[4].images[0].model_copy(update={"caption": None})]
    bare = PROBLEMS[4].model_copy(update={"id": "plain", "images": figures})
    with pytest.raises(ParamsError, match="no picture of this benchmark has a description"):
        check_needs("dg", setting, [bare])
    check_needs("dg", setting, [bare, *WITH_PICTURES])
    told = remark("dg", setting, [bare, *WITH_PICTURES])
    assert told
    assert "1 of 6 problems have no description" in told
    assert told.endswith("the first is plain")
    assert remark("dg", setting, WITH_PICTURES) is None
    assert remark("cot", Setting(), [bare]) is None


def test_problems_set_aside_are_not_asked_by_settings_that_may_show_them() -> None:
    pool = [*PROBLEMS, *(example.question for example in EXAMPLES)]
    sampled = Setting.model_validate({"examples": {"k": 0}})
    window = Setting.model_validate({"examples": {"k": 1, "take": "window"}})
    assert len(asked_questions(pool, sampled, EXAMPLES)) == len(pool) - 4
    assert len(asked_questions(pool, window, EXAMPLES)) == len(pool)
    assert len(asked_questions(pool, Setting(), EXAMPLES)) == len(pool)


BLOCKS = st.fixed_dictionaries(
    {
        "prompt": st.sampled_from(["cot", "in-context", "emma-cot", "usnco-v", "mathreal"]),
        "images": st.sampled_from(["all", "first", {"show": "first", "k": 9}, "none", "shuffled"]),
        "without": st.lists(st.sampled_from(["question", "choices"]), unique=True),
    },
    optional={"examples": st.sampled_from([{"k": 0}, {"k": 2, "images": "all"}])},
)


@given(BLOCKS, questions())
def test_settings_that_need_less_than_they_are_given_never_fail(
    block: dict[str, Any], question: Question
) -> None:
    setting = Setting.model_validate(block)
    if lacks(question, setting):
        with pytest.raises(ParamsError, match=r"choices|\[question\]"):
            check_needs("any", setting, [question], EXAMPLES)
        return
    check_needs("any", setting, [question], EXAMPLES)
    task = Task(question, setting, Path("data"), EXAMPLES)
    ((ask,), again) = (next_step(task) for _ in range(2))
    assert again == (ask,)
    assert ask.conversation.messages[-1].parts
    assert next_step(task, [[Response(text="4")]]) == ()


def lacks(question: Question, setting: Setting) -> bool:
    """Whether a question has no choices to leave out, or would have nothing left."""
    if "choices" in setting.without and not question.choices:
        return True
    if "question" not in setting.without:
        return False
    seen = ablate(question, setting.without)
    return not seen.choices and (not seen.images or setting.images.show == "none")


def test_where_says_which_problems_are_asked() -> None:
    pool = [
        Question(id=f"{subject}-{language}", question="Why?", subject=subject, language=language)
        for subject in ("physics", "mathematics")
        for language in ("en", "de")
    ]
    mathematics = Setting.model_validate({"where": {"subject": "mathematics"}})
    assert [q.id for q in asked_questions(pool, mathematics, [])] == [
        "mathematics-en", "mathematics-de",
    ]  # fmt: skip
    both = Setting.model_validate({"where": {"subject": ["mathematics", "physics"],
                                             "language": "de"}})  # fmt: skip
    assert [q.id for q in asked_questions(pool, both, [])] == ["physics-de", "mathematics-de"]
    biology = Setting.model_validate({"where": {"subject": "biology", "language": ["de", "en"]}})
    with pytest.raises(ParamsError) as error:
        check_needs("bio", biology, asked_questions(pool, biology, []))
    assert str(error.value) == (
        "settings.bio.where: no selected problem has subject: biology, language: de or en"
    )


def test_a_subject_that_does_not_exist_is_named_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"subject: 'maths' is not one of .*mathematics"):
        Setting.model_validate({"where": {"subject": "maths"}})
