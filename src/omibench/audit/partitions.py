"""Check of values whose parts are in other tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.audit.findings import AGREES, Finding
from omibench.audit.repeats import normalise_name
from omibench.audit.totals import combine
from omibench.printed_tables.cells import PrintedCell
from omibench.printed_tables.layouts import AND

Owner = tuple[str, ...]
"""Dataset, model, setting and metric of a value."""
Places = dict[frozenset[tuple[str, str]], PrintedCell]
"""Attributes of a value as pairs of name and value -> the value."""


def check_partitions(cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check each value against the values that split its problems by one more attribute.

    MathReal prints a category in table 2 and the same category by type of question in tables 9
    to 11. If the parts cover as many problems as the whole, their mean, weighted by problems, is
    the value of the whole. `check_totals` covers totals within one table.

    Args:
        cells: Values of all tables.
    """
    owners: dict[Owner, Places] = {}
    for cell in cells:
        if cell.kind != "mean" and cell.n and cell.model:
            owners.setdefault(_get_owner(cell), {}).setdefault(_get_place(cell), cell)
    for places in owners.values():
        attributes = {attribute for place in places for attribute, _ in place}
        for place, whole in places.items():
            for attribute in sorted(attributes - {name for name, _ in place}):
                yield from _check_whole(whole, _list_parts(places, place, attribute))


def _check_whole(whole: PrintedCell, parts: Sequence[PrintedCell]) -> Iterator[Finding]:
    files = list(dict.fromkeys(part.file for part in parts))
    if len(parts) < 2 or whole.file in files or sum(part.n for part in parts) != whole.n:
        return
    value, agrees = combine([(part.n / whole.n, part.number) for part in parts], whole.number)
    note = AGREES if agrees else f"the parts in {', '.join(files)} give another value"
    yield Finding(
        whole.file, whole.row, whole.place, "total", whole.number.value, round(value, 4), whole.n,
        note,
    )  # fmt: skip


def _list_parts(
    places: Places, whole: frozenset[tuple[str, str]], attribute: str
) -> list[PrintedCell]:
    return [
        cell
        for place, cell in places.items()
        if whole < place and {name for name, _ in place - whole} == {attribute}
    ]


def _get_owner(cell: PrintedCell) -> Owner:
    return cell.dataset, normalise_name(cell.model), cell.full_setting, cell.metric_name


def _get_place(cell: PrintedCell) -> frozenset[tuple[str, str]]:
    pairs = zip(cell.slice.split(AND), cell.value.split(AND), strict=True)
    return frozenset(pair for pair in pairs if pair[0])
