"""Candidate solutions: requested from a model, measured, and selected (OMIBench, A.3.1).

All are stored: right ones as potential rationales, a few wrong ones for annotators, and the rest
with the reason for their exclusion.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from omibench.params.stages.rationale import RationaleParams
from omibench.schemas.problem import Problem
from omibench.schemas.rationale_candidate import CandidateReason, RationaleCandidate, Reference
from omibench.schemas.request import Conversation, Decoding, Request, Response, Tags
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.scorers.problem_response import make_scored_item
from omibench.stages.rationale.degenerate import DegeneracyRule, measure_rationale
from omibench.stages.rationale.prompts import solve, solve_given, solve_sketched
from omibench.text.steps import split_steps, strip_final_answer

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
    params = writer.params
    return Request(
        conversation=_make_conversation(sample, folder, params.prompts),
        decoding=Decoding(
            temperature=params.temperature,
            max_tokens=params.writer_max_tokens,
            samples=sample.samples,
        ),
        index=sample.number,
        tags=Tags(role="rationale_writer", problem=sample.problem.id, study=writer.study),
    )


def _make_conversation(sample: _Sample, folder: Path, prompts: Mapping[str, str]) -> Conversation:
    problem = sample.problem
    if sample.reference == "sketch":
        return solve_sketched(problem, problem.sketch or "", folder, prompts)
    return (solve_given if sample.reference == "answer" else solve)(problem, folder, prompts)


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
