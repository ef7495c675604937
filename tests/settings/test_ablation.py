"""Ablations take away what they name and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.settings.problems import PROBLEMS
from tests.settings.test_present import questions

from omibench.schemas.problem import IMAGE_MARK, Question
from omibench.settings.present import ablate, wordless

BY_ID = {question.id: question for question in PROBLEMS}


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
