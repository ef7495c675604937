"""Check of values that are printed in two places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from omibench.audit.findings import AGREES, Finding
from omibench.printed_tables.cells import PrintedCell
from omibench.printed_tables.layouts import AVERAGE

_PLAIN = re.compile(r"[^a-z0-9+.,]")
_ENDING = re.compile(r"(?:instruct|preview|32k)$")


def check_repeats(cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check each value against the first other table that prints it.

    Two values are the same if they agree in dataset, model, setting, part of the problems and
    metric, whatever their tables call them. Values with different numbers of decimals agree if
    one can be rounded to the other. Model names that differ in case, hyphens or an ending such
    as `-Instruct` are the same if a table has only one of them. Dataset statistics, which have
    no model, are not compared.
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
    """Normalise a model's name: no case, hyphens or optional endings."""
    return _ENDING.sub("", _PLAIN.sub("", name.lower()))
