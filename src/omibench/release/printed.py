"""Published statistics of datasets, each next to that of a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from omibench.papers.catalogue import MeasureRule
from omibench.papers.statistics import read_statistics
from omibench.release.rows import ReleaseItem
from omibench.release.statistics import ITEMS, Statistic, ValueCount
from omibench.schemas.attributes import list_labels

Compute = Callable[[Sequence[ReleaseItem]], tuple[Mapping[str, Statistic], Sequence[ValueCount]]]


class PrintedValue(NamedTuple):
    """A published number, and the measured one."""

    statistic: str
    group: str
    """The attribute value of the column; empty for all items."""
    printed: str
    measured: Statistic | None
    note: str


def compare_with_print(
    name: str, items: Sequence[ReleaseItem], compute: Compute
) -> list[PrintedValue]:
    """Return the published numbers with the measured ones.

    Args:
        name: A paper or a CSV file, as for `read_statistics`.
        items: The items of the release.
        compute: Function that returns statistics and counts of items.

    Returns:
        The numbers in the published order; `measured` is None if the items lack the information,
        and `note` gives the reason.

    Raises:
        FileFormatError: A file lacks the column `statistic`.
        MissingInputError: A file does not exist.
    """
    printed = read_statistics(name)
    groups = dict.fromkeys((number.by, number.group) for number in printed)
    facts = {group: compute(_list_members(items, *group)) for group in groups}
    return [
        PrintedValue(
            number.name,
            number.group,
            number.text,
            *_measure(number.rule, *facts[number.by, number.group]),
        )
        for number in printed
    ]


def _list_members(
    items: Sequence[ReleaseItem], attribute: str, group: str
) -> Sequence[ReleaseItem]:
    if not group:
        return items
    return [
        release_item
        for release_item in items
        for values in [release_item.item.answer.attributes]
        if any(
            group in list_labels(value)
            for name, value in values.items()
            if name == attribute or not attribute
        )
    ]


def _measure(
    rule: MeasureRule, statistics: Mapping[str, Statistic], counts: Sequence[ValueCount]
) -> tuple[Statistic | None, str]:
    if rule.reason:
        return None, f"not measured: {rule.reason}"
    if not rule.attribute:
        value = statistics.get(rule.statistic)
        return value, rule.note if value else "not measured: not available in any item"
    items = {count.value: count.items for count in counts if count.attribute == rule.attribute}
    if not items:
        return None, f"not measured: no item has `{rule.attribute}`"
    total = int(statistics["problems"].value)
    count = {"*": sum(items.values()), "": total - sum(items.values())}.get(
        rule.value, items.get(rule.value, 0)
    )
    return Statistic(count, ITEMS), rule.note
