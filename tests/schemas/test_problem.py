"""The row of a problem: what stands in its file, and what is left out."""

from __future__ import annotations

import json

from omibench.schemas.problem import DoubtfulFormula, Problem

PROBLEM = Problem(
    id="mock-1",
    question="Find $v$.",
    source="mock",
    source_sha256="0" * 64,
    number="1",
    pages=[3],
)
FORMULA = DoubtfulFormula(
    page=3,
    bbox=(72, 140, 210, 171),
    latex="v",
    file="formulas/mock/p003-1.png",
    sha256="1" * 64,
    doubts=["a glyph of font F1 is unknown"],
)


def test_a_problem_without_doubtful_formulas_has_the_row_that_it_always_had() -> None:
    assert "doubtful_formulas" not in json.loads(PROBLEM.model_dump_json())


def test_doubtful_formulas_go_through_the_file_and_are_none_of_its_images() -> None:
    problem = PROBLEM.model_copy(update={"doubtful_formulas": [FORMULA]})
    read = Problem.model_validate_json(problem.model_dump_json())
    assert read == problem
    assert read.images == []
    assert read.image_order() == []
