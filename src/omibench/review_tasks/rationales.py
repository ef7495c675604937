"""Candidate rationales for annotators (OMIBench, A.3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pydantic import JsonValue

from omibench.review.contents import Content
from omibench.schemas.problem import Problem
from omibench.schemas.rationale_candidate import RationaleCandidate

_RIGHT = ("used", "right")


def show_candidates(candidates: Iterable[RationaleCandidate]) -> Callable[[Problem], Content]:
    """Return a function for the candidates of each problem.

    Candidates with the right answer are shown; without any, the drawn wrong ones. A problem without
    candidates has its existing solution as the only one.

    Args:
        candidates: Rows of candidates.jsonl.
    """
    by_problem: dict[str, list[RationaleCandidate]] = {}
    for candidate in candidates:
        by_problem.setdefault(candidate.problem, []).append(candidate)

    def add_candidates(problem: Problem) -> Content:
        entries = _list_entries(_choose(by_problem.get(problem.id, [])))
        if not entries and problem.solution:
            title = "The existing solution"
            entries = [{"id": f"{problem.id}#given", "title": title, "text": problem.solution}]
        return {"candidates": entries}

    return add_candidates


def _choose(candidates: Sequence[RationaleCandidate]) -> list[RationaleCandidate]:
    right = [candidate for candidate in candidates if candidate.reason in _RIGHT]
    return right or [candidate for candidate in candidates if candidate.reason == "wrong_drawn"]


def _list_entries(candidates: Sequence[RationaleCandidate]) -> list[JsonValue]:
    return [
        {
            "id": candidate.id,
            "title": f"Candidate {number}, {_judge(candidate)}",
            "text": candidate.text.strip(),
        }
        for number, candidate in enumerate(candidates, 1)
    ]


def _judge(candidate: RationaleCandidate) -> str:
    verdict = "right" if candidate.reason in _RIGHT else "wrong"
    seen = {"sketch": ", with the reference solution", "answer": ", with the answer"}
    return f"{verdict} answer{seen.get(candidate.reference, '')}"
