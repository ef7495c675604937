"""Worked solutions for problems that have none, in two stages (OMIBench, 3.2 step 2 and A.3.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from omibench.rule_books.problem_response import make_scored_item
from omibench.schemas.problem import Problem
from omibench.schemas.problem_warning import RATIONALE, ProblemWarning
from omibench.schemas.request import Conversation, Decoding, Request, Response, Tags
from omibench.schemas.verdict import ScoredItem
from omibench.stages.rationale.prompts import solve, solve_given

Ask = Callable[[Sequence[Request]], list[Response]]
IsRight = Callable[[ScoredItem], bool]

TEMPERATURE = 0.6  # A.3.1
MIN_TOKENS = 50  # A.3.1: what is shorter restates the answer and explains nothing
MAX_TOKENS = 8192

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")


@dataclass(frozen=True)
class Writer:
    """A model that writes solutions: its name, how to ask it, and what checks its answers."""

    model: str
    ask: Ask
    is_right: IsRight
    candidates: int
    study: str = ""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Files that take the place of prompts, by their names."""


def write_solutions(problems: Sequence[Problem], folder: Path, writer: Writer) -> list[Problem]:
    """The problems in order, each with a solution where one could be written.

    A problem with a solution of its own keeps it. Otherwise candidates are drawn one by one, and
    the first that ends in the right answer is kept; if none of `candidates` does, the answer is
    given and one more is written. Who wrote it stands in the problem's warnings. Image paths are
    relative to `folder`.
    """
    finished: dict[str, Problem] = {}
    open_problems = [p for p in problems if not p.solution and p.answer]
    for index in range(writer.candidates):
        waiting = [p for p in open_problems if p.id not in finished]
        requests = [
            _make_request(
                solve(p, folder, writer.prompts), p, index, writer.candidates, writer.study
            )
            for p in waiting
        ]
        finished |= _accept(waiting, requests, writer, with_answer=False)
    waiting = [p for p in open_problems if p.id not in finished]
    requests = [
        _make_request(solve_given(p, folder, writer.prompts), p, 0, 1, writer.study)
        for p in waiting
    ]
    finished |= _accept(waiting, requests, writer, with_answer=True)
    failed = ProblemWarning(RATIONALE, f"{writer.model} wrote none that ends in the right answer")
    finished |= {p.id: p.warn(failed) for p in open_problems if p.id not in finished}
    return [finished.get(problem.id, problem) for problem in problems]


def is_acceptable(problem: Problem, response: Response, is_right: IsRight) -> bool:
    """Whether a reply is a rationale: answered, more than the bare answer, and right."""
    if response.outcome != "answered" or len(_TOKEN.findall(response.text)) < MIN_TOKENS:
        return False
    return is_right(make_scored_item(problem, response))


def _accept(
    problems: Sequence[Problem], requests: Sequence[Request], writer: Writer, *, with_answer: bool
) -> dict[str, Problem]:
    if not requests:
        return {}
    return {
        problem.id: _add_solution(problem, response, writer.model, with_answer=with_answer)
        for problem, response in zip(problems, writer.ask(requests), strict=True)
        if is_acceptable(problem, response, writer.is_right)
    }


def _add_solution(
    problem: Problem, response: Response, model: str, *, with_answer: bool
) -> Problem:
    notes = [ProblemWarning(RATIONALE, simulated_by=(model,))] if response.simulated else []
    if with_answer:
        notes.append(ProblemWarning(RATIONALE, f"{model} was given the answer"))
    solved = problem.model_copy(update={"solution": response.text.strip()})
    return solved.warn(*notes)


def _make_request(
    conversation: Conversation, problem: Problem, index: int, samples: int, study: str
) -> Request:
    return Request(
        conversation=conversation,
        decoding=Decoding(temperature=TEMPERATURE, max_tokens=MAX_TOKENS, samples=samples),
        index=index,
        tags=Tags(role="rationale_writer", problem=problem.id, study=study),
    )
