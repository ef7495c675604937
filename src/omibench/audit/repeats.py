"""One value that is printed differently in two places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from omibench.audit.findings import AGREES, Finding
from omibench.audit.printed import PrintedCell

_PLAIN = re.compile(r"[^a-z0-9+.,]")
_ENDING = re.compile(r"(?:instruct|preview|32k)$")


def check_repeats(cells: Sequence[PrintedCell]) -> Iterator[Finding]:
    """Check each value against the first place that prints it, in another table.

    Values that are rounded to other decimals agree where one may be rounded to the other. Names of
    models that differ in case, hyphens or an ending such as `-Instruct` are one, where a table has
    only one of them.
    """
    first: dict[tuple[str, ...], PrintedCell] = {}
    for cell in cells:
        key = (cell.dataset, cell.setting, normalise_name(cell.row), cell.part, cell.metric)
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
    return ", ".join(_ENDING.sub("", _PLAIN.sub("", part.lower())) for part in name.split(", "))
