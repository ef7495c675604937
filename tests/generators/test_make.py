"""What holds for every generator: the same from one seed, other problems from another."""

from __future__ import annotations

from collections import Counter

import pytest

from generators.conftest import Make
from omibench.datasets.generators.make import make_problems
from omibench.datasets.generators.registry import GENERATORS, Draft, Generator
from omibench.errors import MissingExtraError, ParamsError
from omibench.extras import has_extra

TEMPLATES = [(name, template) for name in GENERATORS for template in GENERATORS.get(name).templates]


def need(name: str) -> None:
    extra = GENERATORS.get(name).extra
    if extra and not has_extra(extra):
        pytest.skip(f"needs the extra {extra}")


@pytest.mark.parametrize(("name", "template"), TEMPLATES)
@pytest.mark.parametrize("difficulty", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_seed_gives_the_same_problems(
    make: Make, name: str, template: str, difficulty: int
) -> None:
    need(name)
    few = make(name, template, 3, difficulty=difficulty)
    many = make(name, template, 6, difficulty=difficulty)
    assert few == many[:3]
    assert [p.draw() for p in few[0].pictures] == [p.draw() for p in many[0].pictures]
    others = make(name, template, 6, seed=2, difficulty=difficulty)
    assert not {p.draft.identity for p in many} & {p.draft.identity for p in others}


@pytest.mark.parametrize(("name", "template"), TEMPLATES)
def test_a_problem_is_whole(make: Make, name: str, template: str) -> None:
    need(name)
    for problem in make(name, template, 20):
        texts = [choice.text or choice.image for choice in problem.choices or []]
        assert len(set(texts)) == len(texts) != 1
        assert problem.answer[0] in ([c.label for c in problem.choices or []] or problem.answer)
        assert problem.draft.solution
        marks = problem.draft.question.count("[IMAGE")
        shown = sum(choice.image is not None for choice in problem.choices or [])
        assert marks + shown == len(problem.pictures) == len({*problem.pictures})


@pytest.mark.parametrize(("name", "template"), TEMPLATES)
def test_no_letter_is_right_more_often(make: Make, name: str, template: str) -> None:
    need(name)
    problems = make(name, template, 80)
    if problems[0].choices:
        counts = Counter(problem.answer[0] for problem in problems)
        assert len(counts) == 4
        assert max(counts.values()) < 40  # of 80, with four letters: beyond 4 standard deviations


def test_problems_that_are_taken_are_not_made_again(make: Make) -> None:
    taken = {problem.draft.identity for problem in make("circuit", "lamps", 5)}
    circuit = GENERATORS.get("circuit")
    again = make_problems(circuit, seed=1, counts={"lamps": 5}, difficulty=3, taken=taken)
    assert len({problem.draft.identity for problem in again} | taken) == 10 == len(taken)


def test_a_template_that_is_used_up_is_told() -> None:
    coin = Generator(
        "coin",
        lambda _, random, __: Draft(random.choice("HT"), [], "1"),
        1,
        ("toss",),
        "other",
        None,
    )
    problems = make_problems(coin, seed=1, counts={"toss": 3}, difficulty=2)
    with pytest.raises(ParamsError, match=r"counts\.toss: coin finds no 3th different problem"):
        list(problems)


def test_a_missing_extra_is_told(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    with pytest.raises(MissingExtraError, match=r"generator chemistry needs rdkit.*\[chemistry\]"):
        make("chemistry", "bonds", 1)
