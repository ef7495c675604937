"""One problem for the reasons; values to compare are computed once, on demand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from omibench.params.stages.filter import FilterParams
from omibench.schemas.problem import Problem
from omibench.stages.filter.hashing import difference_hash, hamming
from omibench.stages.filter.minhash import Similar
from omibench.stages.filter.text import comparison_text, shingles, statement_text


@dataclass
class Candidate:
    """A problem and `folder`, the base of its figure paths."""

    problem: Problem
    folder: Path

    @cached_property
    def statement(self) -> str:
        """The question without image marks and captions."""
        return statement_text(self.problem)

    @cached_property
    def text_to_compare(self) -> str:
        """Normalised statement and choices."""
        return comparison_text(self.problem)

    @cached_property
    def shingles(self) -> frozenset[tuple[str, ...]]:
        """Every three-word shingle of `text_to_compare`."""
        return shingles(self.text_to_compare)

    @cached_property
    def contents(self) -> frozenset[str]:
        """SHA-256 of each distinct picture."""
        return frozenset(figure.sha256 for figure in self.problem.images)

    @cached_property
    def looks(self) -> list[int]:
        """64-bit perceptual hash of each distinct picture, in order."""
        first_of = {figure.sha256: figure for figure in reversed(self.problem.images)}
        return [difference_hash(self.folder / figure.file) for figure in first_of.values()]


class KeptProblems:
    """The kept problems in order, with a text index."""

    SURE_FROM = 0.85
    """The similarity from which MinHash misses none; below it all are compared."""

    def __init__(self, candidates: Iterable[Candidate] = ()) -> None:
        self.all: list[Candidate] = []
        self._same: defaultdict[str, list[Candidate]] = defaultdict(list)
        self._similar = Similar()
        for candidate in candidates:
            self.add(candidate)

    def add(self, candidate: Candidate) -> None:
        """Add one problem."""
        self.all.append(candidate)
        self._same[candidate.text_to_compare].append(candidate)
        self._similar.add(candidate.text_to_compare)

    def same(self, candidate: Candidate) -> Sequence[Candidate]:
        """Return those with the same normalized text."""
        return self._same.get(candidate.text_to_compare, ())

    def alike(self, candidate: Candidate, similarity: float) -> Sequence[Candidate]:
        """Return those whose text may be this similar: all that are, and some that are not."""
        if similarity < self.SURE_FROM:
            return self.all
        return [self.all[i] for i in self._similar.candidates(candidate.text_to_compare)]


@dataclass(frozen=True)
class Case:
    """The input of a reason: one candidate and the kept problems."""

    candidate: Candidate
    kept: KeptProblems
    params: FilterParams

    @property
    def problem(self) -> Problem:
        """The problem to check."""
        return self.candidate.problem


def figure_distance(a: Candidate, b: Candidate) -> int | None:
    """Return the visual distance between the pictures of two problems, in bits of a 64-bit hash.

    Each picture is paired with the nearest of the other problem; the worst pair counts. None if the
    numbers of distinct pictures differ.
    """
    if len(a.contents) != len(b.contents):
        return None
    if a.contents == b.contents:
        return 0
    from_first = [min(hamming(look, other_look) for other_look in b.looks) for look in a.looks]
    from_second = [min(hamming(look, other_look) for other_look in a.looks) for look in b.looks]
    return max(*from_first, *from_second)
