"""Verdicts that say nothing about the answer: responses without one, and unjudged ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from omibench.schemas.verdict import NOT_JUDGED

if TYPE_CHECKING:
    import polars as pl


class Unanswered(NamedTuple):
    """The number of `responses` of one scorer without an answer or without a judgement.

    Attributes:
        responses: Number of all verdicts.
        empty: Number of responses without an answer: refused, cut off, unparsed, never sent, ...
        unjudged: Number of responses that may have an answer, but whose judge failed or was not
            run. ACC counts both as wrong.
    """

    responses: int
    empty: int
    unjudged: int


def count_unanswered(verdicts: pl.DataFrame) -> Unanswered:
    """Count verdicts without an answer or a judgement.

    Args:
        verdicts: Verdicts of one scorer, with the columns `failed` and `outcome`.
    """
    import polars as pl

    unjudged = pl.col("failed") & pl.col("outcome").is_in(NOT_JUDGED)
    counts = verdicts.select(failed=pl.col("failed").sum(), unjudged=unjudged.sum()).row(0)
    failed, not_judged = (int(count or 0) for count in counts)
    return Unanswered(verdicts.height, failed - not_judged, not_judged)
