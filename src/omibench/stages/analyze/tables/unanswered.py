"""Verdicts that say nothing of the answer: responses without one, and those that nobody judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from omibench.schemas.verdict import NOT_JUDGED

if TYPE_CHECKING:
    import polars as pl


class Unanswered(NamedTuple):
    """Of `responses` verdicts of one rule book, how many have no answer or no judgement.

    Attributes:
        responses: All verdicts.
        empty: Those of responses without an answer: refused, cut off, unparsed, never sent, ...
        unjudged: Those of responses that may hold an answer, on which a judge failed or none was
            asked. ACC counts both as wrong.
    """

    responses: int
    empty: int
    unjudged: int


def count_unanswered(verdicts: pl.DataFrame) -> Unanswered:
    """Count what says nothing of the answer.

    Args:
        verdicts: Those of one rule book, with the columns `failed` and `outcome`.
    """
    import polars as pl

    unjudged = pl.col("failed") & pl.col("outcome").is_in(NOT_JUDGED)
    counts = verdicts.select(failed=pl.col("failed").sum(), unjudged=unjudged.sum()).row(0)
    failed, not_judged = (int(count or 0) for count in counts)
    return Unanswered(verdicts.height, failed - not_judged, not_judged)
