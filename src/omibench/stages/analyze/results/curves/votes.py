"""pass@k, majority@k and consistency@k of a problem's samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from omibench.schemas.verdict import RIGHT
from omibench.scorers.registry import SCORERS
from omibench.stages.aggregate.equivalence import make_equivalence, make_validity
from omibench.stages.aggregate.sample import Sample
from omibench.stages.aggregate.votes import drop_invalid, group_answers
from omibench.statistics.samples import AnswerCounts, agreement_curve, pass_at_k, vote_curve

if TYPE_CHECKING:
    import polars as pl

    from omibench.params.cell import Cell
    from omibench.results.load import Results

MOST_SAMPLES = 16
"""The largest k of a curve (OMIBench, H.3)."""
PASS, MAJORITY, CONSISTENCY = "pass@k", "majority@k", "consistency@k"
_PUBLISHED = "published"


class Worth(NamedTuple):
    """One metric of one problem's samples, for k = 1, 2, ... in order."""

    rules: str
    id: str
    metric: str
    values: tuple[float, ...]


class _Ballot(NamedTuple):
    """The class of equal answers of each sample of a problem; -1 if it has no answer."""

    classes: tuple[int, ...]
    agreeing: tuple[int, ...]
    """The sizes of the classes of valid answers, as counted by `aggregate.votes.consistency`: for
    multiple choice, only answers that are an option."""


def measure_samples(results: Results, cell: Cell, verdicts: pl.DataFrame) -> Iterator[Worth]:
    """Measure pass@k, the majority's verdict and consistency@k over all subsets of k samples.

    Votes are counted as in the stage `aggregate`: the setting's `sameness` decides which answers
    are equal. Under a judge or published verdicts, the answers extracted by the first scorer vote.

    Args:
        results: The study's results.
        cell: A cell with several samples of a problem.
        verdicts: All verdicts of the cell.

    Yields:
        For each scorer and problem, three metrics for k up to 16 or the fewest samples of a
        problem; only pass@k if no scorer extracts answers.
    """
    scorers = verdicts["rules"].unique(maintain_order=True).to_list()
    base = next((r for r in results.study.score.rules if r != _PUBLISHED and r in scorers), None)
    samples = {
        scorer: _collect_samples(verdicts, scorer) for scorer in scorers if "/" not in scorer
    }
    fewest = min((len(s) for problems in samples.values() for s in problems.values()), default=0)
    most = min(fewest, MOST_SAMPLES)
    ballots: dict[tuple[str, str], _Ballot] = {}
    sameness = results.study.settings[cell.setting].aggregate.sameness
    for scorer, problems in samples.items():
        voter = scorer if scorer in SCORERS and scorer != _PUBLISHED else base
        for problem, drawn in problems.items():
            scores = tuple(sample.verdict for sample in drawn)
            yield Worth(scorer, problem, PASS, _count_passes(scores, most))
            if voter is None or problem not in samples[voter]:
                continue
            if (voter, problem) not in ballots:
                ballots[voter, problem] = _cast_votes(
                    results, problem, samples[voter][problem], sameness
                )
            ballot = ballots[voter, problem]
            yield Worth(scorer, problem, MAJORITY, _count_votes(ballot.classes, scores, most))
            yield Worth(scorer, problem, CONSISTENCY, _count_agreement(ballot, most))


def _collect_samples(verdicts: pl.DataFrame, scorer: str) -> dict[str, list[Sample]]:
    samples: dict[str, list[Sample]] = {}
    columns = ("id", "index", "extracted", "outcome", "verdict")
    for name, index, extracted, outcome, verdict in (
        verdicts.filter(rules=scorer).sort("index").select(columns).iter_rows()
    ):
        answer = extracted if outcome == "scored" else None
        samples.setdefault(name, []).append(Sample(index, answer, verdict))
    return samples


def _cast_votes(
    results: Results, problem: str, samples: Sequence[Sample], sameness: str | None
) -> _Ballot:
    answer = results.answers[problem]
    are_same = make_equivalence(sameness, answer.answer_type, answer.choices)
    groups = group_answers(samples, are_same)
    home = {m.index: place for place, group in enumerate(groups) for m in group.members}
    valid = drop_invalid(samples, make_validity(answer.choices))
    sizes = sorted(len(group.members) for group in group_answers(valid, are_same))
    return _Ballot(tuple(home.get(s.index, -1) for s in samples), tuple(sizes))


def _count_passes(verdicts: tuple[float, ...], most: int) -> tuple[float, ...]:
    return _pass_curve(len(verdicts), sum(verdict >= RIGHT for verdict in verdicts), most)


@cache
def _pass_curve(samples: int, right: int, most: int) -> tuple[float, ...]:
    return tuple(pass_at_k(samples, right, k) for k in range(1, most + 1))


def _count_votes(classes: Sequence[int], verdicts: Sequence[float], most: int) -> tuple[float, ...]:
    members: dict[int, list[float]] = {}
    for place, verdict in zip(classes, verdicts, strict=True):
        members.setdefault(place, []).append(verdict)
    invalid = members.pop(-1, [])
    groups = sorted((len(scores), sum(scores) / len(scores)) for scores in members.values())
    mean = sum(invalid) / len(invalid) if invalid else 0.0
    return _vote_curve(tuple(groups), len(invalid), mean, most)


@cache
def _vote_curve(
    groups: tuple[tuple[int, float], ...], invalid: int, invalid_verdict: float, most: int
) -> tuple[float, ...]:
    counts = AnswerCounts(tuple(size for size, _ in groups), invalid)
    return vote_curve(counts, [score for _, score in groups], invalid_verdict, most)


def _count_agreement(ballot: _Ballot, most: int) -> tuple[float, ...]:
    invalid = len(ballot.classes) - sum(ballot.agreeing)
    return _agreement_curve(ballot.agreeing, invalid, most)


@cache
def _agreement_curve(sizes: tuple[int, ...], invalid: int, most: int) -> tuple[float, ...]:
    return agreement_curve(AnswerCounts(sizes, invalid), most)
