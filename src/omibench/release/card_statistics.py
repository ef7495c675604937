"""Statistics of a dataset card: numbers, labels, and published numbers for comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from omibench.release.printed import PrintedValue
from omibench.release.statistics import Statistic, ValueCount
from omibench.stages.freeze.card import escape_cell


class CardStatistics(NamedTuple):
    """The statistics of a release."""

    statistics: Mapping[str, Statistic]
    labels: Sequence[ValueCount]
    labels_by_split: Mapping[str, Sequence[ValueCount]]
    """The statistics of each split."""
    printed: Sequence[PrintedValue]
    """Published numbers; empty if no paper is given."""
    tokenizer: str
    """The tokenizer."""


def write_statistics(numbers: CardStatistics) -> list[str]:
    """Return the statistics as lines of Markdown.

    Args:
        numbers: The statistics of a release.
    """
    rows = [
        [name.replace("_", " "), _format_number(statistic), statistic.unit]
        for name, statistic in numbers.statistics.items()
    ]
    lines = [
        "## Statistics",
        "",
        *write_table(["Statistic", "Value", "Unit"], rows),
        "",
        "Texts are measured as Markdown with LaTeX, without marks of pictures; the choices of an "
        f"item are one text. Tokens are counted by {numbers.tokenizer}. A picture counts once "
        "under pictures, and once per use under images.",
    ]
    return lines + _write_labels(numbers) + _write_printed(numbers.printed)


def write_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table with escaped cells."""
    lines = ["| " + " | ".join(map(escape_cell, row)) + " |" for row in rows]
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *lines]


def _write_labels(numbers: CardStatistics) -> list[str]:
    """Return one row per value; with several splits, one column for each."""
    total = numbers.statistics["problems"].value
    splits = numbers.labels_by_split if len(numbers.labels_by_split) > 1 else {}
    by_split = [{row[:2]: row.items for row in rows} for rows in splits.values()]
    rows = [
        [
            count.attribute,
            count.value,
            f"{count.items:,}",
            f"{100 * count.items / total:.1f} %",
            *(f"{items.get(count[:2], 0):,}" for items in by_split),
        ]
        for count in numbers.labels
    ]
    head = ["Attribute", "Value", "Items", "Share", *splits]
    note = "An item with several labels of an attribute counts for each."
    return ["", "### Labels", "", *write_table(head, rows), "", note]


def _write_printed(printed: Sequence[PrintedValue]) -> list[str]:
    rows = [
        [
            value.statistic.replace("_", " "),
            value.group or "all",
            value.printed,
            _format_number(value.measured) if value.measured else "-",
            value.measured.unit if value.measured else "-",
            value.note,
        ]
        for value in printed
    ]
    if not rows:
        return []
    head = ["Statistic", "Items", "Printed", "This release", "Unit", "Note"]
    return ["", "### Beside print", "", *write_table(head, rows)]


def _format_number(statistic: Statistic) -> str:
    value = statistic.value
    if statistic.unit == "year":
        return f"{value:.0f}"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
