"""What a comparison found: each part of a gold, what stands for it in the answer, and why.

`credit` is the share of parts that are right, `tier` names the tier that found the whole answer
right (strict). Both are kept: a study may report either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_NOT_COMPARED = ("missing", "not asked for", "another label")


class PartResult(NamedTuple):
    """One part of a gold beside what the answer has in its place.

    `part` is its label or place ("a", "2"), "" where the gold is one part. `answer` is None where
    nothing is matched to it, `gold` is None for a part that was not asked for. `basis` names the
    tier that decided, such as `number`, or the reason: `missing`, `not asked for`.
    """

    part: str
    gold: str | None
    answer: str | None
    verdict: bool
    basis: str

    @property
    def reason(self) -> str:
        """Why it is right or wrong, in words: `equal as number`, `missing`."""
        if self.basis in _NOT_COMPARED:
            return self.basis
        return f"{'equal' if self.verdict else 'differs'} as {self.basis.removeprefix('same ')}"


class AnswerMatch(NamedTuple):
    """An answer against its gold: the tier that found it right (None: wrong), and its parts."""

    tier: str | None
    parts: tuple[PartResult, ...]

    @property
    def credit(self) -> float:
        """The share of parts that are right, 1 only for an answer that is right as a whole."""
        return 1.0 if self.tier else share_right(self.parts)


def share_right(parts: Sequence[PartResult]) -> float:
    """Right parts over the parts asked for, or over those given where these are more; below 1."""
    right = sum(part.verdict for part in parts)
    gold_count = sum(part.gold is not None for part in parts)
    answer_count = sum(part.answer is not None for part in parts)
    return right / max(gold_count, answer_count, right + 1)
