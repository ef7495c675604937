"""The row of guessing in the main table, and the accuracies at chance level."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from omibench.stages.analyze.results.chance import AT_CHANCE, BELOW_CHANCE, guess_chance
from omibench.stages.analyze.sections.main_rows import Bar
from omibench.stages.analyze.tables.accuracy import subjects
from omibench.stages.analyze.words import format_level, format_share
from omibench.statistics.people import GuessedAccuracy, guess_accuracy

if TYPE_CHECKING:
    from omibench.results.load import Results
    from omibench.stages.analyze.analysis import Analysis


class ChanceRow(NamedTuple):
    """The formatted accuracy of guessing among the choices (EMMA, table 2, "Random choice")."""

    bar: Bar
    total: str
    interval: str
    upper: str
    subjects: list[str]
    note: str
    """A sentence on the number of accuracies not distinguishable from guessing."""


def describe_chance(analysis: Analysis, digits: int) -> ChanceRow | None:
    """Format the row of guessing.

    Args:
        analysis: The study's results.
        digits: Number of decimals in the table.

    Returns:
        The row; None if no problem has choices.
    """
    results = analysis.results
    parts = [_guess_part(results, name, analysis.confidence) for name in [None, *subjects(results)]]
    total, *by_subject = parts
    if not total.mean:
        return None
    return ChanceRow(
        Bar(round(100 * total.mean, 2), round(100 * total.lo, 2), round(100 * total.hi, 2)),
        format_share(total.mean, digits),
        f"[{format_share(total.lo)}, {format_share(total.hi)}]",
        f"{format_level(analysis.confidence)} of guesses up to {format_share(total.upper)}",
        [format_share(part.mean, digits) for part in by_subject],
        _describe_cells(analysis),
    )


def _guess_part(results: Results, subject: str | None, confidence: float) -> GuessedAccuracy:
    answers = [a for a in results.answers.values() if subject in (None, a.subject)]
    return guess_accuracy([guess_chance(answer) for answer in answers], confidence)


def _describe_cells(analysis: Analysis) -> str:
    """Describe the accuracies at chance level under the main scorer, overall and by slice."""
    table = analysis.table("chance")
    if table is None:
        return ""
    rows = table.filter(rules=analysis.results.main_rules, setting="")
    counts = {
        metric: round(float((part["estimate"] * part["n"]).sum()))
        for metric in (AT_CHANCE, BELOW_CHANCE)
        if (part := rows.filter(metric=metric)).height
    }
    if not counts:
        return ""
    cells = int(rows.filter(metric=AT_CHANCE)["n"].sum())
    below = f", and {counts[BELOW_CHANCE]:,} lie below it" if counts[BELOW_CHANCE] else ""
    return (
        f"Accuracies on problems with choices, overall and by slice: the intervals of "
        f"{counts[AT_CHANCE]:,} of {cells:,} contain the accuracy of guessing{below}."
    )
