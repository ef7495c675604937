"""What a comparison found: each part of a gold, what stands for it in the answer, and why.

`credit` is the share of parts that are right, `how` names the tier that found the whole answer
right (strict). Both are kept: a study may report either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_NOT_COMPARED = ("missing", "not asked for", "another label")


class PartResult(NamedTuple):
    """One part of a gold beside what the answer has in its place.

    `part` is its label or place ("a", "2"), "" where the gold is one part. `found` is None where
    nothing stands for it, `gold` is None for a part that was not asked for. `why` names the tier
    that told, such as `number`, or the reason: `missing`, `not asked for`.
    """

    part: str
    gold: str | None
    found: str | None
    verdict: bool
    why: str

    @property
    def reason(self) -> str:
        """Why it is right or wrong, in words: `equal as number`, `missing`."""
        if self.why in _NOT_COMPARED:
            return self.why
        return f"{'equal' if self.verdict else 'differs'} as {self.why.removeprefix('same ')}"


class Match(NamedTuple):
    """An answer against its gold: the tier that found it right (None: wrong), and its parts."""

    how: str | None
    parts: tuple[PartResult, ...]

    @property
    def credit(self) -> float:
        """The share of parts that are right, 1 only for an answer that is right as a whole."""
        return 1.0 if self.how else share(self.parts)


def share(parts: Sequence[PartResult]) -> float:
    """Right parts over the parts asked for, or over those given where these are more; below 1."""
    right = sum(part.verdict for part in parts)
    asked = sum(part.gold is not None for part in parts)
    given = sum(part.found is not None for part in parts)
    return right / max(asked, given, right + 1)
