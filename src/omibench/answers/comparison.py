"""Results of a comparison: each part of a gold answer, its match in the answer, and the reason.

`credit` is the share of correct parts. `tier` is the tier that accepted the whole answer
(strict). Both are stored, so a study can report either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_NOT_COMPARED = ("missing", "not asked for", "another label")


class PartResult(NamedTuple):
    """One part of a gold answer with its match in the answer.

    `part` is its label or position ("a", "2"), or "" if the gold answer has one part. `answer`
    is None if nothing matches it, `gold` is None for an extra part. `basis` is the tier that
    decided, such as `number`, or the reason: `missing`, `not asked for`.
    """

    part: str
    gold: str | None
    answer: str | None
    verdict: bool
    basis: str

    @property
    def reason(self) -> str:
        """Reason for the verdict as text: `equal as number`, `missing`."""
        if self.basis in _NOT_COMPARED:
            return self.basis
        return f"{'equal' if self.verdict else 'differs'} as {self.basis.removeprefix('same ')}"


class AnswerMatch(NamedTuple):
    """An answer compared with its gold: the tier that accepted it (None if wrong) and its parts."""

    tier: str | None
    parts: tuple[PartResult, ...]

    @property
    def credit(self) -> float:
        """Share of correct parts; 1 only if the answer is correct as a whole."""
        return 1.0 if self.tier else share_right(self.parts)


def share_right(parts: Sequence[PartResult]) -> float:
    """Return correct parts over the larger of gold and given parts; below 1."""
    right = sum(part.verdict for part in parts)
    gold_count = sum(part.gold is not None for part in parts)
    answer_count = sum(part.answer is not None for part in parts)
    return right / max(gold_count, answer_count, right + 1)
