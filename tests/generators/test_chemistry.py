"""Keys of chemistry problems, found again without RDKit."""

from __future__ import annotations

import re

import pytest

from generators.conftest import Make
from generators.molecules import are_same, count, formula, react, read_molecule
from omibench.datasets.generators.make import MadeProblem
from omibench.datasets.generators.registry import Drawing

pytest.importorskip("rdkit")
DIFFICULTIES = pytest.mark.parametrize(
    "difficulty",
    [
        1,
        3,
        pytest.param(5, marks=pytest.mark.slow),
        *(pytest.param(between, marks=pytest.mark.long) for between in (2, 4)),
    ],
)


def shown(problem: MadeProblem) -> list[str]:
    """The molecules of the statement, in the order of the pictures."""
    return [drawing.values[0] for drawing in problem.draft.pictures]


def split_choices(problem: MadeProblem) -> tuple[str, list[str]]:
    """The right choice and the wrong ones, each as SMILES."""
    texts = {
        choice.label: choice.text or problem.pictures[choice.image or 0].values[0]
        for choice in problem.choices or []
    }
    right = texts.pop(problem.answer[0])
    return right, [*texts.values()]


@DIFFICULTIES
@pytest.mark.parametrize("template", ["bonds", "atoms"])
def test_counts(make: Make, template: str, difficulty: int) -> None:
    for problem in make("chemistry", template, 60, difficulty=difficulty):
        asked = re.search(r"How many (.+) do all of them", problem.draft.question)
        assert asked
        counts = [count(read_molecule(smiles), asked[1]) for smiles in shown(problem)]
        assert len(counts) == difficulty + 1
        assert problem.answer == [str(sum(counts))]
        assert sum(number > 0 for number in counts) > 1, "one picture would be enough"


@DIFFICULTIES
def test_structures(make: Make, difficulty: int) -> None:
    for problem in make("chemistry", "structure", 40, difficulty=difficulty):
        right, wrong = split_choices(problem)
        molecules = [read_molecule(smiles) for smiles in shown(problem)]
        assert all(map(are_same, molecules, map(read_molecule, right.split("; "))))
        for choice in wrong:
            others = [read_molecule(smiles) for smiles in choice.split("; ")]
            pairs = [(a, b) for a, b in zip(molecules, others, strict=True) if not are_same(a, b)]
            assert 1 <= len(pairs) <= 2
            for a, b in pairs:
                is_isomer = formula(a) == formula(b)
                assert is_isomer or formula(a)[:-1] == formula(b)[:-1], "one bond is changed"


@DIFFICULTIES
@pytest.mark.parametrize("template", ["reaction", "reaction_pictures"])
def test_products(make: Make, template: str, difficulty: int) -> None:
    for problem in make("chemistry", template, 30, difficulty=difficulty):
        rule = re.search(r"with each other: (.+?)\. W", problem.draft.question)
        assert rule
        molecules = [read_molecule(smiles) for smiles in shown(problem)]
        assert len(molecules) == difficulty + 1
        products = [
            product
            for first in molecules
            for second in molecules
            if first is not second
            for product in react(first, second, rule[1])
        ]
        right, wrong = split_choices(problem)
        assert products
        assert all(are_same(product, read_molecule(right)) for product in products)
        assert not any(are_same(products[0], read_molecule(smiles)) for smiles in wrong)


def test_choices_of_reactions_can_be_pictures(make: Make) -> None:
    problem = make("chemistry", "reaction_pictures", 1)[0]
    assert all(isinstance(choice, Drawing) for choice in problem.draft.wrong)
    assert [choice.image for choice in problem.choices or []] == [4, 5, 6, 7]


def test_a_picture_does_not_name_its_molecule(make: Make) -> None:
    data = make("chemistry", "bonds", 1)[0].pictures[0].draw()
    assert data.startswith(b"\x89PNG")
    assert b"tEXt" not in data
    assert b"zTXt" not in data
