"""In-context examples: which are shown, in which form, and never a sibling."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.settings.problems import EXAMPLES, PROBLEMS

from omibench.errors import ParamsError
from omibench.params.presentation import Examples
from omibench.params.setting import Setting
from omibench.schemas.problem import Example, Figure, Question, are_siblings
from omibench.schemas.request import Conversation
from omibench.settings.present import choose_examples, present, reply, show_examples

QUESTION = PROBLEMS[0]


def ids(found: list[Example]) -> list[str]:
    return [example.id for example in found]


def asked(examples: dict[str, Any], prompt: str = "in-context") -> Conversation:
    setting = Setting.model_validate({"prompt": prompt, "examples": examples})
    assert setting.examples
    found = choose_examples(QUESTION, EXAMPLES, setting.examples)
    return present(QUESTION, setting, context=show_examples(found, setting, ""))


def test_a_smaller_k_is_the_beginning_of_a_larger() -> None:
    drawn = [ids(choose_examples(QUESTION, EXAMPLES, Examples(k=k))) for k in range(5)]
    assert [len(each) for each in drawn] == [0, 1, 2, 3, 4]
    assert all(large[: len(small)] == small for small, large in pairwise(drawn))


def test_questions_and_seeds_have_draws_of_their_own() -> None:
    drawn = {tuple(ids(choose_examples(q, EXAMPLES, Examples(k=4)))) for q in PROBLEMS}
    assert len(drawn) > 1
    seeds = {
        tuple(ids(choose_examples(QUESTION, EXAMPLES, Examples(k=4, seed=s)))) for s in range(9)
    }
    assert len(seeds) > 1


def test_a_window_slides_over_the_other_subset_run_by_run() -> None:
    wanted = Examples(k=2, take="window")
    runs = [ids(choose_examples(QUESTION, EXAMPLES, wanted, sample)) for sample in range(2)]
    assert QUESTION.subset == "local"
    assert runs == [["example-6", "example-7"], ["example-7", "example-8"]]
    with pytest.raises(
        ParamsError, match=r"two-marked: 4 examples are needed, but only 3 can be shown"
    ):
        choose_examples(QUESTION, EXAMPLES, wanted, sample=2)


GROUPS = st.sampled_from(["", "a", "b"])
PICTURES = st.lists(st.sampled_from("xyz"), max_size=2)


@given(GROUPS, PICTURES, st.lists(st.tuples(GROUPS, PICTURES), max_size=8), st.integers(0, 3))
def test_never_itself_nor_a_sibling(
    group: str, pictures: list[str], others: list[tuple[str, list[str]]], k: int
) -> None:
    question = _question("q", group, pictures)
    pool = [question, *(_question(f"e{n}", g, p) for n, (g, p) in enumerate(others))]
    rows = [Example(take="sampled", question=each, answer=["1"]) for each in pool]
    try:
        found = choose_examples(question, rows, Examples(k=k))
    except ParamsError:
        strangers = [row for row in rows if not are_siblings(question, row.question)]
        assert len(strangers) < k
        return
    assert len(set(ids(found))) == k
    for example in found:
        assert example.id != "q"
        assert not group or example.question.group != group
        assert not {f.file for f in example.question.images} & set(pictures)


def _question(name: str, group: str, pictures: list[str]) -> Question:
    figures = [Figure(file=picture, sha256="") for picture in pictures]
    return Question(id=name, question=name, images=figures, group=group)


def test_a_solution_ends_in_the_answer_as_it_is_asked_for() -> None:
    example = EXAMPLES[1]
    assert reply(example, Examples(), boxed=True).endswith("\n\nFinal answer: \\boxed{B}")
    assert reply(example, Examples(reply="answer"), boxed=False) == "B"
    boxed = example.model_copy(update={"solution": "So \\boxed{B}."})
    assert reply(boxed, Examples(), boxed=True) == "So \\boxed{B}."
    unsolved = example.model_copy(update={"solution": None})
    assert reply(unsolved, Examples(), boxed=True) == "\\boxed{B}"
