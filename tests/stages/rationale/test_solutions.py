"""Candidates are drawn one by one; the first right one is kept, and else the answer is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omibench.schemas.problem import Problem
from omibench.schemas.request import Response
from omibench.schemas.verdict import ScoredItem
from omibench.stages.rationale.solutions import Writer, is_acceptable, write_solutions

Make = Callable[..., Problem]
Scripted = Callable[..., Any]
STEPS = "Figure 1 gives the speed and Figure 2 the road, so the distance is their product. " * 5
RIGHT = STEPS + "Final Answer: \\boxed{12 m}"
WRONG = STEPS + "Final Answer: \\boxed{7 m}"


def ends_right(item: ScoredItem) -> bool:
    return f"\\boxed{{{item.gold[0]}}}" in item.prediction


def write(script: Any, *problems: Problem, candidates: int = 3) -> list[Problem]:
    return write_solutions(problems, Path("in"), Writer("pen", script, ends_right, candidates))


def test_the_first_right_candidate_is_kept(make: Make, scripted: Scripted) -> None:
    one, two = make(), make(id="physics-2")
    script = scripted({"physics-1": [WRONG, RIGHT], "physics-2": [RIGHT]})
    first, second = write(script, one, two)
    assert (first.solution, second.solution) == (RIGHT, RIGHT)
    assert first.warnings == second.warnings == []
    asked = [(request.tags.problem, request.index) for request in script.asked]
    assert asked == [("physics-1", 0), ("physics-2", 0), ("physics-1", 1)]
    assert {request.tags.role for request in script.asked} == {"rationale_writer"}
    assert all("12 m" not in request.conversation.text for request in script.asked)


def test_the_answer_is_given_when_no_candidate_is_right(make: Make, scripted: Scripted) -> None:
    script = scripted({"physics-1": [WRONG, WRONG, WRONG, RIGHT]})
    (problem,) = write(script, make())
    assert problem.solution == RIGHT
    assert list(map(str, problem.warnings)) == ["rationale: pen was given the answer"]
    assert "Official answer: 12 m" in script.asked[-1].conversation.text


def test_a_problem_whose_rationale_is_never_right_stays_without_one(
    make: Make, scripted: Scripted
) -> None:
    (problem,) = write(scripted({"physics-1": [WRONG] * 4}), make())
    assert problem.solution is None
    assert list(map(str, problem.warnings)) == [
        "rationale: pen wrote none that ends in the right answer"
    ]


def test_simulated_rationales_are_marked(make: Make, scripted: Scripted) -> None:
    reply = Response(text=RIGHT, simulated=True)
    (problem,) = write(scripted({"physics-1": [reply]}), make(warnings=["old"]))
    assert list(map(str, problem.warnings)) == ["old", "rationale: SIMULATED (pen)"]


def test_own_solutions_and_problems_without_answers_are_left_alone(
    make: Make, scripted: Scripted
) -> None:
    problems = [make(solution="By eye."), make(id="physics-2", answer=None)]
    script = scripted({})
    assert write(script, *problems) == problems
    assert script.asked == []


@pytest.mark.parametrize(
    "reply",
    [
        Response(text=RIGHT, outcome="truncated"),
        Response(text=RIGHT, outcome="refused"),
        Response(text="Final Answer: \\boxed{12 m}"),
        Response(text=WRONG),
    ],
)
def test_what_is_no_rationale(make: Make, scripted: Scripted, reply: Response) -> None:
    assert not is_acceptable(make(), reply, ends_right)


def test_a_rationale_in_a_script_without_spaces_counts_its_characters(
    make: Make, scripted: Scripted
) -> None:
    text = "由图一得速度，由图二得路程。" * 6 + "\\boxed{12 m}"
    assert is_acceptable(make(), Response(text=text), ends_right)
