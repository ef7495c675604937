"""Printed statistics of datasets, and how each is measured from the items of a release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from omibench.errors import FileFormatError
from omibench.files.intake import read_csv
from omibench.files.shipped import find_local_or_shipped
from omibench.papers.catalogue import MeasureRule, PaperItem, read_catalogue


class PrintedStatistic(NamedTuple):
    """A printed number of a dataset."""

    name: str
    group: str
    """The value of the attribute `by` that its items have; empty for all items."""
    by: str
    """An attribute; empty for any."""
    text: str
    """The number as printed."""
    rule: MeasureRule


def list_described() -> dict[str, list[PaperItem]]:
    """Return the papers that print statistics of their dataset, each with these items."""
    papers = {
        name.replace("-", "_"): [i for i in paper.items.values() if i.measures is not None]
        for name, paper in read_catalogue().items()
    }
    return {name: items for name, items in papers.items() if items}


def read_statistics(name: str) -> list[PrintedStatistic]:
    """Read the printed statistics of a dataset, in the published order.

    Args:
        name: A paper of `list_described`, or a CSV file with the columns `statistic` and, for all
            items (`value`) or for the items with a value of any attribute, further columns.

    Raises:
        FileFormatError: A file lacks the column `statistic`.
        MissingInputError: A file does not exist.
    """
    items = list_described().get(name)
    if items is None:
        return list(_read_file(Path(name), PaperItem(title=name, printed=name)))
    return [
        statistic
        for item in items
        for statistic in _read_file(find_local_or_shipped(f"published/{item.printed}"), item)
    ]


def _read_file(path: Path, item: PaperItem) -> Iterator[PrintedStatistic]:
    rules = item.measures or {}
    for row in read_csv(path):
        if "subject" in row and "sources" in row:
            cells = {"value": row["sources"]}
            name = f"sources_{row['subject']}"
        elif "statistic" not in row:
            raise FileFormatError(f"{path}: lacks the column 'statistic'")
        else:
            cells = {c: text for c, text in row.items() if c not in ("statistic", "percent")}
            name = row["statistic"]
        rule = rules.get(name, MeasureRule(statistic=name))
        for column, text in cells.items():
            if text or "statistic" not in row:
                group = "" if column == "value" else column
                yield PrintedStatistic(name, group, item.by, text, rule)
