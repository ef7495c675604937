"""Worked solutions of problems, in two stages (OMIBench, 3.2 step 2 and A.3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.schemas.problem import Problem
from omibench.schemas.problem_warning import RATIONALE, ProblemWarning
from omibench.schemas.rationale_candidate import RationaleCandidate
from omibench.schemas.request import Request, Response
from omibench.stages.rationale.candidates import (
    Writer,
    choose_candidates,
    draw_candidates,
    find_rationale,
)

Ask = Callable[[Sequence[Request]], list[Response]]
_SHOWN = {"sketch": "the solution that it came with", "answer": "the answer"}


class Solutions(NamedTuple):
    """The problems with their rationales, and all written candidates."""

    problems: list[Problem]
    candidates: list[RationaleCandidate]


def write_solutions(problems: Sequence[Problem], folder: Path, writer: Writer) -> Solutions:
    """Write a rationale for each problem that has an answer.

    The rationale is the first candidate, in sample order, with the right answer that is not
    degenerate. A problem's original solution becomes its `sketch`; it does not prevent a rationale
    from being written, and does not replace one. The problem's warnings state who wrote the
    rationale, and what they were shown.

    Args:
        problems: Problems after the filter.
        folder: The base folder of image paths.
        writer: The model.

    Returns:
        The problems in order, and the candidates problem by problem.
    """
    prepared = [_move_sketch(problem) for problem in problems]
    open_problems = [problem for problem in prepared if problem.answer]
    drawn = draw_candidates(open_problems, folder, writer)
    wrong, seed = writer.params.wrong_candidates, writer.seed
    chosen = {p.id: choose_candidates(drawn[p.id], wrong, seed) for p in open_problems}
    return Solutions(
        [_add_solution(p, chosen[p.id], writer) if p.answer else p for p in prepared],
        [candidate for problem in open_problems for candidate in chosen[problem.id]],
    )


def _move_sketch(problem: Problem) -> Problem:
    if not problem.solution or not problem.answer:
        return problem
    return problem.model_copy(update={"solution": None, "sketch": problem.solution})


def _add_solution(
    problem: Problem, candidates: Sequence[RationaleCandidate], writer: Writer
) -> Problem:
    rationale = find_rationale(candidates)
    if rationale is None:
        detail = f"{writer.model} wrote none that {_describe_failure(candidates)}"
        return problem.warn(ProblemWarning(RATIONALE, detail))
    notes = []
    if rationale.simulated:
        notes.append(ProblemWarning(RATIONALE, simulated_by=(writer.model,)))
    if rationale.reference != "none":
        detail = f"{writer.model} was given {_SHOWN[rationale.reference]}"
        notes.append(ProblemWarning(RATIONALE, detail))
    return problem.model_copy(update={"solution": rationale.text.strip()}).warn(*notes)


def _describe_failure(candidates: Sequence[RationaleCandidate]) -> str:
    degenerate = Counter(c.reason for c in candidates if c.verdict == 1)
    if not degenerate:
        return "ends in the right answer"
    counts = ", ".join(f"{n} {reason}" for reason, n in sorted(degenerate.items()))
    return f"is right and explains it (right, and out: {counts})"
