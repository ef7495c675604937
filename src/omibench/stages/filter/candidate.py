"""A problem as the reasons of the filter see it, with its pictures and their hashes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from omibench.datasets.likeness import difference_hash, hamming, normalise, shingles
from omibench.params.stages.filter import FilterParams
from omibench.schemas.problem import GENERATOR, IMAGE_MARK, Problem
from omibench.text.figure_labels import CAPTION_NUMBER

# MinHash index: finds similar texts without comparing all pairs.
#
# Broder, On the resemblance and containment of documents (1997). The signature of a text is the
# minimum of each of many hashes over its character shingles. Two texts share an entry with a
# probability equal to the Jaccard similarity of their shingles. Texts that share all entries of a
# band are candidates for an exact comparison.

RUN = 4
"""Characters of one shingle."""
BANDS, ROWS = 80, 4
"""Texts with a Jaccard similarity of 0.5 share a band with probability 1 - (1 - 0.5**4)**80, which
is 0.994; of 0.1, as unrelated texts of one field have, with 0.008."""
_SEED = 20261121


def signature(text: str) -> NDArray[np.uint32]:
    """Return the `BANDS * ROWS` smallest hashes of a text's shingles; order does not count."""
    codes = np.frombuffer(text.ljust(RUN).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    windows = np.lib.stride_tricks.sliding_window_view(codes.astype(np.uint64), RUN)
    powers = np.uint64(0x9E3779B97F4A7C15) ** np.arange(1, RUN + 1, dtype=np.uint64)
    runs = np.unique((windows * powers).sum(axis=1, dtype=np.uint64))
    factor, shift = _hashes()
    # Multiply-shift: the upper half of the product is the hash.
    mixed: NDArray[np.uint64] = runs[:, None] * factor[None, :] + shift[None, :]
    smallest: NDArray[np.uint32] = (mixed >> np.uint64(32)).min(axis=0).astype(np.uint32)
    return smallest


class Similar:
    """Indexed texts, in order; `candidates` of a text are those that may be similar."""

    def __init__(self) -> None:
        self._bands: list[defaultdict[bytes, list[int]]] = [defaultdict(list) for _ in range(BANDS)]
        self._size = 0

    def add(self, text: str) -> None:
        """Add a text under the next number."""
        for band, key in zip(self._bands, _keys(text), strict=True):
            band[key].append(self._size)
        self._size += 1

    def candidates(self, text: str) -> list[int]:
        """Return the numbers of the texts that share a band with this one, ascending."""
        candidate_numbers: set[int] = set()
        for band, key in zip(self._bands, _keys(text), strict=True):
            candidate_numbers.update(band.get(key, ()))
        return sorted(candidate_numbers)


@lru_cache(maxsize=4)  # add() usually follows with the same text
def _keys(text: str) -> list[bytes]:
    signature_bytes, size = signature(text).tobytes(), 4 * ROWS
    return [signature_bytes[i : i + size] for i in range(0, len(signature_bytes), size)]


@lru_cache(maxsize=1)
def _hashes() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    draw = np.random.default_rng(_SEED)
    odd = draw.integers(0, 2**63, BANDS * ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return odd, draw.integers(0, 2**63, BANDS * ROWS, dtype=np.uint64)


# Words of a problem: its statement without pictures, and a normalized form for duplicates.


def statement_text(problem: Problem) -> str:
    """Return the question without `[IMAGEi]` marks and captions, with single blanks."""
    text = IMAGE_MARK.sub(" ", problem.question)
    for figure in problem.images:
        if figure.caption:
            text = _without_caption(text, figure.caption)
    return " ".join(text.split())


def comparison_text(problem: Problem) -> str:
    """Return the text for comparing duplicates: the normalized statement, then texts of choices."""
    choices = [choice.text or "" for choice in problem.choices or []]
    return " | ".join(normalise(text) for text in (statement_text(problem), *choices)).strip()


def _without_caption(text: str, caption: str) -> str:
    words = [re.escape(word) for word in caption.split()]
    caption_pattern = re.compile(r"\s+".join(words)) if words else None
    if caption_pattern and caption_pattern.search(text):
        return caption_pattern.sub(" ", text, count=1)
    number = CAPTION_NUMBER.match(caption)
    if not number:
        return text
    # A caption that OCR read differently the second time still begins a line.
    line = re.compile(rf"^[ \t*]*{re.escape(number.group(0).strip(' *'))} ?[:.：].*$", re.M | re.I)
    return line.sub(" ", text)


# One problem for the reasons; values to compare are computed once, on demand.


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
    numbers of distinct pictures differ, or if both are generated and their pictures differ at all:
    line drawings of different problems look alike.
    """
    if len(a.contents) != len(b.contents):
        return None
    if a.contents == b.contents:
        return 0
    if GENERATOR in a.problem.attributes and GENERATOR in b.problem.attributes:
        return None
    from_first = [min(hamming(look, other_look) for other_look in b.looks) for look in a.looks]
    from_second = [min(hamming(look, other_look) for other_look in a.looks) for look in b.looks]
    return max(*from_first, *from_second)
