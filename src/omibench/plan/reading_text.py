"""Notes about the readers of pages and formulas whose requests no row of a plan counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from omibench.plan.rows import ReadingCounts

_MOST_NAMED: Final = 5


def list_reading_notes(counts: ReadingCounts) -> Iterator[str]:
    """Yield a line for each kind of request that is not counted in dollars.

    Args:
        counts: Counts of a plan.
    """
    if counts.unopened:
        yield f"Not counted: pages of {_name_papers(counts.unopened)}."
    if counts.scanned_pages:
        lines = (
            "unknown before `omibench ocr`"
            if counts.scanned_lines is None
            else f"at most {counts.scanned_lines:,} as last read"
        )
        yield (
            f"Not counted: doubtful lines of {_count(counts.scanned_pages, 'scanned page')}, which "
            f"a local engine reads before the formula reader: {lines}."
        )
    if counts.mathpix_pages or counts.mathpix_formulas:
        yield (
            f"Mathpix is sent {_count(counts.mathpix_pages, 'page')} and "
            f"{_count(counts.mathpix_formulas, 'formula')}, at the price of your account; they are "
            "not in the dollars."
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _name_papers(unopened: dict[str, str]) -> str:
    named = [f"{name} ({fault})" for name, fault in list(unopened.items())[:_MOST_NAMED]]
    more = len(unopened) - len(named)
    return ", ".join(named) + (f" and {more:,} more" if more else "")
