"""In-context examples: which are shown, in which form, and never a sibling."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.settings.problems import EXAMPLES, PROBLEMS
from tests.settings.test_present import questions

from omibench.errors import ParamsError
from omibench.params.presentation import Examples
from omibench.params.setting import Setting
from omibench.schemas.problem import IMAGE_MARK, Example, Figure, Question, are_siblings
from omibench.schemas.request import Conversation
from omibench.settings.examples import choose_examples, reply, show_examples
from omibench.settings.present import present

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


@pytest.mark.parametrize("images", ["none", "one", "all"])
def test_the_draw_is_the_same_whatever_is_shown_of_it(images: str) -> None:
    wanted = Examples.model_validate({"k": 3, "images": images})
    assert ids(choose_examples(QUESTION, EXAMPLES, wanted)) == ids(
        choose_examples(QUESTION, EXAMPLES, Examples(k=3))
    )
    assert choose_examples(QUESTION, EXAMPLES, wanted, sample=4) == choose_examples(
        QUESTION, EXAMPLES, wanted
    )


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


def test_examples_stand_in_the_message_where_the_prompt_has_a_place_for_them() -> None:
    conversation = asked({"k": 2})
    assert [m.role for m in conversation.messages] == ["user"]
    assert conversation.text.index("[EXAMPLE 2]") < conversation.text.index("[REQUEST]")
    assert len(conversation.images) == 2, "those of the question alone"


def test_examples_are_earlier_turns_of_other_prompts() -> None:
    conversation = asked({"k": 2, "reply": "answer", "images": "all"}, "usnco-v")
    roles = [m.role for m in conversation.messages]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert len(conversation.images) == 4


def test_a_solution_ends_in_the_answer_as_it_is_asked_for() -> None:
    example = EXAMPLES[1]
    assert reply(example, Examples(), boxed=True).endswith("\n\nFinal answer: \\boxed{B}")
    assert reply(example, Examples(reply="answer"), boxed=False) == "B"
    boxed = example.model_copy(update={"solution": "So \\boxed{B}."})
    assert reply(boxed, Examples(), boxed=True) == "So \\boxed{B}."
    unsolved = example.model_copy(update={"solution": None})
    assert reply(unsolved, Examples(), boxed=True) == "\\boxed{B}"


def test_pictures_that_are_not_shown_are_still_referred_to() -> None:
    assert "what shows [IMAGE0]?" in asked({"k": 1}).text
    assert "[IMAGE0]" not in asked({"k": 1, "images": "one"}).text
    assert Path(asked({"k": 1, "images": "one"}).images[0].path).name.startswith("example-")


@given(st.lists(questions(), max_size=3), questions(), st.sampled_from(["none", "one", "all"]))
def test_pictures_come_in_the_order_of_examples_and_then_of_the_question(
    solved: list[Question], question: Question, images: str
) -> None:
    rows = [Example(take="sampled", question=q, answer=["1"]) for q in solved]
    block = {"examples": {"k": len(rows), "images": images}}
    for prompt in ("in-context", "usnco-v"):
        setting = Setting.model_validate({"prompt": prompt, **block})
        context = show_examples(rows, setting, "")
        conversation = present(question, setting, context=context)
        sent = [picture.sha256 for picture in conversation.images]
        meant = [sha for q in solved for sha in _shown(q, images)] + _shown(question, "all")
        assert sent == meant


def _shown(question: Question, images: str) -> list[str]:
    """What is sent of a question's pictures: as often as they are marked, then those unmarked."""
    marked = [int(m) for m in IMAGE_MARK.findall(question.question)]
    pictured = [c.image for c in question.choices or [] if c.image is not None]
    loose = [i for i in range(len(question.images)) if i not in {*marked, *pictured}]
    met = question.image_order()
    order = [*met, *(i for i in range(len(question.images)) if i not in met)]
    kept = {"none": [], "one": order[:1], "all": order}[images]
    return [question.images[i].sha256 for i in [*marked, *loose, *pictured] if i in kept]
