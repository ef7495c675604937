"""Candidate solutions: requested from a model, measured, and selected (OMIBench, A.3.1).

All are stored: right ones as potential rationales, a few wrong ones for annotators, and the rest
with the reason for their exclusion.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from omibench.answers.scorers.registry import make_scored_item
from omibench.params.stages.rationale import RationaleParams
from omibench.schemas.curation import CandidateReason, RationaleCandidate, Reference
from omibench.schemas.problem import RATIONALE, Problem, ProblemWarning
from omibench.schemas.request import Decoding, Request, Response, Tags
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.stages.rationale.degenerate import DegeneracyRule, measure_rationale
from omibench.stages.rationale.prompts import (
    WRITE,
    WRITE_GIVEN,
    WRITE_SKETCHED,
    write_prompt,
)
from omibench.text.pieces import split_steps, strip_final_answer

AskWithKeys = Callable[[Sequence[Request]], Sequence[tuple[str, Response]]]
"""Returns each request's key in the store, and the response."""
Score = Callable[[ScoredItem], Verdict]
Drawn = Mapping[str, Sequence[RationaleCandidate]]
"""Candidates by problem."""
RIGHT: Final = frozenset[CandidateReason]({"used", "right"})


@dataclass(frozen=True)
class Writer:
    """A model that writes solutions, with its scorer and limits."""

    model: str
    ask: AskWithKeys
    score: Score
    degeneracy: DegeneracyRule
    params: RationaleParams
    study: str = ""
    seed: int = 0
    """Seed of the draw of wrong candidates."""


class _Sample(NamedTuple):
    """One candidate to request."""

    problem: Problem
    number: int
    reference: Reference
    samples: int
    """Return the maximum number of candidates of this kind for a problem."""


def draw_candidates(problems: Sequence[Problem], folder: Path, writer: Writer) -> Drawn:
    """Request candidates, and again with the reference solution if none is right.

    All of `candidates` are requested at once, or individually if the study stops at the first right
    one. The reference is the problem's original solution, else its answer; with it, requests stop
    at the first right candidate.

    Args:
        problems: Problems with answers; `sketch` is the original solution.
        folder: The base folder of image paths.
        writer: The model.

    Returns:
        The candidates of each problem in the order of requests, none selected yet.
    """
    params = writer.params
    drawn: dict[str, list[RationaleCandidate]] = {p.id: [] for p in problems}
    numbers = range(params.candidates)
    for round_ in [[n] for n in numbers] if params.stop_at_right else [numbers]:
        samples = [
            _Sample(problem, number, "none", params.candidates)
            for problem in _list_unsolved(problems, drawn)
            for number in round_
        ]
        _collect(drawn, samples, folder, writer)
    for number in range(params.reference_tries):
        samples = [
            _Sample(p, number, "sketch" if p.sketch else "answer", params.reference_tries)
            for p in _list_unsolved(problems, drawn)
        ]
        _collect(drawn, samples, folder, writer)
    return drawn


def choose_candidates(
    candidates: Sequence[RationaleCandidate], wrong: int, seed: int
) -> list[RationaleCandidate]:
    """Select the rationale among candidates, and draw wrong ones for annotators.

    Args:
        candidates: Candidates of one problem, in the order of requests.
        wrong: The number of wrong ones to draw; degenerate ones are never drawn.
        seed: Seed of the draw, which depends only on it and the candidates' ids.

    Returns:
        The same in the same order: the first right one is `used`, drawn ones are `wrong_drawn`.
    """
    used = find_rationale(candidates)
    order = sorted(
        (c.id for c in candidates if c.reason == "wrong"), key=lambda id_: _hash(seed, id_)
    )
    drawn = set(order[:wrong])

    def label(candidate: RationaleCandidate) -> RationaleCandidate:
        if used and candidate.id == used.id:
            return candidate.model_copy(update={"reason": "used"})
        if candidate.id in drawn:
            return candidate.model_copy(update={"reason": "wrong_drawn", "kept": True})
        return candidate

    return [label(candidate) for candidate in candidates]


def find_rationale(candidates: Iterable[RationaleCandidate]) -> RationaleCandidate | None:
    """Return the first right candidate that is not degenerate, or None."""
    return next((c for c in candidates if c.reason in RIGHT), None)


def _list_unsolved(problems: Sequence[Problem], drawn: Drawn) -> list[Problem]:
    return [p for p in problems if find_rationale(drawn[p.id]) is None]


def _collect(
    drawn: Mapping[str, list[RationaleCandidate]],
    samples: Sequence[_Sample],
    folder: Path,
    writer: Writer,
) -> None:
    requests = [_make_request(sample, folder, writer) for sample in samples]
    replies = writer.ask(requests) if requests else []
    for sample, (key, response) in zip(samples, replies, strict=True):
        drawn[sample.problem.id].append(_make_candidate(sample, key, response, writer))


def _make_request(sample: _Sample, folder: Path, writer: Writer) -> Request:
    params, problem = writer.params, sample.problem
    prompt, values = {
        "none": (WRITE, {}),
        "sketch": (WRITE_SKETCHED, {"sketch": problem.sketch or ""}),
        "answer": (WRITE_GIVEN, {"answer": "; ".join(problem.answer or [])}),
    }[sample.reference]
    return Request(
        conversation=write_prompt(prompt, problem, folder, values, params.prompts),
        decoding=Decoding(
            temperature=params.temperature,
            max_tokens=params.writer_max_tokens,
            samples=sample.samples,
        ),
        index=sample.number,
        tags=Tags(role="rationale_writer", problem=problem.id, study=writer.study),
    )


def _make_candidate(
    sample: _Sample, key: str, response: Response, writer: Writer
) -> RationaleCandidate:
    problem, reference = sample.problem, sample.reference
    verdict = writer.score(make_scored_item(problem, response))
    measures = measure_rationale(response.text, problem, writer.degeneracy)
    reason: CandidateReason = measures.defect or ("right" if verdict.verdict == 1 else "wrong")
    if response.outcome != "answered":
        reason = "unanswered"
    number = f"{sample.number}" if reference == "none" else f"{reference}-{sample.number}"
    return RationaleCandidate(
        id=f"{problem.id}#{number}",
        problem=problem.id,
        sample=sample.number,
        reference=reference,
        model=writer.model,
        text=response.text,
        steps=split_steps(strip_final_answer(response.text)),
        outcome=response.outcome,
        verdict=verdict.verdict,
        rules=verdict.rules,
        version=verdict.version,
        tokens=measures.tokens,
        overlap=measures.overlap,
        kept=reason == "right",
        reason=reason,
        key=key,
        simulated=response.simulated,
    )


def _hash(seed: int, id_: str) -> str:
    return hashlib.sha256(f"{seed}:{id_}".encode()).hexdigest()


# Worked solutions of problems, in two stages (OMIBench, 3.2 step 2 and A.3.1).

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
