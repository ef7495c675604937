"""Examples stand in a file of their own, drawn once, with no simulated rationale among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.params.presentation import FreezeExamples
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Answer, Example, Problem, Question
from omibench.schemas.tables import FrozenManifest, read_jsonl
from omibench.stages.freeze.rows import SIMULATED, align_attributes, make_example_rows

# Examples stand in a file of their own, drawn once, with no simulated rationale among them.

Make = Callable[..., Problem]
Freeze = Callable[..., FrozenManifest]

QUESTIONS = [
    Question(id=f"q{n}", question=f"{n}?", subset="local" if n % 2 else "national")
    for n in range(10)
]
ANSWERS = [
    Answer(id=q.id, answer=["1"], answer_type="open", solution=f"Because {q.id}.")
    for q in QUESTIONS
]


def ids(rows: list[Example]) -> list[str]:
    return [row.id for row in rows]


def test_a_draw_is_its_seeds_and_a_larger_one_begins_with_a_smaller() -> None:
    draw = ids(make_example_rows(QUESTIONS, ANSWERS, FreezeExamples(set_aside=4)))
    assert draw == ids(make_example_rows(QUESTIONS[::-1], ANSWERS, FreezeExamples(set_aside=4)))
    assert draw[:2] == ids(make_example_rows(QUESTIONS, ANSWERS, FreezeExamples(set_aside=2)))
    assert draw != ids(make_example_rows(QUESTIONS, ANSWERS, FreezeExamples(set_aside=4, seed=1)))
    assert len(set(draw)) == 4


def test_the_first_of_each_subset_in_the_benchmarks_order() -> None:
    rows = make_example_rows(QUESTIONS, ANSWERS, FreezeExamples(first=2))
    assert ids(rows) == ["q0", "q2", "q1", "q3"]
    assert {row.take for row in rows} == {"window"}


def test_the_subsets_of_papers_are_those_of_an_attribute(
    make: Make, freeze: Freeze, tmp_path: Path
) -> None:
    papers = [
        make(id=f"p{n}", number=str(n), attributes={"exam": "local" if n % 2 else "national"})
        for n in range(4)
    ]
    study = parse_study({"freeze": {"examples": {"first": 1, "subsets": "exam"}}}, "test")
    freeze(*papers, study=study)
    questions = read_jsonl(tmp_path / "out/questions.jsonl", Question)
    assert [q.subset for q in questions] == ["national", "local", "national", "local"]
    assert ids(read_jsonl(tmp_path / "out/examples.jsonl", Example)) == ["p0", "p1"]
    with pytest.raises(ParamsError, match="p9 has no attribute 'exam'"):
        freeze(*papers, make(id="p9", number="9"), study=study, to="other")


def test_an_example_shows_the_solution_that_its_problem_came_with() -> None:
    written = [
        a.model_copy(update={"sketch": a.solution, "solution": f"{SIMULATED}pen]\nAt length."})
        for a in ANSWERS
    ]
    draw = FreezeExamples(set_aside=3)
    assert make_example_rows(QUESTIONS, written, draw) == make_example_rows(
        QUESTIONS, ANSWERS, draw
    )


def test_problems_with_a_solution_are_set_aside_where_there_are_enough() -> None:
    answers = [
        a if a.id in ("q3", "q7") else a.model_copy(update={"solution": None}) for a in ANSWERS
    ]
    assert set(ids(make_example_rows(QUESTIONS, answers, FreezeExamples(set_aside=2)))) == {
        "q3",
        "q7",
    }
    assert len(make_example_rows(QUESTIONS, answers, FreezeExamples(set_aside=3))) == 3


def test_a_rationale_of_a_stand_in_is_no_solution() -> None:
    made = f"{SIMULATED}sim]\nIt is so."
    answers = [answer.model_copy(update={"solution": made}) for answer in ANSWERS]
    rows = make_example_rows(QUESTIONS, answers, FreezeExamples(set_aside=3))
    assert [row.solution for row in rows] == [None] * 3


@pytest.mark.parametrize(
    ("wanted", "told"),
    [({"set_aside": 10}, "leave none to ask"), ({"first": 1}, "does not have two subsets")],
)
def test_what_cannot_be_is_one_line(wanted: dict[str, Any], told: str) -> None:
    questions = [q.model_copy(update={"subset": None}) for q in QUESTIONS]
    with pytest.raises(ParamsError, match=told):
        make_example_rows(questions, ANSWERS, FreezeExamples(**wanted))


def frozen(examples: dict[str, int]) -> Study:
    return parse_study({"freeze": {"examples": examples}}, "test")


def test_the_file_comes_and_goes_with_the_parameter(
    make: Make, freeze: Freeze, tmp_path: Path
) -> None:
    problems = [make(id=f"physics-{n}") for n in range(3)]
    file = tmp_path / "out/examples.jsonl"
    plain = freeze(*problems, study=frozen({}))
    assert not file.exists()
    with_examples = freeze(*problems, study=frozen({"set_aside": 1}))
    (row,) = read_jsonl(file, Example)
    assert row.answer == ["gold answer"]
    assert row.solution == "a worked solution"
    assert with_examples == plain, "questions and answers are the same"
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert "- `examples.jsonl`: solved problems to show as in-context examples (1);" in card
    freeze(*problems, study=frozen({}))
    assert not file.exists()


# The halves of a problem: attributes have one type over a dataset.


def test_an_attribute_that_is_a_list_once_is_one_everywhere() -> None:
    answers = [
        Answer(id="a", answer=["1"], answer_type="open", attributes={"k": "x", "exam": "final"}),
        Answer(id="b", answer=["1"], answer_type="open", attributes={"k": ["x", "y"]}),
        Answer(id="c", answer=["1"], answer_type="open"),
    ]
    aligned = align_attributes(answers)
    assert [answer.attributes for answer in aligned] == [
        {"k": ["x"], "exam": "final"}, {"k": ["x", "y"]}, {},
    ]  # fmt: skip
    assert align_attributes(answers[:1]) == answers[:1]
