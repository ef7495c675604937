"""One sample of one problem, as aggregation sees it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

Equivalence = Callable[[str, str], bool]
"""Whether two extracted answers are equivalent, under some scorer."""
Validity = Callable[[str], bool]
"""Whether an extracted answer can be right at all."""


@dataclass(frozen=True)
class Sample:
    """Sample `index` of a model: the extracted answer (None: invalid) and its verdict."""

    index: int
    answer: str | None
    verdict: float = 0.0


def select_valid(samples: list[Sample]) -> list[Sample]:
    """Return the samples with an answer; all of them if none has one."""
    return [s for s in samples if s.answer is not None] or samples


def make_generator(seed: int, *names: str) -> Random:
    """Return a generator that depends only on the seed and the names, not on the order of calls."""
    text = "\0".join((str(seed), *names))
    return Random(hashlib.blake2b(text.encode(), digest_size=8).digest())  # noqa: S311
