"""One value that is printed differently in two places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from omibench.audit.findings import AGREES, Finding
from omibench.printed_tables.cells import PrintedCell
from omibench.printed_tables.layouts import AVERAGE

_PLAIN = re.compile(r"[^a-z0-9+.,]")
_ENDING = re.compile(r"(?:instruct|preview|32k)$")


def check_repeats(cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check each value against the first place that prints it, in another table.

    Two values are of the same when their dataset, model, setting, part of the problems and metric
    are, whatever their tables call them. Values that are rounded to other decimals agree where one
    may be rounded to the other. Names of models that differ in case, hyphens or an ending such as
    `-Instruct` are one, where a table has only one of them. Statistics of a dataset, which no model
    has, are not compared.
    """
    first: dict[tuple[str, ...], PrintedCell] = {}
    for cell in cells:
        if not cell.model or cell.part == AVERAGE:
            continue
        key = (
            cell.dataset, normalise_name(cell.model), cell.full_setting, cell.slice, cell.value,
            cell.metric_name,
        )  # fmt: skip
        before = first.setdefault(key, cell)
        if before.file == cell.file:
            continue
        slack = abs(before.number.half - cell.number.half)
        agrees = abs(before.number.value - cell.number.value) <= slack + 1e-9
        note = AGREES if agrees else f"{before.file} prints another value"
        yield Finding(
            cell.file, cell.row, cell.place, "repeat", cell.number.value, before.number.value,
            cell.n, note,
        )  # fmt: skip


def normalise_name(name: str) -> str:
    """A model's name without case, hyphens and what one table prints and another leaves out."""
    return _ENDING.sub("", _PLAIN.sub("", name.lower()))
