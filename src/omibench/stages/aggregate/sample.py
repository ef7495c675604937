"""One sample of one problem, as aggregation sees it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

Equivalence = Callable[[str, str], bool]
"""Whether two extracted answers are one answer, under some rule book."""
Validity = Callable[[str], bool]
"""Whether an extracted answer can be right at all."""


@dataclass(frozen=True)
class Sample:
    """Draw `index` from a model: the answer that was extracted (None: invalid) and its verdict."""

    index: int
    answer: str | None
    verdict: float = 0.0


def select_valid(samples: list[Sample]) -> list[Sample]:
    """The samples that hold an answer; all of them where none does."""
    return [s for s in samples if s.answer is not None] or samples


def make_generator(seed: int, *names: str) -> Random:
    """A generator that depends on the seed and the names alone, never on the order of calls."""
    text = "\0".join((str(seed), *names))
    return Random(hashlib.blake2b(text.encode(), digest_size=8).digest())  # noqa: S311
