"""The first right candidate becomes the rationale; a problem's own solution is its sketch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omibench.params.stages.rationale import RationaleParams
from omibench.schemas.curation import RationaleCandidate
from omibench.schemas.problem import Problem
from omibench.schemas.request import Response
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.stages.rationale.candidates import Solutions, Writer, write_solutions
from omibench.stages.rationale.degenerate import DegeneracyRule, count_words
from omibench.store.key import request_key

Make = Callable[..., Problem]
Scripted = Callable[..., Any]
STEPS = "Figure 1 gives the speed and Figure 2 the road, so the distance is their product. " * 5
RIGHT = STEPS + "Final Answer: \\boxed{12 m}"
WRONG = STEPS + "Final Answer: \\boxed{7 m}"
SHORT = "Figure 1 gives it. Final Answer: \\boxed{12 m}"
RESTATED = "Figure 1 and Figure 2: how far? It is 12 m. " * 6 + "\nFinal Answer: \\boxed{12 m}"


def score(item: ScoredItem) -> Verdict:
    is_right = f"\\boxed{{{item.gold[0]}}}" in item.prediction
    return Verdict(extracted=None, method="box", verdict=float(is_right), rules="boxes", version=3)


def write(script: Any, *problems: Problem, **params: Any) -> Solutions:
    rule = DegeneracyRule(count_words, 50, 0.8)
    block = RationaleParams(**{"candidates": 3, **params})
    writer = Writer("pen", script.with_keys, score, rule, block, seed=7)
    return write_solutions(problems, Path("in"), writer)


def reasons(candidates: list[RationaleCandidate]) -> dict[str, str]:
    return {candidate.id: candidate.reason for candidate in candidates}


def test_every_candidate_is_drawn_at_once_and_kept_on_file(make: Make, scripted: Scripted) -> None:
    script = scripted({"physics-1": [WRONG, RIGHT, RIGHT], "physics-2": [RIGHT, WRONG, SHORT]})
    (first, second), candidates = write(script, make(), make(id="physics-2"))
    assert (first.solution, second.solution) == (RIGHT, RIGHT)
    assert first.warnings == second.warnings == []
    assert [(request.tags.problem, request.index) for request in script.asked] == [
        (name, index) for name in ("physics-1", "physics-2") for index in range(3)
    ]
    assert {(r.decoding.temperature, r.decoding.max_tokens) for r in script.asked} == {(0.6, 8192)}
    assert all("12 m" not in request.conversation.text for request in script.asked)
    assert reasons(candidates) == {
        "physics-1#0": "wrong_drawn", "physics-1#1": "used", "physics-1#2": "right",
        "physics-2#0": "used", "physics-2#1": "wrong_drawn", "physics-2#2": "short",
    }  # fmt: skip
    assert [c.kept for c in candidates] == [True] * 5 + [False]
    row = candidates[1]
    assert (row.problem, row.sample, row.text, row.key) == (
        "physics-1", 1, RIGHT, "physics-1/1"
    )  # fmt: skip
    assert (row.verdict, row.rules, row.version, row.reference) == (1, "boxes", 3, "none")
    assert (row.tokens, len(row.steps), row.model) == (90, 5, "pen")
    assert 0 < row.overlap < 0.8


def test_what_was_bought_of_a_first_candidate_and_a_first_try_is_found_again(
    make: Make, scripted: Scripted
) -> None:
    script = scripted({"physics-1": [WRONG] * 3})
    write(script, make(), candidates=2)
    assert [request_key({"provider": "x"}, request)[:16] for request in script.asked] == [
        "213b72fdcb7f9e58", "3e9b91f08d91899d", "85a61c57fd3b3d6f"
    ]  # fmt: skip


def test_on_request_drawing_stops_at_the_first_right_candidate(
    make: Make, scripted: Scripted
) -> None:
    script = scripted({"physics-1": [SHORT, RIGHT], "physics-2": [RIGHT]})
    problems = make(), make(id="physics-2")
    solutions = write(script, *problems, stop_at_right=True)
    assert [problem.solution for problem in solutions.problems] == [RIGHT, RIGHT]
    asked = [(request.tags.problem, request.index) for request in script.asked]
    assert asked == [("physics-1", 0), ("physics-2", 0), ("physics-1", 1)]


def test_the_answer_is_shown_when_no_candidate_is_right(make: Make, scripted: Scripted) -> None:
    script = scripted({"physics-1": [WRONG, WRONG, WRONG, WRONG, RIGHT]})
    (problem,), candidates = write(script, make(), reference_tries=3)
    assert problem.solution == RIGHT
    assert list(map(str, problem.warnings)) == ["rationale: pen was given the answer"]
    assert [request.index for request in script.asked] == [0, 1, 2, 0, 1]
    assert "Reference Solution: 12 m" in script.asked[-1].conversation.text
    assert [c.id for c in candidates][3:] == ["physics-1#answer-0", "physics-1#answer-1"]
    assert candidates[-1].reason == "used"
    assert sum(c.reason == "wrong_drawn" for c in candidates) == 3


def test_a_sketch_stops_no_rationale_and_is_shown_when_no_candidate_is_right(
    make: Make, scripted: Scripted
) -> None:
    script = scripted({"physics-1": [WRONG, WRONG, WRONG, RIGHT]})
    (problem,), candidates = write(script, make(solution="By eye, twelve."))
    assert (problem.solution, problem.sketch) == (RIGHT, "By eye, twelve.")
    assert "Reference Solution: By eye, twelve." in script.asked[-1].conversation.text
    assert all("By eye" not in r.conversation.text for r in script.asked[:-1])
    assert candidates[-1].reference == "sketch"
    assert "rationale: pen was given the solution that it came with" in map(str, problem.warnings)


@pytest.mark.parametrize(
    ("replies", "detail"),
    [
        ([WRONG] * 4, "ends in the right answer"),
        ([SHORT, WRONG, RESTATED, SHORT],
         "is right and explains it (right, and out: 1 paraphrase, 2 short)"),
    ],
)  # fmt: skip
def test_a_problem_whose_rationale_is_never_right_stays_without_one(
    make: Make, scripted: Scripted, replies: list[str], detail: str
) -> None:
    (problem,), candidates = write(scripted({"physics-1": replies}), make(solution="By eye."))
    assert (problem.solution, problem.sketch) == (None, "By eye.")
    assert list(map(str, problem.warnings)) == [f"rationale: pen wrote none that {detail}"]
    assert len(candidates) == 4


def test_wrong_candidates_are_drawn_by_the_seed_from_those_that_explain(
    make: Make, scripted: Scripted
) -> None:
    replies = [WRONG] * 8 + [RIGHT, SHORT.replace("12", "7")]
    drawn = []
    for _ in range(2):
        script = scripted({"physics-1": replies})
        _, candidates = write(script, make(), candidates=10, wrong_candidates=3)
        drawn.append([c.sample for c in candidates if c.reason == "wrong_drawn"])
        assert candidates[-1].reason == "short"
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 3
    assert drawn[0] != [0, 1, 2], "drawn, not the first"


def test_simulated_rationales_are_marked(make: Make, scripted: Scripted) -> None:
    reply = Response(text=RIGHT, simulated=True)
    solutions = write(scripted({"physics-1": [reply]}), make(warnings=["old"]), candidates=1)
    (problem,), (candidate,) = solutions
    assert list(map(str, problem.warnings)) == ["old", "rationale: SIMULATED (pen)"]
    assert candidate.simulated


def test_problems_without_answers_are_left_alone(make: Make, scripted: Scripted) -> None:
    problem, script = make(answer=None, solution="By eye."), scripted({})
    assert write(script, problem) == ([problem], [])
    assert script.asked == []


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Response(text=RIGHT, outcome="truncated"), "unanswered"),
        (Response(text=RIGHT, outcome="refused"), "unanswered"),
        (Response(text="Final Answer: \\boxed{12 m}"), "short"),
        (Response(text=RESTATED), "paraphrase"),
        (Response(text=WRONG), "wrong"),
    ],
)
def test_what_is_no_rationale(make: Make, scripted: Scripted, reply: Response, reason: str) -> None:
    script = scripted({"physics-1": [reply]})
    params = {"candidates": 1, "reference_tries": 0, "wrong_candidates": 0}
    (problem,), (candidate,) = write(script, make(), **params)
    assert (problem.solution, candidate.reason, candidate.kept) == (None, reason, False)
