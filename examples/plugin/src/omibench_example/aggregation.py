"""The rule of aggregation `longest`."""

from __future__ import annotations

from omibench.stages.aggregate.registry import Candidates, aggregation


@aggregation("longest")
def choose_longest(candidates: Candidates) -> int:
    """Choose the longest response; of equal ones the first."""
    lengths = [len(text) for text in candidates.texts]
    return lengths.index(max(lengths))
